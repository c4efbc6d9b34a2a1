import { refusal, type Refusal } from '../../state/outcome.ts';

export type FoundRun<T> = { readonly ok: true; readonly run: T } | { readonly ok: false; readonly refusal: Refusal };

/** What an id, or the beginning of one, stands for: people type the first few characters. */
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
