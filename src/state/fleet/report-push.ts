import { refuseStaleClaim } from '../caller.ts';
import { event, type Events } from '../event.ts';
import { decided, type Outcome, refusal } from '../outcome.ts';
import type { State } from '../state.ts';
import { refuseUnknownTask } from '../tasks/create-task.ts';
import { hostOf } from './fleet.ts';

/** The outcome of a push of a session's work to the remote. */
export type ReportPush =
  | ({ readonly pushed: true } & Events['WorkPushed'])
  | ({ readonly pushed: false } & Events['WorkPushFailed']);

/** Records a new outcome. A push of an earlier claim is too late: the work has continued without it. */
export function decideReportPush(state: State, command: ReportPush): Outcome<null> {
  const { task_id, epoch, host, sha } = command;
  const task = state.tasks.get(task_id);
  if (task === undefined) return refuseUnknownTask(task_id);
  if (epoch < task.epoch)
    return refuseStaleClaim(epoch, task.epoch, `What was pushed stays at refs/baton/${task_id}/${epoch}.`);
  const known = task.work?.epoch === epoch ? task.work : undefined;
  const own = known?.host ?? (task.claim?.epoch === epoch ? hostOf(task.claim, state) : host);
  if (own !== host) {
    const message = `the session of epoch ${epoch} on ${task_id} is on ${own ?? 'no host'}, not on ${host}`;
    return refusal('other-host', message, 'Only its own host pushes its work.');
  }
  if (!command.pushed) {
    const { reason } = command;
    if (known?.failed === reason) return decided([], null);
    return decided([event('WorkPushFailed', { task_id, epoch, host, sha, reason })], null);
  }
  const { wip } = command;
  const last = known?.pushed;
  const isKnown = known?.failed === null && last?.epoch === epoch && last.sha === command.sha && last.wip === wip;
  return decided(isKnown ? [] : [event('WorkPushed', { task_id, epoch, host, sha: command.sha, wip })], null);
}
