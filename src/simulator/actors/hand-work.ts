import type { Caller } from '../../state/caller.ts';
import type { Command } from '../../state/decide.ts';
import { branchOf } from './agent-program.ts';
import { exitSignal } from './measure.ts';
import { passOn, record, result } from './messages.ts';
import type { Activity, HandClaim, Host, Reply } from '../world/parts.ts';

/**
 * A person, or a client with a worker token, claims a ready task and works on it: commits, records, passes it on. They
 * may also forget about it. Returns whether there was a task to claim.
 */
export function workByHand(host: Host, n: number, wanted: string | undefined): boolean {
  const { world } = host;
  const caller: Caller =
    n % 2 === 0 ? { kind: 'operator', name: n % 4 === 0 ? 'ann' : 'bob' } : { kind: 'worker', name: 'cleo' };
  const tasks = [...host.state.tasks.values()].filter(
    ({ claim, nextRole }) => claim === null && (wanted === undefined || nextRole === wanted),
  );
  const task = tasks[n % Math.max(1, tasks.length)];
  if (task === undefined) return false;
  const sessionId = world.newId('hand-');
  const role = task.nextRole === null ? {} : { role: task.nextRole };
  const claim: Command = { kind: 'claim-task', command: { id: task.id, sessionId, holder: 'by hand', ...role } };
  if (host.submit(claim, caller).kind !== 'ok') return false;
  const claimed = host.state.tasks.get(task.id)?.claim;
  if (claimed?.sessionId !== sessionId) return false;
  const hand: HandClaim = { taskId: task.id, epoch: claimed.epoch, sessionId, host };
  world.handClaims.push(hand);
  const forget = (): void => void world.handClaims.splice(world.handClaims.indexOf(hand), 1);
  world.run(work(hand, n), () => true, forget);
  return true;
}

function* work({ taskId, epoch, sessionId, host }: HandClaim, n: number): Activity {
  const { world } = host;
  const { git, random } = world;
  const caller: Caller = { kind: 'session', sessionId, taskId, epoch };
  const say = (command: Command): Reply => {
    const key = world.newId('by-hand-');
    const reply: Reply = host.outbox.length > 0 ? { kind: 'away' } : host.submit(command, caller, key);
    if (reply.kind !== 'away') return reply;
    const keptAt = new Date(host.nowMs).toISOString();
    host.outbox.push({ make: () => command, caller: { ...caller, keptAt }, key });
    world.auditor.kept(key);
    return reply;
  };
  yield random.between(1000, 20_000);
  const task = host.state.tasks.get(taskId);
  if (task?.claim?.sessionId !== sessionId || n % 5 === 0) return;
  const role = task.claim.role ?? 'implementer';
  const branch = branchOf(task);
  const isWork = role === 'implementer' || role === 'fixer' || n % 4 === 0;
  const head = git.branch(host.name, branch) ?? git.main;
  let sha = head;
  if (isWork) {
    sha = git.commit([head], { ...git.treeOf(head), [`${taskId}.ts`]: `by hand ${n}` }, task.claim.principal);
    git.setBranch(host.name, branch, sha);
  }
  yield 1000;
  say(result(task, host.at));
  if (isWork || n % 3 === 0) say(record(world.newId('r'), task, branch, sha));
  yield 1000;
  say(passOn(world.newId('h'), task, role));
  yield 1000;
  const now = host.state.tasks.get(taskId);
  if (now === undefined) return;
  if (n % 6 === 1) say({ kind: 'update-task', command: { task_id: taskId, status: 'done' } });
  const end = { phase: now.phase, reason: 'completed', eventId: world.newId('e') } as const;
  const reply = say(exitSignal(host, sessionId, end));
  if (reply.kind === 'refused') say({ kind: 'release-claim', command: { id: taskId } });
  if (n % 4 !== 0) return;
  // Nobody else is there to approve it.
  yield 4000;
  host.submit(
    { kind: 'self-approve', command: { id: taskId, reason: 'it is small' } },
    { kind: 'operator', name: 'ann' },
  );
}
