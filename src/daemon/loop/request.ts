import { type Problem, problem } from '../../protocol/shape/problem.ts';
import type { Outcome, Refusal } from '../../state/outcome.ts';
import type { Rules } from '../../state/rules.ts';
import type { State } from '../../state/state.ts';
import type { ReadyTasks } from '../../state/tasks/ready.ts';

/** What a request may look at while it is decided. */
export interface DecideContext {
  readonly state: State;
  readonly ready: ReadyTasks;
  readonly rules: Rules;
  /** The time of the entries that this commit records. */
  readonly at: string;
}

/** Returned by `decide` if there is nothing to decide yet: the loop calls it again after the next change. */
export const LATER = 'later';

export interface CommandRequest<A> {
  readonly actor: string;
  /** A retry with the same key gets the first answer. */
  readonly key?: string;
  /** The request comes from the outbox, and every message kept before it has been delivered. */
  readonly isKept?: boolean;
  /** Pure and quick. Called again if the commit has to be repeated. */
  readonly decide: (view: DecideContext) => Outcome<A> | typeof LATER;
  /** Computes the answer from the state after the commit, with everything that followed from the request. */
  readonly answerAfterCommit?: (state: State) => A;
  /** If set, a request that waits is decided again only while there is a task to claim or to close. */
  readonly waitsFor?: 'work';
  /** How long the request waits after `LATER`, and its answer at the end of that time. */
  readonly waitLimit?: { readonly ms: number; readonly otherwise: Outcome<A>; readonly signal?: AbortSignal };
}

export type CommandResult<A> =
  | { readonly ok: true; readonly answer: A }
  | { readonly ok: false; readonly refusal: Refusal }
  | { readonly ok: false; readonly problem: Problem };

/** Messages of a project's sessions that were acknowledged and are not recorded yet. */
export interface KeptMessages {
  /** Whether any message waits. True if that cannot be determined. */
  areWaiting(): boolean;
  /** Records them in order; returns whether none is left. */
  drain(): Promise<boolean>;
  /** How long recording has failed; 0 if it works. */
  blockedMs(): number;
}

export const NO_KEPT_MESSAGES: KeptMessages = { areWaiting: () => false, drain: async () => true, blockedMs: () => 0 };

export const EARLIER_MESSAGES_UNRECORDED = problem(
  'store-unavailable',
  'earlier messages of this project are not recorded yet',
  'They are kept. This is tried again by itself.',
);

/**
 * The clock of a ledger. It is stopped while a batch is decided and recorded, so that the state that runs ahead and the durable entries
 * have the same time.
 */
export class CommitClock {
  readonly #now: () => Date;
  #pinned: Date | undefined;

  constructor(now: () => Date) {
    this.#now = now;
  }

  /** Stops the clock and returns its time. */
  pin(): string {
    this.#pinned = this.#now();
    return this.#pinned.toISOString();
  }

  unpin(): void {
    this.#pinned = undefined;
  }

  read(): Date {
    return this.#pinned ?? this.#now();
  }
}
