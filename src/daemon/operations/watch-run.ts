import type { Answer } from '../../api/answer.ts';
import type { Refusal } from '../../state/outcome.ts';
import type { State } from '../../state/state.ts';
import type { Call } from './call.ts';
import { answerFor } from './handler.ts';
import { LATER } from '../loop/request.ts';

export type WatchedRun<V> =
  | { readonly ok: true; readonly view: V; readonly isSettled: boolean }
  | { readonly ok: false; readonly refusal: Refusal };

/**
 * Looks at a run; with `wait_ms`, when it is over or needs a person. Whoever waits is woken by the entry that they wait for, and is
 * shown how it stands where their time runs out before.
 */
export async function waitForRun<V>(
  { project, signal }: Pick<Call, 'project' | 'signal'>,
  waitMs: number,
  look: (state: State) => WatchedRun<V>,
): Promise<Answer<V>> {
  const settled = await project.commandLoop.submit<V | undefined>({
    actor: 'system:reader',
    waitLimit: {
      ms: waitMs,
      otherwise: { ok: true, events: [], answer: undefined },
      ...(signal === undefined ? {} : { signal }),
    },
    decide: ({ state }) => {
      const seen = look(state);
      if (!seen.ok) return seen;
      return seen.isSettled || waitMs === 0 ? { ok: true, events: [], answer: seen.view } : LATER;
    },
  });
  if (!settled.ok || settled.answer !== undefined) return answerFor(settled, (view) => view as V); // oxlint-disable-line typescript/no-unsafe-type-assertion
  return waitForRun({ project }, 0, look);
}
