import type { EventType } from '../event.ts';

/** From this level on entries have their numbers within tasks (version 2 of the format). */
export const NUMBERED_LEVEL = 4;

/** The level from which a type of entry may be written; 1 for every type that is not listed. */
export type EntryLevels = { readonly [T in EventType]?: number };

/**
 * A new type of entry is added here with the next `LEDGER_LEVEL`. A fleet writes it once every live host can read it:
 * until then the ledger's level is lower, and the commands that would write it wait.
 */
export const ENTRY_LEVELS: EntryLevels = {
  BranchMoved: 3,
  ConstraintWaived: 3,
  DecisionAnswered: 2,
  DecisionAnswerWithdrawn: 2,
  NoteAdded: 2,
  PageKeyAdded: 2,
  PageKeyRevoked: 2,
  TaskRulesMoved: 3,
  VerdictUnproven: 3,
  VerdictConfirmed: 3,
  RunAcknowledged: 3,
  StoreRepaired: 4,
  TaskCounted: NUMBERED_LEVEL,
  TaskProposed: 4,
  ProposalsSettled: 4,
  CheckQuestioned: 4,
};
