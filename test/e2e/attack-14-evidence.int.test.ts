import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { refusalOf, resultOf, tokenOf } from '../processes/answers.ts';
import { findLedgerFault, readLedger } from '../processes/ledger.ts';
import { exitSignal } from '../processes/messages.ts';
import { World } from '../processes/world.ts';

/** Attack 14: a session with a claim by hand shows the evidence of another task, or of another commit, as its own. */
let world: World;
beforeAll(async () => {
  world = await World.open({ AGENT_EXIT_PROTOCOL_ENABLED: 'true' });
});
afterAll(async () => world[Symbol.asyncDispose]());

it("refuses another task's evidence under a hand claim, and accepts the task's own", async () => {
  for (const task_id of ['MINE', 'OTHER', 'T001']) await world.order('task_create', { task_id, title: task_id });
  const client = world.client(tokenOf(await world.order('task_claim', { task_id: 'MINE', as: 'ann' })));
  const old = world.git(world.repository, 'rev-parse', 'HEAD');
  const head = world.commit(world.repository, { 'a.txt': 'a' }, 'work');
  const bundle = (task: string, sha: string): string =>
    `task_id: ${task}\nphase: IMPLEMENTATION\nhead_sha: ${sha}\ncommands: []\nfiles: []\nnext_step: review it\n`;
  const send = async (task: string, sha: string) => {
    world.write(world.repository, { 'evidence.yaml': bundle(task, sha) });
    return client.forward(
      'exit_signal',
      exitSignal('IMPLEMENTATION', 'completed', { evidence_bundle_ref: 'evidence.yaml' }),
    );
  };
  expect(refusalOf(await send('OTHER', head))).toBe(
    'invalid-evidence: invalid evidence bundle: it is about OTHER, not MINE',
  );
  // MINE is task number 1, but here T001 is the id of another task.
  expect(refusalOf(await send('T001', head))).toBe(
    'invalid-evidence: invalid evidence bundle: it is about T001, not MINE',
  );
  expect(refusalOf(await send('MINE', old))).toBe(
    `invalid-evidence: invalid evidence bundle: head_sha ${old} is not HEAD`,
  );
  const accepted = await send('MINE', head);
  expect(resultOf(accepted)).toMatchObject({ next_phase: 'CI_PENDING' });
  world.commit(world.repository, { 'b.txt': 'b' }, 'later');
  expect(await send('MINE', head)).toEqual(accepted);
});

it('keeps the bytes that were checked, whatever happens to the file afterwards', async () => {
  const secret = `ghp_${'a1B2'.repeat(9)}`;
  await world.order('task_create', { task_id: 'KEPT', title: 'keep it' });
  const client = world.client(tokenOf(await world.order('task_claim', { task_id: 'KEPT', as: 'ann' })));
  const head = world.git(world.repository, 'rev-parse', 'HEAD');
  const bundle = [
    'task_id: KEPT',
    'phase: IMPLEMENTATION',
    `head_sha: ${head}`,
    `commands: [{run: npm test, exit_code: 0, output_sha256: ${'0'.repeat(64)}}]`,
    'files: []',
    `failed_approaches: [A call with ${secret} was refused.]`,
    'next_step: review it',
  ].join('\n');
  const send = async (text: string) => {
    world.write(world.repository, { 'kept.yaml': text });
    return client.forward('exit_signal', exitSignal('IMPLEMENTATION', 'blocked', { evidence_bundle_ref: 'kept.yaml' }));
  };
  const answer = await send(bundle);
  expect(resultOf(answer)).toMatchObject({ next_phase: 'BLOCKED' });
  expect(await send('not a bundle at all')).toEqual(answer);
  const entries = (await readLedger(world)).filter(({ data }) => data['task_id'] === 'KEPT');
  const recorded = entries.filter(({ type }) => type === 'EvidenceRecorded');
  expect(recorded).toMatchObject([
    {
      data: {
        ref: 'kept.yaml',
        head_sha: head,
        commands: [{ run: 'npm test', exit_code: 0 }],
        failed_approaches: [expect.stringContaining('[redacted:')],
        next_step: 'review it',
      },
    },
  ]);
  const { blob } = recorded[0]?.data ?? {};
  const printed = world.baton(['ledger', 'blob', typeof blob === 'string' ? blob : '']);
  expect(printed).toMatchObject({ code: 0, err: '' });
  expect(printed.out).toBe(bundle.replace(secret, /\[redacted:[\w-]+\]/.exec(printed.out)?.[0] ?? ''));
  expect(printed.out).not.toContain(secret);
  expect(await findLedgerFault(world)).toBeUndefined();
});

it('keeps nothing of a refused signal', async () => {
  await world.order('task_create', { task_id: 'REFUSED', title: 'refuse it' });
  const client = world.client(tokenOf(await world.order('task_claim', { task_id: 'REFUSED', as: 'ann' })));
  const head = world.git(world.repository, 'rev-parse', 'HEAD');
  const bundle = `task_id: REFUSED\nphase: REVIEW\nhead_sha: ${head}\ncommands: []\nfiles: []\nnext_step: none\n`;
  world.write(world.repository, { 'refused.yaml': bundle });
  const signal = exitSignal('REVIEW', 'blocked', { evidence_bundle_ref: 'refused.yaml' });
  expect(refusalOf(await client.forward('exit_signal', signal))).toContain('IMPLEMENTATION');
  const blob = `sha256:${createHash('sha256').update(bundle).digest('hex')}`;
  expect(world.baton(['ledger', 'blob', blob]).code).toBe(1);
});
