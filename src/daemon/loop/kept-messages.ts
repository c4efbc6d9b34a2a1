import { problem } from '../../protocol/shape/problem.ts';

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
