import type { Answer } from '../../api/answer.ts';
import { refusal, type Refusal } from '../../state/outcome.ts';
import type { State } from '../../state/state.ts';
import { LATER } from '../loop/request.ts';
import { answerFor, type Call } from './call.ts';

export type FoundRun<T> = { readonly ok: true; readonly run: T } | { readonly ok: false; readonly refusal: Refusal };

/** The run with an id, or with an id that begins so: people type the first few characters. */
export function findRunByPrefix<T>(
  runs: ReadonlyMap<string, T>,
  id: string,
  what: 'pipeline' | 'agent' | 'decision',
): FoundRun<T> {
  const exact = runs.get(id);
  if (exact !== undefined) return { ok: true, run: exact };
  const fitting = [...runs].filter(([each]) => each.startsWith(id));
  const [first, second] = fitting;
  if (first === undefined)
    return refusal(`no-such-${what}`, `there is no ${what} ${id}`, `See: baton ${what} list --all`);
  if (second === undefined) return { ok: true, run: first[1] };
  const names = fitting.slice(0, 5).map(([each]) => each);
  return refusal(
    'ambiguous',
    `${id} is the beginning of ${fitting.length} ids: ${names.join(', ')}`,
    'Give more of it.',
  );
}

export type WatchedRun<V> =
  | { readonly ok: true; readonly view: V; readonly isSettled: boolean }
  | { readonly ok: false; readonly refusal: Refusal };

/**
 * Reads a run; with `wait_ms`, when it is over or needs a person. A waiting call is woken by the entry that it waits for, and gets the current
 * state if its time runs out before.
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
