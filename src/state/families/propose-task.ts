import { DEFAULT_TASK_LIMITS, PROTOCOL_LIMITS } from '../../protocol/limits.ts';
import { type Event, event, type Events } from '../event.ts';
import { decided, type Outcome, refusal } from '../outcome.ts';
import type { Rules } from '../rules.ts';
import type { State } from '../state.ts';
import type { Claim, Task } from '../tasks/task.ts';
import { NO_FAMILY, originBelow } from './task-family.ts';

/** The answer to `create-task`; `n` is null for a proposal, about which a person is asked. */
export interface CreatedTask {
  readonly n: number | null;
  /** The priority that the task got. */
  readonly priority: number;
}

/**
 * Decides a task that a session creates. It has at most the priority of the session's own task, the same epic, and a
 * share of its budget. All tasks below one task of a person are counted together, so that neither a new session nor a
 * task between starts the count again. Beyond the limits the task is a proposal.
 */
export function decideSessionTask(
  state: State,
  given: Events['TaskCreated'],
  parent: Task,
  { epoch, sessionId }: Pick<Claim, 'epoch' | 'sessionId'>,
  { tasks: limits = DEFAULT_TASK_LIMITS }: Rules,
): Outcome<CreatedTask> {
  const { n, ...task } = limitBy(parent, given);
  const { priority } = task;
  const made_by = { task_id: parent.id, epoch, session_id: sessionId };
  const { root, depth } = originBelow(parent);
  const family = state.families.get(root) ?? NO_FAMILY;
  const over = depth > limits.depth ? 'depth' : family.unasked >= limits.number ? 'number' : undefined;
  if (over === undefined) return decided([event('TaskCreated', { ...task, n, made_by })], { n, priority });
  const most = PROTOCOL_LIMITS.openProposals;
  if (family.proposals.length >= most) {
    const message = `${most} proposed tasks below ${root} wait for a person already (limits.tasks.${over} = ${limits[over]})`;
    return refusal(
      'too-many-tasks',
      message,
      'Go on with your own task. A person answers the proposals: baton decision list',
    );
  }
  return decided([event('TaskProposed', { ...task, root, over, made_by })], { n: null, priority });
}

function limitBy({ priority, epicId, prdId }: Task, given: Events['TaskCreated']): Events['TaskCreated'] {
  return { ...given, priority: Math.min(given.priority, priority), epic_id: epicId, prd_id: prdId };
}

/** The proposals that can become tasks, and the ids of the others: a task with the id exists by now, for example. */
export function acceptProposals(
  { tasks, families }: Pick<State, 'tasks' | 'families'>,
  root: string,
  accepted_by: string,
): { readonly created: readonly Event[]; readonly accepted: readonly string[]; readonly dropped: readonly string[] } {
  const created: Event[] = [];
  const accepted: string[] = [];
  const dropped: string[] = [];
  for (const { root: _, over: _over, seq: _seq, actor: _actor, ...task } of families.get(root)?.proposals ?? []) {
    const isKnown = (id: string): boolean => tasks.has(id) || accepted.includes(id);
    const isPossible = !isKnown(task.task_id) && task.after.every(isKnown);
    (isPossible ? accepted : dropped).push(task.task_id);
    if (isPossible) created.push(event('TaskCreated', { ...task, n: tasks.size + accepted.length, accepted_by }));
  }
  return { created, accepted, dropped };
}
