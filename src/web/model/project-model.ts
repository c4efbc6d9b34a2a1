import type { Answer } from '../../api/answer.ts';
import { checkRawEntry, type Entry, renderEntry } from '../../ledger/format/entry.ts';
import { fieldOf, fieldsOf, numberOf } from '../../protocol/shape/read-unknown.ts';
import { restoreState } from '../../state/json-form.ts';
import { foldEntry, type State } from '../../state/state.ts';
import type { StreamedEntry } from '../hub/link.ts';

/** One project in the hub: its state, loaded once as a snapshot and then folded from the stream with the daemon's own code. */
export class ProjectModel {
  readonly #readSnapshot: () => Promise<Answer>;
  #state: State | undefined;
  #loading: Promise<Answer> | undefined;
  /** Entries that came while the snapshot was under way. */
  #waiting: StreamedEntry[] = [];
  /** The newest entry that the stream has brought, or the head that it began with. */
  seq: number;

  constructor(seq: number, readSnapshot: () => Promise<Answer>) {
    this.seq = seq;
    this.#readSnapshot = readSnapshot;
  }

  get state(): State | undefined {
    return this.#state;
  }

  add(streamed: StreamedEntry): void {
    this.seq = Math.max(this.seq, streamed.seq);
    if (this.#loading !== undefined) this.#waiting.push(streamed);
    if (this.#state !== undefined) this.#fold(this.#state, streamed);
  }

  /** Loads the state at the first use. Returns the refusal if that fails. */
  async load(): Promise<Answer | undefined> {
    if (this.#state !== undefined) return undefined;
    this.#loading ??= this.#readSnapshot();
    const answer = await this.#loading;
    this.#loading = undefined;
    if (!answer.ok) return answer;
    if (this.#state !== undefined) return undefined;
    const state = restoreState(fieldOf(answer.result, 'state'));
    state.seq = Math.max(state.seq, numberOf(fieldsOf(answer.result)['seq']));
    for (const streamed of this.#waiting) this.#fold(state, streamed);
    this.#waiting = [];
    this.#state = state;
    return undefined;
  }

  /** An entry is missing: the state is loaded again when somebody looks at it. */
  forget(): void {
    this.#state = undefined;
  }

  #fold(state: State, { seq, entry }: StreamedEntry): void {
    if (seq <= state.seq) return;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked right after
    const parsed = checkRawEntry({ text: renderEntry(entry as Entry), value: entry });
    if (seq !== state.seq + 1 || !parsed.ok) return this.forget();
    foldEntry(state, parsed.value);
  }
}
