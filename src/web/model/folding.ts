import { checkRawEntry, type Entry, renderEntry } from '../../ledger/format/entry.ts';
import { foldEntry, type State } from '../../state/state.ts';
import type { StreamedEntry } from '../hub/streamed-entry.ts';

export { restoreState } from '../../state/json-form.ts';

/** Folds the entry if it is valid and the next one. */
export function foldNext(state: State, { seq, entry }: StreamedEntry): boolean {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked right after
  const parsed = checkRawEntry({ text: renderEntry(entry as Entry), value: entry });
  if (seq !== state.seq + 1 || !parsed.ok) return false;
  foldEntry(state, parsed.value);
  return true;
}
