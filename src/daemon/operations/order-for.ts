import { actorOf } from '../../state/caller.ts';
import { decide, type Command } from '../../state/decide.ts';
import type { Outcome } from '../../state/outcome.ts';
import type { State } from '../../state/state.ts';
import type { Call } from './call.ts';
import type { FoundRun } from './run-lookup.ts';
import type { CommandResult } from '../loop/request.ts';

/** Sends a command about a run that people name by the beginning of its id: it is found in the moment in which it is decided. */
export async function submitRunCommand<T, A>(
  { project, caller, key }: Call,
  find: (state: State) => FoundRun<T>,
  command: (run: T) => Command,
): Promise<CommandResult<A>> {
  return project.commandLoop.submit<A>({
    actor: actorOf(caller),
    ...(key === undefined ? {} : { key }),
    decide: ({ state, rules }) => {
      const found = find(state);
      // The kernel answers each kind of command with its own kind of answer; the caller names it.
      return found.ok ? (decide(state, command(found.run), caller, rules) as Outcome<A>) : found; // oxlint-disable-line typescript/no-unsafe-type-assertion
    },
  });
}
