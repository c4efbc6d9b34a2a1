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
