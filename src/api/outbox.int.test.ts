import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { isPostgres } from '../../test/stores/chosen.ts';
import { Scene, until } from '../daemon/running.cases.ts';
import { connect, createClient, type ConnectOptions } from './client/connect.ts';
import { keepCall, listKept, OUTBOX_LIMITS, readKept } from './outbox.ts';

let scene: Scene;
let repository: string;
let outbox: string;

beforeEach(() => {
  scene = new Scene();
  repository = scene.makeRepository();
  outbox = join(scene.stateDir, 'outbox');
});
afterEach(async () => scene.end());

describe('the outbox', () => {
  it('keeps calls while no daemon can be started, and the next daemon delivers them once and in order', async () => {
    const { child } = await scene.spawnDaemon();
    expect(await client().call('task_create', { task_id: 'first', title: 'x' })).toMatchObject({ ok: true });
    child.kill('SIGKILL');
    const broken = client({ autostart: true, env: { ...scene.env, BATON_TICK_MS: 'often' } });
    for (const [id, after] of [
      ['A', 'first'],
      ['B', 'A'],
      ['C', 'B'],
    ] as const) {
      const answer = await broken.call('task_create', { task_id: id, title: 'x', after: [after] }, { key: id });
      expect(answer).toMatchObject({ ok: false, error: { code: 'kept' } });
      expect(answer).toMatchObject({ error: { message: expect.stringContaining('kept and will be delivered') } });
    }
    expect(await broken.call('task_list', {})).toMatchObject({ error: { code: 'daemon-away' } });
    expect(await broken.call('task_claim', { as: 'ada' })).toMatchObject({ error: { code: 'daemon-away' } });
    // Without a handoff, the call only requests the form. If it were kept, the agent would believe that it sent a
    // handoff.
    expect(await broken.call('handoff_send', {})).toMatchObject({ error: { code: 'daemon-away' } });
    expect(listKept(outbox)).toHaveLength(3);
    for (const name of listKept(outbox)) expect(statSync(join(outbox, name)).mode & 0o777).toBe(0o600);
    await scene.spawnDaemon();
    expect(listKept(outbox)).toEqual([]);
    expect(await ids()).toEqual(['first', 'A', 'B', 'C']);
    const again = await client().call('task_create', { task_id: 'C', title: 'x', after: ['B'] }, { key: 'C' });
    expect(again).toMatchObject({ ok: true, result: { n: 4 } });
  });

  it('delivers a call once if a killed daemon had received it', async () => {
    const { child, exited } = await scene.spawnDaemon();
    const call = { task_id: 'A', title: 'x' };
    expect(await client().call('task_create', call, { key: 'k' })).toMatchObject({ ok: true });
    child.kill('SIGKILL');
    await exited;
    // From the client's view, the answer was lost.
    expect(await client().call('task_create', call, { key: 'k' })).toMatchObject({ error: { code: 'kept' } });
    await scene.spawnDaemon();
    expect(listKept(outbox)).toEqual([]);
    expect(readdirSync(outbox)).toEqual([]);
    expect(await scene.entries()).toHaveLength(3);
  });

  it('is delivered by a running daemon before the calls of the next client', async () => {
    await scene.spawnDaemon();
    keep('task_create', { task_id: 'A', title: 'x' });
    const next = await connect({ env: scene.env, projectPath: repository });
    expect(await next.call('task_create', { task_id: 'B', title: 'x', after: ['A'] })).toMatchObject({ ok: true });
    expect(await ids()).toEqual(['A', 'B']);
    next.close();
  });

  it('is delivered by a daemon that started while a client gave up, without another client', async () => {
    await scene.spawnDaemon();
    keep('task_create', { task_id: 'A', title: 'x' });
    await until(() => listKept(outbox).length === 0, 'the daemon has seen it');
    expect(await ids()).toEqual(['A']);
  });

  it('reports a call without room in the outbox as not kept', async () => {
    mkdirSync(outbox, { recursive: true, mode: 0o700 });
    const { child, exited } = await scene.spawnDaemon();
    const caller = client({ reachMs: 100 });
    child.kill('SIGKILL');
    await exited;
    for (let i = 1; i <= OUTBOX_LIMITS.calls; i++)
      writeFileSync(join(outbox, `${String(i).padStart(12, '0')}.json`), '{}');
    expect(await caller.call('task_create', { task_id: 'A', title: 'x' })).toEqual({
      ok: false,
      error: {
        code: 'daemon-away',
        message:
          'no daemon answers for this state folder, and task_create was not kept: the outbox is full (1000 calls)',
        hint: 'Run: baton up. Then send it again.',
      },
    });
    const large = { task_id: 'A', title: 'x'.repeat(OUTBOX_LIMITS.callBytes) };
    expect(await caller.call('task_create', large)).toMatchObject({
      error: { message: expect.stringContaining('task_create was not kept: it is larger than 2097152 bytes') },
    });
  });

  it('sets aside corrupt and refused calls without their tokens, and continues', async () => {
    mkdirSync(outbox, { recursive: true, mode: 0o700 });
    await scene.spawnDaemon();
    writeFileSync(join(outbox, '000000000001.json'), '{"v":1,');
    writeFileSync(join(outbox, '000000000002.json'), JSON.stringify({ v: 2 }));
    writeFileSync(join(outbox, '000000000003.json'), 'x'.repeat(OUTBOX_LIMITS.callBytes + 1));
    keep('task_cancel', { task_id: 'nobody', reason: 'x' });
    keep('task_create', { task_id: 'A', title: 'x' }, 'o.forged');
    keep('task_create', { task_id: 'B', title: 'x' });
    await connect({ env: scene.env });
    expect(await ids()).toEqual(['B']);
    expect(listKept(outbox)).toEqual([]);
    expect(readdirSync(join(outbox, 'corrupt'))).toHaveLength(3);
    const refused = readdirSync(join(outbox, 'refused')).map((name) =>
      readFileSync(join(outbox, 'refused', name), 'utf8'),
    );
    expect(refused.map((text) => /"code":"([\w-]+)"/.exec(text)?.[1] ?? '').toSorted()).toEqual([
      'bad-token',
      'no-such-task',
    ]);
    for (const text of refused) expect(text).not.toContain('"token"');
  });

  it('has a limit, and reports it', () => {
    const call = { v: 1, operation: 'x', input: '{}', key: 'k', token: 't', projectPath: null, keptAt: '' } as const;
    expect(keepCall(outbox, { ...call, input: 'x'.repeat(OUTBOX_LIMITS.callBytes) })).toBe(false);
    expect(keepCall(outbox, call)).toBe(true);
    expect(readKept(outbox, listKept(outbox)[0] ?? '')).toEqual(call);
    for (let i = 2; i <= OUTBOX_LIMITS.calls; i++) {
      writeFileSync(join(outbox, `${String(i).padStart(12, '0')}.json`), '{}');
    }
    expect(keepCall(outbox, call)).toBe(false);
    expect(keepCall(join(repository, '.git', 'HEAD', 'outbox'), call)).toBe(false);
  });

  it.skipIf(isPostgres)('keeps a record that the store refuses, and delivers it when the store is back', async () => {
    const { child } = await scene.spawnDaemon();
    await client().call('task_create', { task_id: 'A', title: 'x' });
    const claimed = await client().call('task_claim', { task_id: 'A', as: 'ada' });
    const { token = '' } = (claimed.ok ? claimed.result : {}) as { token?: string };
    const session = client({ token });
    const commit = execFileSync('git', ['-C', repository, 'rev-parse', 'HEAD']).toString().trim();
    const record = {
      task_id: 'A',
      branch: 'main',
      commit_sha: commit,
      tests_run: ['npm test'],
      summary: 'It works now. It did not before. Nothing else was touched.',
      blockers: [],
      files_changed: [],
      related_thought_records: [],
    };
    // Limits the size of new files: a kept call fits, but a page of SQLite does not, so SQLite reports a full disk.
    const limit = (bytes: string): void => void execFileSync('prlimit', [`--pid=${child.pid}`, `--fsize=${bytes}:`]);
    limit('3000');
    expect(await session.call('thought_record', record)).toMatchObject({
      ok: false,
      error: {
        message: 'Writeback failed: unable to insert thought_record. Retry with fresh DB connection or escalate.',
        hint: expect.stringContaining('will be delivered once'),
      },
    });
    expect(listKept(outbox)).toHaveLength(1);
    expect(await session.call('task_get', { task_id: 'A' })).toMatchObject({
      result: { status: 'in_progress', latest_record: null },
    });
    limit('unlimited');
    await until(() => listKept(outbox).length === 0, 'the store is back, and the record delivered');
    expect(await session.call('task_get', { task_id: 'A' })).toMatchObject({
      result: { latest_record: { summary: record.summary } },
    });
  });
});

function client(options: ConnectOptions = {}) {
  return createClient({ env: scene.env, projectPath: repository, autostart: false, reachMs: 5000, ...options });
}

function keep(operation: string, input: unknown, token = scene.token()): void {
  const call = { operation, input: JSON.stringify(input), key: `${Math.random()}`, token, projectPath: repository };
  expect(keepCall(outbox, { v: 1, ...call, keptAt: new Date().toISOString() })).toBe(true);
}

async function ids(): Promise<string[]> {
  const listed = await client().call('task_list', {});
  const { tasks = [] } = (listed.ok ? listed.result : {}) as { tasks?: { id: string }[] };
  return tasks.map(({ id }) => id);
}

it('distinguishes a file that cannot be read yet from one without a call', () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-outbox-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  keepCall(folder, { v: 1, operation: 'o', input: '{}', key: 'k', token: 't', projectPath: null, keptAt: 'now' });
  const program = `
    import { openSync } from 'node:fs';
    import { findKept, openKept } from ${JSON.stringify(join(import.meta.dirname, 'outbox.ts'))};
    const [folder] = process.argv.slice(1);
    const all = () => [findKept(folder)?.length ?? 'unknown', openKept(folder, '000000000001.json').kind];
    const before = all();
    try { for (;;) openSync('/dev/null'); } catch {}
    console.log(JSON.stringify([before, all()]));`;
  const shell = 'ulimit -n 64; exec "$0" --input-type=module --eval "$1" "$2"';
  const ran = spawnSync('sh', ['-c', shell, process.execPath, program, folder], { encoding: 'utf8' });
  expect(JSON.parse(ran.stdout)).toEqual([
    [1, 'call'],
    ['unknown', 'unreadable'],
  ]);
});
