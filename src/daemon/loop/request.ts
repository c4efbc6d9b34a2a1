import type { Ledger } from '../../ledger/writer/ledger.ts';
import { type Problem, problem } from '../../protocol/shape/problem.ts';
import type { RecordedEvent } from '../../state/event.ts';
import type { Outcome, Refusal } from '../../state/outcome.ts';
import type { Rules } from '../../state/rules.ts';
import type { State } from '../../state/state.ts';
import type { ReadyTasks } from '../../state/tasks/ready.ts';

export interface DecideContext {
  readonly state: State;
  readonly ready: ReadyTasks;
  readonly rules: Rules;
  /** The time of this commit's entries. */
  readonly at: string;
  /** This host; undefined on SQLite. */
  readonly here: string | undefined;
}

/** Returned by `decide` if the request must wait. The loop calls `decide` again after the next change. */
export const LATER = 'later';

export interface CommandRequest<A> {
  readonly actor: string;
  /** A retry with the same key gets the first answer. */
  readonly key?: string;
  /** From the outbox. All messages kept earlier have already been delivered. */
  readonly isKept?: boolean;
  /** No kept message can change this judgement, so it does not wait for them. */
  readonly overtakesKept?: boolean;
  /** Must be pure and quick. Called again if the commit is repeated. */
  readonly decide: (view: DecideContext) => Outcome<A> | typeof LATER;
  readonly answerAfterCommit?: (state: State) => A;
  /** If set, a waiting request is decided again only while there is a task to claim or to close. */
  readonly waitsFor?: 'work';
  /** How long the request waits after `LATER`, and the answer when that time is over. */
  readonly waitLimit?: { readonly ms: number; readonly otherwise: Outcome<A>; readonly signal?: AbortSignal };
}

export type CommandResult<A> =
  | { readonly ok: true; readonly answer: A }
  | { readonly ok: false; readonly refusal: Refusal }
  | { readonly ok: false; readonly problem: Problem };

/** Messages of a project's sessions that are acknowledged but not yet recorded. */
export interface KeptMessages {
  /** Also true if that cannot be determined. */
  areWaiting(): boolean;
  /** Records them in order. Returns whether none is left. */
  drain(): Promise<boolean>;
  blockedMs(): number;
}

export const NO_KEPT_MESSAGES: KeptMessages = { areWaiting: () => false, drain: async () => true, blockedMs: () => 0 };

export const EARLIER_MESSAGES_UNRECORDED = problem(
  'store-unavailable',
  'earlier messages of this project are not recorded yet',
  'The messages are kept, and Baton tries again.',
);

export interface CommandLoopOptions {
  readonly ledger: Ledger;
  readonly state: State;
  readonly rules: Rules;
  /** The name of this host in its fleet; undefined on SQLite. */
  readonly here: string | undefined;
  readonly clock: { readonly pin: () => string; readonly unpin: () => void; readonly read: () => Date };
  /** Receives durable entries in order, from this loop (`isOwn`) or from elsewhere, before requests are answered. */
  readonly onRecorded: (recorded: readonly RecordedEvent[], isOwn: boolean) => void;
  readonly onInternalError: (error: unknown) => void;
  /**
   * What must happen before the entries of one request are recorded; undefined if nothing. Must not reject or take
   * long.
   */
  readonly holdBack?: (recorded: readonly RecordedEvent[]) => Promise<void> | undefined;
  /**
   * Receives the entries of other hosts after they were folded. Returns after how many milliseconds requests that wait
   * for work are decided again; undefined if the entries give no work.
   */
  readonly onForeign?: (recorded: readonly RecordedEvent[]) => number | undefined;
  readonly messages?: KeptMessages;
}

/** Enough to fill a commit, and few enough for quick answers. */
export const MAX_BATCH_REQUESTS = 500;
/** The ledger refuses a larger commit. */
export const MAX_BATCH_ENTRIES = 4000;
