import type { EventOf, RecordedEvent } from '../event.ts';
import type { BudgetScope } from '../runs/budget-scope.ts';
import type { Task, TaskOrigin } from '../tasks/task.ts';

/** The tasks that sessions made below a task of a person, at any depth. */
export interface TaskFamily {
  readonly members: readonly string[];
  /** How many of them nobody was asked about. */
  readonly unasked: number;
  /** The proposals that a person has not answered yet, oldest first. */
  readonly proposals: readonly Proposal[];
}

export type Proposal = EventOf<'TaskProposed'>['data'] & { readonly seq: number; readonly actor: string };

export const NO_FAMILY: TaskFamily = { members: [], unasked: 0, proposals: [] };

type Families = Map<string, TaskFamily>;

interface Makers {
  readonly tasks: ReadonlyMap<string, Task>;
  readonly sessions: ReadonlyMap<string, { readonly taskId: string }>;
}

/**
 * Finds the author and the parent of a new task. Older entries name their session only as the actor: their tasks keep
 * the budget that they had, each its own, and are in no family.
 */
export function findMaker(
  { tasks, sessions }: Makers,
  { data, actor }: EventOf<'TaskCreated'> & Pick<RecordedEvent, 'actor'>,
): Pick<Task, 'author' | 'origin'> {
  const { made_by, accepted_by } = data;
  const sessionId = made_by?.session_id ?? (actor.startsWith('session:') ? actor.slice('session:'.length) : '');
  const parent = tasks.get(made_by?.task_id ?? sessions.get(sessionId)?.taskId ?? '');
  if (parent === undefined) return { author: { actor, session: null }, origin: null };
  const session = { taskId: parent.id, ...holderOf(parent, sessionId) };
  const author = { actor: `session:${sessionId}`, session };
  return {
    author: accepted_by === undefined ? author : { ...author, acceptedBy: accepted_by },
    origin: made_by === undefined ? null : originBelow(parent),
  };
}

export function originBelow({ id, origin }: Pick<Task, 'id' | 'origin'>): TaskOrigin {
  return { root: origin?.root ?? id, depth: (origin?.depth ?? 0) + 1 };
}

function holderOf(
  { claim, endings }: Task,
  sessionId: string,
): { readonly holder: string; readonly role: string | null } {
  if (claim?.sessionId === sessionId) return { holder: claim.holder, role: claim.role };
  const ended = endings.findLast((ending) => ending.sessionId === sessionId);
  return { holder: ended?.holder ?? '', role: null };
}

export function addToFamily(families: Families, { id, origin, author }: Task): void {
  if (origin === null) return;
  const { members, unasked, proposals } = families.get(origin.root) ?? NO_FAMILY;
  const more = author.acceptedBy === undefined ? 1 : 0;
  families.set(origin.root, { members: [...members, id], unasked: unasked + more, proposals });
}

export function evolveProposals(
  families: Families,
  {
    type,
    data,
    seq,
    actor,
  }: (EventOf<'TaskProposed'> | EventOf<'ProposalsSettled'>) & Pick<RecordedEvent, 'seq' | 'actor'>,
): void {
  const family = families.get(data.root) ?? NO_FAMILY;
  const proposals = type === 'TaskProposed' ? [...family.proposals, { ...data, seq, actor }] : [];
  families.set(data.root, { ...family, proposals });
}

interface KnownTasks {
  readonly tasks?: ReadonlyMap<string, Pick<Task, 'origin'>>;
}

/** The budget of a task: the task of a person pays for the tasks that its sessions made. */
export function taskScope({ tasks }: KnownTasks, id: string): BudgetScope {
  return { kind: 'task', id: tasks?.get(id)?.origin?.root ?? id };
}

/** The task of a person and the tasks below it. */
export function familyOf(
  { families }: { readonly families: ReadonlyMap<string, TaskFamily> },
  root: string,
): readonly string[] {
  return [root, ...(families.get(root)?.members ?? [])];
}
