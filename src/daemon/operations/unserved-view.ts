import { shellWord } from '../../agents/shell-quote.ts';
import type { UnservedTask } from '../../api/proofs.ts';
import { rulesFor, rulesInForce, type Rules } from '../../state/rules.ts';
import type { State } from '../../state/state.ts';
import { findUnservedTasks } from '../../state/tasks/unserved.ts';

/** The tasks that wait in a phase that no worker serves, each with the command that takes it up. */
export function unservedView(state: State, rules: Rules): readonly UnservedTask[] {
  const inForce = rulesInForce(state, rules);
  return findUnservedTasks(state, rules).map((task) => {
    const { id, title, phase, nextRole: role } = task;
    const as = role === null ? '' : ` --role ${shellWord(role)}`;
    const isMerge = phase === 'READY_FOR_MERGE' && rulesFor(task, inForce).mergeGate;
    const next = isMerge ? `baton merge ${shellWord(id)}` : `baton task claim ${shellWord(id)} --as NAME${as}`;
    return { id, title, phase, role, next };
  });
}
