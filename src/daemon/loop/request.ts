import { type Problem, problem } from '../../protocol/shape/problem.ts';
import type { Outcome, Refusal } from '../../state/outcome.ts';
import type { Rules } from '../../state/rules.ts';
import type { State } from '../../state/state.ts';
import type { ReadyTasks } from '../../state/tasks/ready.ts';

/** What a request sees when it is decided. */
export interface DecideContext {
  readonly state: State;
  readonly ready: ReadyTasks;
  readonly rules: Rules;
  /** The time that the entries will carry, as far as the decision needs one. */
  readonly at: string;
}

/** Nothing to decide yet: ask again when something has happened. */
export const LATER = 'later';

export interface CommandRequest<A> {
  readonly actor: string;
  /** A retry with the same key gets the first answer. */
  readonly key?: string;
  /** It comes from the outbox, in its turn: everything that was kept before it has been delivered. */
  readonly isKept?: boolean;
  /** Pure and quick; called again where somebody else was first. */
  readonly decide: (view: DecideContext) => Outcome<A> | typeof LATER;
  /** What is answered, from the state in which the request and all that follows from it is durable. */
  readonly answerAfterCommit?: (state: State) => A;
  /** What `LATER` depends on: it is not asked again while there is no task that anybody could claim. */
  readonly waitsFor?: 'work';
  /** How long `LATER` is acceptable, and what is answered then. */
  readonly waitLimit?: { readonly ms: number; readonly otherwise: Outcome<A>; readonly signal?: AbortSignal };
}

export type CommandResult<A> =
  | { readonly ok: true; readonly answer: A }
  | { readonly ok: false; readonly refusal: Refusal }
  | { readonly ok: false; readonly problem: Problem };

/** The messages of a project's sessions that were acknowledged and are not recorded yet. */
export interface KeptMessages {
  /** Whether there are any, at this moment. If that cannot be found out, there are. */
  areWaiting(): boolean;
  /** Records them in order; returns whether none is left. */
  drain(): Promise<boolean>;
  /** For how long they could not be recorded; 0 if nothing hinders them. */
  blockedMs(): number;
}

export const NO_KEPT_MESSAGES: KeptMessages = { areWaiting: () => false, drain: async () => true, blockedMs: () => 0 };

export const EARLIER_MESSAGES_UNRECORDED = problem(
  'store-unavailable',
  'earlier messages of this project are not recorded yet',
  'They are kept. This is tried again by itself.',
);

/**
 * The clock of a ledger. While a batch is decided and recorded it stands still, so that the state, which runs ahead, and the
 * entries, which follow, say the same time.
 */
export class CommitClock {
  readonly #now: () => Date;
  #pinned: Date | undefined;

  constructor(now: () => Date) {
    this.#now = now;
  }

  /** Stops the clock, and says what it shows. */
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
