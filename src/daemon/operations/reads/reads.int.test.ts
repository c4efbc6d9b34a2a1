import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { InputOf, ResultOf } from '../../../api/operations/registry.ts';
import { createClient } from '../../../api/client/connect.ts';
import { writeProjectPath } from '../../../api/project-list.ts';
import { webVerifier } from '../../../ledger/format/crypto.ts';
import { exportLedger } from '../../../ledger/verify/export.ts';
import { ResumableVerification } from '../../../ledger/verify/resumable.ts';
import { renderTaskProof, type TaskProof } from '../../../ledger/verify/proof-text.ts';
import { verifyTaskProof } from '../../../ledger/verify/task-proof.ts';
import { nodeVerifier } from '../../../ledger/writer/keys.ts';
import { ledgerPlace } from '../../../ledger/writer/ledger-files.ts';
import { openStoreAt } from '../../../ledger/writer/open.ts';
import { restoreState } from '../../../state/json-form.ts';
import { RunScene } from '../../runs.cases.ts';

/** Without a sandbox the log is the same on every machine: it has no notes about missing parts of the sandbox. */
const runbookOf = (run: string): string => `[agents.a]\nsandbox = "none"\nrun = "${run}"\n`;

/** One daemon for all tests, because these operations change nothing. */
let world: RunScene;
let agentId: string;
beforeAll(async () => {
  world = new RunScene();
  world.write(runbookOf('echo hello'));
  await world.start();
  for (const task_id of ['A', 'B']) await world.ask('task_create', { task_id, title: `do ${task_id}` });
  // The agent prints a line and ends without a signal, so a person is asked.
  agentId = await world.run('a');
  await world.ask('agent_show', { id: agentId, wait_ms: 30_000 });
});
afterAll(async () => world.end());

describe('projects_list', () => {
  it('lists every project without opening one, and no project that is not open looks calm', async () => {
    const gone = join(world.stateDir, 'gone');
    writeProjectPath(world.stateDir, 'other', gone);
    await world.restart();
    await world.ask('task_list');
    const { projects } = await world.ask<ResultOf<'projects_list'>>('projects_list');
    expect(projects).toMatchObject([
      {
        id: world.project,
        path: world.repository,
        is_open: true,
        all_clear: false,
        needs: 1,
      },
      { id: 'other', name: 'gone', path: gone, is_open: false, seq: null, needs: 1, all_clear: false },
    ]);
    expect(projects[1]?.summary).toBe(`Unknown: its folder is missing: ${gone}`);
    expect(projects[0]?.seq).toBe((await world.ask<ResultOf<'ledger_head'>>('ledger_head')).size);
  });

  it('needs no project in the request, and is for operators', async () => {
    const client = createClient({ stateDir: world.stateDir, env: world.scene.env, projectPath: '/', autostart: false });
    expect(await client.call('projects_list', {})).toMatchObject({ ok: true });
    client.close();
    const { token } = await world.ask<ResultOf<'task_claim'>>('task_claim', { task_id: 'A', as: 'ada' });
    expect(await world.call('projects_list', {}, token)).toMatchObject({ ok: false, error: { code: 'forbidden' } });
  });
});

describe('state_snapshot', () => {
  it('returns the state of the newest entry, with its hash', async () => {
    const { seq, hash, state } = await world.ask<ResultOf<'state_snapshot'>>('state_snapshot');
    expect({ size: seq, hash }).toEqual(await world.ask('ledger_head'));
    expect([...restoreState(state).tasks.keys()]).toEqual(['A', 'B']);
  });
});

describe('ledger_export', () => {
  const read = async (input: InputOf<'ledger_export'> = {}) =>
    world.ask<ResultOf<'ledger_export'>>('ledger_export', input);

  it('returns the lines of an export in parts, each with the signed checkpoint of its end', async () => {
    const verification = new ResumableVerification(webVerifier);
    const lines: string[] = [];
    for (let from: number | null = 1; from !== null;) {
      const part: ResultOf<'ledger_export'> = await read({ from, limit: 2 });
      lines.push(...part.lines);
      await verification.add(part.lines);
      await verification.addCheckpoint(part.checkpoint ?? '');
      expect(verification).toMatchObject({ fault: undefined, signedSize: lines.length });
      from = part.next;
    }
    const { size } = await world.ask<ResultOf<'ledger_head'>>('ledger_head');
    expect(lines).toHaveLength(size);
    const { lines: all, checkpoint } = await read();
    expect(all).toEqual(lines);
    expect(await exported()).toBe([...lines, JSON.stringify({ checkpoint }), ''].join('\n'));
    expect(await read({ from: size + 1 })).toEqual({ lines: [], next: null, checkpoint });
  });

  async function exported(): Promise<string> {
    const opened = await openStoreAt(ledgerPlace(world.stateDir, world.project));
    if (!opened.ok) throw new Error(opened.problem.message);
    let text = '';
    for await (const lines of exportLedger(opened.store, nodeVerifier, world.project)) text += lines;
    await opened.store.close();
    return text;
  }
});

describe('task_proof', () => {
  it('returns a proof that can be checked elsewhere', async () => {
    const proof = await world.ask<TaskProof>('task_proof', { task_id: 'A' });
    const verified = await verifyTaskProof(webVerifier, renderTaskProof(proof));
    expect(verified).toMatchObject({ ok: true, value: { taskId: 'A', complete: { from: 1 } } });
    // Without a new entry about the task the same count ends the next proof.
    const again = await world.ask<TaskProof>('task_proof', { task_id: 'A' });
    expect(again.entries.length).toBe(proof.entries.length);
  });

  it('refuses a task that the ledger does not have', async () => {
    expect(await world.call('task_proof', { task_id: 'Z9' })).toMatchObject({
      ok: false,
      error: { code: 'no-such-task' },
    });
  });
});

describe('entries_read', () => {
  const read = async (input: InputOf<'entries_read'> = {}) =>
    world.ask<ResultOf<'entries_read'>>('entries_read', input);

  it('returns ranges in both directions, and where the next call continues', async () => {
    const { entries, next, head } = await read();
    expect(next).toBeNull();
    expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: head }, (_, i) => i + 1));
    const upward = await read({ from: 2, to: 5, limit: 3 });
    expect([upward.entries.map(({ seq }) => seq), upward.next]).toEqual([[2, 3, 4], 5]);
    expect(await read({ from: 5, to: 5, limit: 3 })).toMatchObject({ entries: [{ seq: 5 }], next: null });
    const downward = await read({ newest_first: true, limit: 2 });
    expect([downward.entries.map(({ seq }) => seq), downward.next]).toEqual([[head, head - 1], head - 2]);
    expect(await read({ newest_first: true, to: 1 })).toMatchObject({ entries: [{ seq: 1 }], next: null });
    expect(await read({ from: head + 1 })).toEqual({ entries: [], next: null, head });
  });

  it('returns each entry as it is recorded, with its hash', async () => {
    const { head } = await read();
    const [newest] = (await read({ from: head })).entries;
    expect(newest).toEqual({
      ...(await world.ask<object>('entry_get', { seq: head })),
      hash: (await world.ask<ResultOf<'ledger_head'>>('ledger_head')).hash,
    });
  });

  it('selects by task, type and actor', async () => {
    const { entries } = await read({ task_id: 'B', types: ['TaskCreated'], actor: 'operator' });
    expect(entries).toMatchObject([{ type: 'TaskCreated', data: { task_id: 'B' } }]);
  });

  it('reads a bounded part of a long ledger per call', async () => {
    const tasks = Array.from({ length: 12_000 }, (_, i) => ({ task_id: `N${i}`, title: 'n' }));
    const before = (await read()).head;
    for (let at = 0; at < tasks.length; at += 4000)
      await world.ask('task_import', { source: 'test', tasks: tasks.slice(at, at + 4000) });
    const first = await read({ from: before + 1, text: 'N11999', limit: 1 });
    expect(first.entries).toEqual([]);
    expect(first.next).toBeGreaterThan(before + 9000);
    expect(await read({ from: first.next ?? 0, text: 'n11999', limit: 1 })).toMatchObject({
      entries: [{ data: { task_id: 'N11999' } }],
    });
  });

  it('hides questions to people from workers', async () => {
    const input = { types: ['DecisionOpened', 'TaskCreated'], limit: 3 };
    expect(JSON.stringify(await read(input))).toContain('DecisionOpened');
    const worker = await world.call('entries_read', input, world.scene.token('worker'));
    expect(JSON.stringify(worker)).not.toContain('DecisionOpened');
    expect(JSON.stringify(worker)).toContain('"task_id":"B"');
  });
});

describe('agent_log', () => {
  const read = async (input: InputOf<'agent_log'>) => world.ask<ResultOf<'agent_log'>>('agent_log', input);

  it('returns what an agent printed', async () => {
    const part = await read({ id: agentId.slice(0, 8) });
    expect(part).toMatchObject({ agent_id: agentId, format: 'text', text: 'hello\n', from: 0, to: 6, ended: false });
    expect(await read({ id: agentId, from: part.to, file: part.file })).toMatchObject({ text: '', to: 6 });
  });

  it('waits until there is more, and until the end', async () => {
    const waitFor = (file: string): string => `until test -e ${file}; do sleep 0.02; done`;
    world.write(`${runbookOf(`echo one; ${waitFor('go')}; echo two; ${waitFor('end')}`)}on_dead = "done"`);
    const id = await world.run('a');
    const first = await read({ id, from: 0, wait_ms: 20_000 });
    expect(first).toMatchObject({ text: 'one\n', ended: false });
    const second = read({ id, from: first.to, file: first.file, wait_ms: 20_000 });
    writeFileSync(join(world.repository, 'go'), '');
    expect(await second).toMatchObject({ text: 'two\n', from: first.to, ended: false });
    const last = read({ id, from: (await second).to, file: first.file, wait_ms: 20_000 });
    writeFileSync(join(world.repository, 'end'), '');
    expect(await last).toMatchObject({ text: '', ended: true });
  });

  it('waits no longer than its limit', async () => {
    expect(await read({ id: agentId, from: 6, wait_ms: 10 })).toMatchObject({ text: '', ended: false });
  });

  it('needs an agent or a command', async () => {
    expect(await world.call('agent_log', {})).toMatchObject({ ok: false, error: { code: 'bad-request' } });
    expect(await world.call('agent_log', { id: 'nobody' })).toMatchObject({ error: { code: 'no-such-agent' } });
    expect(await world.call('agent_log', { command_id: '../agents' })).toMatchObject({
      error: { code: 'bad-request' },
    });
    expect(await read({ command_id: 'unknown.0' })).toMatchObject({ text: '', size: 0, ended: true });
  });
});

describe('decision_evidence', () => {
  it('is the evidence of decision_show, and names who waits', async () => {
    const { decisions } = await world.ask<ResultOf<'decision_list'>>('decision_list', { all: true });
    const { id = '' } = decisions.find(({ agent_id }) => agent_id === agentId) ?? {};
    const evidence = await world.ask<ResultOf<'decision_evidence'>>('decision_evidence', { id: id.slice(0, 8) });
    expect(evidence).toEqual({ id, ...(await world.ask<ResultOf<'decision_show'>>('decision_show', { id })).evidence });
    expect(evidence).toMatchObject({
      mission: null,
      budget: null,
      checks: [],
      claims: [],
      output: 'hello',
      waiting: [{ kind: 'agent', id: agentId, name: 'a' }],
    });
  });
});

describe('session_view', () => {
  it('has the claim of a person, which is not measured', async () => {
    await world.ask('task_create', { task_id: 'C', title: 'c' });
    const { token, epoch } = await world.ask<ResultOf<'task_claim'>>('task_claim', { task_id: 'C', as: 'ada' });
    await world.call('task_update', { task_id: 'C', status: 'in_progress', progress: 40, notes: 'Half of it.' }, token);
    expect(await world.ask('session_view', { task_id: 'C', epoch })).toMatchObject({
      holder: 'ada',
      agent_ids: [],
      how: null,
      asked: { mission: null, prompt: null },
      said: [{ what: 'progress', text: 'progress: 40\nnotes: Half of it.' }],
      measured: null,
      claims: [],
    });
  });
});
