import { expect, it } from 'vitest';
import { exitSignal, record } from '../processes/messages.ts';
import { refusalOf, resultOf, tokenOf } from '../processes/answers.ts';
import { about, findLedgerFault, readLedger, typesOf } from '../processes/ledger.ts';
import type { Peer } from '../processes/peers.ts';
import { until } from '../processes/until.ts';
import { World } from '../processes/world.ts';
import { inLongLane } from '../lanes.ts';

/** Short, but long enough to renew on a busy machine. */
const SHORT = { BATON_CLAIM_EXPIRY_MS: '4000', BATON_RENEWAL_MS: '300', BATON_TICK_MS: '100' };

/**
 * A worker, and the process that renews its claim, are frozen for longer than the claim lasts, and another worker takes
 * the task. When it continues, the first worker must be refused everything, because it does not know that.
 */
it('a worker that was frozen past its expiry cannot write, complete, commit or push; the task is done by another', async () => {
  await using world = await World.open({ ...SHORT, AGENT_EXIT_PROTOCOL_ENABLED: 'true' });
  world.git(world.folder, 'init', '--quiet', '--bare', 'origin.git');
  world.git(world.repository, 'remote', 'add', 'origin', `${world.folder}/origin.git`);
  world.git(world.repository, 'push', '--quiet', 'origin', 'main');
  await world.order('task_create', { task_id: 'P0.1.1', title: 'Package setup' });

  const [worker, supervisor, next, nextSupervisor] = [world.peer(), world.peer(), world.peer(), world.peer()];
  const mine = resultOf(await worker.call('task_claim', { task_id: 'P0.1.1', as: 'first' }));
  const token = tokenOf(mine);
  await supervisor.ask('renew', 'P0.1.1', token, 300);
  const { path, branch } = resultOf(await worker.call('task_worktree', {}, { token }));
  const tree = String(path);
  expect(branch).toBe('feature/p0-1-1-package-setup');
  world.write(tree, { 'half.txt': 'half of the work\n' });
  expect(await gitIn(worker, tree, 'add', '--all')).toMatchObject({ code: 0 });
  expect(await gitIn(worker, tree, 'commit', '--quiet', '-m', 'half')).toMatchObject({ code: 0 });
  expect(await gitIn(worker, tree, 'push', '--quiet', 'origin', 'HEAD')).toMatchObject({ code: 0 });

  worker.freeze();
  supervisor.freeze();
  // Without polling: the waiting worker is woken when the claim has expired.
  const theirs = resultOf(await next.call('task_claim', { task_id: 'P0.1.1', as: 'second', wait_ms: 30_000 }));
  expect(theirs).toMatchObject({ task_id: 'P0.1.1', epoch: 2 });
  const theirToken = tokenOf(theirs);
  await nextSupervisor.ask('renew', 'P0.1.1', theirToken, 300);
  worker.thaw();
  supervisor.thaw();
  // Git already refuses commits in the first worker's worktree, with the reason.
  const tip = world.git(world.repository, 'rev-parse', String(branch));
  world.write(tree, { 'late.txt': 'the other half, too late\n' });
  await gitIn(worker, tree, 'add', '--all');
  for (const args of [
    ['commit', '-m', 'late'],
    ['commit', '--no-verify', '-m', 'late'],
    ['reset', '--hard', 'main'],
  ]) {
    const { code, said } = await gitIn(worker, tree, ...args);
    expect(code).not.toBe(0);
    expect(said).toContain('stale claim: epoch 1 < 2');
  }
  expect(world.git(world.repository, 'rev-parse', String(branch))).toBe(tip);

  const { path: theirPath } = resultOf(await next.call('task_worktree', {}, { token: theirToken }));
  const theirTree = String(theirPath);
  // The second worker continues from the first one's commits.
  expect(await gitIn(next, theirTree, 'log', '--format=%s', '-1')).toMatchObject({ said: 'half\n' });

  const before = await readLedger(world);
  const stale = 'stale-claim: stale claim: epoch 1 < 2';
  const head = world.git(world.repository, 'rev-parse', 'main');
  expect(refusalOf(await worker.call('task_heartbeat', { task_id: 'P0.1.1' }, { token }))).toBe(stale);
  for (const [operation, input] of [
    ['task_update', { task_id: 'P0.1.1', status: 'in_progress', progress: 90 }],
    ['task_update', { task_id: 'P0.1.1', status: 'done' }],
    ['task_update', { task_id: 'P0.1.1', status: 'todo' }],
    ['thought_record', record('P0.1.1', head)],
    ['task_complete', record('P0.1.1', head)],
    ['task_release', { task_id: 'P0.1.1' }],
    ['task_worktree', {}],
    ['audit_session_start', { task_id: 'P0.1.1' }],
  ] as const) {
    expect(`${operation}: ${refusalOf(await worker.call(operation, input, { token }))}`).toBe(`${operation}: ${stale}`);
  }
  const exit = await worker.call('exit_signal', exitSignal('IMPLEMENTATION'), { token });
  expect(refusalOf(exit)).toBe('no-active-phase: session has no active work phase');
  expect(await readLedger(world)).toEqual(before);

  // Git still refuses it: its worktree is detached from the branch, so a commit there changes no branch.
  await gitIn(worker, tree, 'commit', '--quiet', '-m', 'late');
  expect(world.git(world.repository, 'rev-parse', String(branch))).toBe(tip);
  for (const args of [
    ['update-ref', `refs/heads/${String(branch)}`, 'main'],
    ['push', 'origin', 'HEAD:refs/heads/elsewhere'],
    ['push', 'origin', `HEAD:refs/heads/${String(branch)}`],
    ['push', '--force', 'origin', `HEAD:refs/heads/${String(branch)}`],
  ]) {
    const { code, said } = await gitIn(worker, tree, ...args);
    expect(`${args[0]}: ${code === 0 ? 'done' : 'refused'}`).toBe(`${args[0]}: refused`);
    expect(said).toContain('stale claim: epoch 1 < 2');
  }
  expect(world.git(world.repository, 'rev-parse', String(branch))).toBe(tip);
  expect(world.git(world.repository, 'ls-remote', 'origin', `refs/heads/${String(branch)}`)).toContain(tip);

  // The second worker is not affected.
  world.write(theirTree, { 'whole.txt': 'all of it\n' });
  expect(await gitIn(next, theirTree, 'add', '--all')).toMatchObject({ code: 0 });
  expect(await gitIn(next, theirTree, 'commit', '--quiet', '-m', 'whole')).toMatchObject({ code: 0 });
  expect(await gitIn(next, theirTree, 'push', '--quiet', 'origin', 'HEAD')).toMatchObject({ code: 0 });
  const done = world.git(theirTree, 'rev-parse', 'HEAD');
  resultOf(await next.call('task_complete', record('P0.1.1', done), { token: theirToken }));

  const entries = about(await readLedger(world), 'P0.1.1');
  expect(typesOf(entries)).toEqual([
    'TaskCreated',
    'TaskClaimed',
    'BranchNamed',
    'ClaimExpired',
    'TaskClaimed',
    'ThoughtRecorded',
    'ClaimCompleted',
    'PhaseMoved',
  ]);
  expect(entries.find(({ type }) => type === 'ThoughtRecorded')?.data).toMatchObject({ epoch: 2 });
  expect(await world.order('task_get', { task_id: 'P0.1.1' })).toMatchObject({ status: 'done' });
  // Without a claim on the task, neither of the two can move its branch.
  for (const [who, where] of [
    [worker, tree],
    [next, theirTree],
  ] as const) {
    const push = await gitIn(who, where, 'push', 'origin', `HEAD:refs/heads/${String(branch)}-again`);
    expect(push.code).not.toBe(0);
  }
  expect(await findLedgerFault(world)).toBeUndefined();
}, 60_000);

inLongLane(() => {
  it('a worker whose renewing process is frozen loses the claim; one whose own process is frozen does not', async () => {
    await using world = await World.open(SHORT);
    for (const id of ['A', 'B']) await world.order('task_create', { task_id: id, title: id });
    const [a, b, renewsA, renewsB] = [world.peer(), world.peer(), world.peer(), world.peer()];
    const tokenA = tokenOf(await a.call('task_claim', { task_id: 'A', as: 'a' }));
    const tokenB = tokenOf(await b.call('task_claim', { task_id: 'B', as: 'b' }));
    await renewsA.ask('renew', 'A', tokenA, 300);
    await renewsB.ask('renew', 'B', tokenB, 300);
    a.freeze();
    renewsB.freeze();
    await until(
      'the claim on B has expired',
      async () => (await world.order('task_get', { task_id: 'B' }))['claim'] === null,
    );
    expect(await world.order('task_get', { task_id: 'A' })).toMatchObject({ claim: { epoch: 1 } });
    a.thaw();
    renewsB.thaw();
    resultOf(await a.call('task_update', { task_id: 'A', status: 'in_progress', progress: 50 }, { token: tokenA }));
    const late = await b.call('task_update', { task_id: 'B', status: 'in_progress', progress: 50 }, { token: tokenB });
    expect(refusalOf(late)).toBe('claim-ended: the claim on B has ended: expired');
    expect(await renewsA.ask('renewals')).toMatchObject({ refused: 0 });
  }, 60_000);
});

async function gitIn(peer: Peer, cwd: string, ...args: string[]): Promise<{ code: number | null; said: string }> {
  return peer.ask('git', cwd, args);
}
