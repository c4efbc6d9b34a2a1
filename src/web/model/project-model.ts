import type { Answer } from '../../api/answer.ts';
import { fieldOf, fieldsOf, numberOf } from '../../protocol/shape/read-unknown.ts';
import type { State } from '../../state/state.ts';
import type { StreamedEntry } from '../hub/streamed-entry.ts';
import type * as folding from './folding.ts';

/** The state's code is the largest part of the page, so it is loaded after the first content. */
type Folding = Pick<typeof folding, 'foldNext' | 'restoreState'>;

/**
 * One project in the hub: its state is loaded once as a snapshot, and then folded from the stream with the daemon's own
 * code.
 */
export class ProjectModel {
  readonly #readSnapshot: () => Promise<Answer>;
  readonly #loadFolding: () => Promise<Folding>;
  #state: State | undefined;
  #foldNext: Folding['foldNext'] | undefined;
  #loading: Promise<Answer> | undefined;
  /** Entries that arrived while the snapshot was loading. */
  #waiting: StreamedEntry[] = [];
  /** The newest entry from the stream, or the head at the stream's start. */
  seq: number;

  constructor(seq: number, readSnapshot: () => Promise<Answer>, loadFolding: () => Promise<Folding>) {
    this.seq = seq;
    this.#readSnapshot = readSnapshot;
    this.#loadFolding = loadFolding;
  }

  get state(): State | undefined {
    return this.#state;
  }

  add(streamed: StreamedEntry): void {
    this.seq = Math.max(this.seq, streamed.seq);
    if (this.#loading !== undefined) this.#waiting.push(streamed);
    if (this.#state !== undefined) this.#fold(this.#state, streamed);
  }

  /** Loads the state on first use. Returns the refusal if that fails. */
  async load(): Promise<Answer | undefined> {
    if (this.#state !== undefined) return undefined;
    this.#loading ??= this.#readSnapshot();
    const answer = await this.#loading;
    if (!answer.ok) {
      this.#loading = undefined;
      return answer;
    }
    const code = await this.#loadFolding();
    this.#loading = undefined;
    if (this.#state !== undefined) return undefined;
    this.#foldNext = code.foldNext;
    const state = code.restoreState(fieldOf(answer.result, 'state'));
    state.seq = Math.max(state.seq, numberOf(fieldsOf(answer.result)['seq']));
    for (const streamed of this.#waiting) this.#fold(state, streamed);
    this.#waiting = [];
    this.#state = state;
    return undefined;
  }

  /**
   * Resets the state: the daemon has fewer entries than this page has received, because the ledger was replaced by an
   * older copy or another one.
   */
  goBack(seq: number): void {
    this.seq = seq;
    this.#waiting = [];
    this.forget();
  }

  /** Drops the state, because an entry is missing. The next view loads it again. */
  forget(): void {
    this.#state = undefined;
  }

  #fold(state: State, streamed: StreamedEntry): void {
    if (streamed.seq > state.seq && this.#foldNext?.(state, streamed) !== true) this.forget();
  }
}
