import { showInvisible } from '../../protocol/text/show-invisible.ts';
import { excerptStart } from '../runs/excerpt.ts';
import type { Claim, Task } from '../tasks/task.ts';
import { oneLine } from './describe-message.ts';

/** The author of an entry, for people: `ada (implementer)`, `operator:ann`, `Baton (ci)`. */
export function authorOf(actor: string, { claim, lapsed, endings }: Task): string {
  if (!actor.startsWith('session:'))
    return actor.startsWith('system:') ? `Baton (${actor.slice('system:'.length)})` : actor;
  const id = actor.slice('session:'.length);
  const live = [claim, lapsed?.claim].find((each) => each?.sessionId === id);
  if (live) return nameHolder(live);
  const ended = endings.findLast(({ sessionId }) => sessionId === id);
  return ended === undefined ? actor : nameHolder({ holder: ended.holder, role: null });
}

/**
 * The author of a task's title and description, for people: `operator:ann`, or `a session of W-3, ada (implementer)`. A
 * task that an agent made must never read like a person's.
 */
export function authorOfTask({ author: { actor, session, acceptedBy } }: Pick<Task, 'author'>): string {
  if (session === null) return actor.startsWith('system:') ? `Baton (${actor.slice('system:'.length)})` : actor;
  const accepted = acceptedBy === undefined ? '' : `, accepted by ${acceptedBy}`;
  return `a session of ${session.taskId}, ${nameHolder(session)}${accepted}`;
}

/** The title of a task as data, on one line, with its author. */
export function quoteTitle(task: Pick<Task, 'title' | 'author'>): string {
  return `${JSON.stringify(excerptStart(showInvisible(oneLine(task.title)), 300))}, written by ${authorOfTask(task)}`;
}

/**
 * Names a holder. Callers choose this name, and outside of gates the role, so a name that could be mistaken for a
 * person's or Baton's is quoted.
 */
export function nameHolder({ holder, role }: Pick<Claim, 'holder' | 'role'>): string {
  const name = quoteUnlessName(holder);
  return role === null ? name : `${name} (${quoteUnlessName(role)})`;
}

function quoteUnlessName(text: string): string {
  const line = excerptStart(showInvisible(oneLine(text)), 60);
  return /^(?!(?:baton|operator|system)\b)[\p{L}\p{N}][\p{L}\p{M}\p{N} ._@-]*$/iu.test(line)
    ? line
    : JSON.stringify(line);
}
