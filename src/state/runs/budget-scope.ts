import { object, choice, text } from '../../protocol/shape/build-shape.ts';
import type { ValueOf } from '../../protocol/shape/shape.ts';

/**
 * What a budget limits: one run of an agent or a pipeline, a task over all its sessions, or a day (UTC) of the project.
 */
export const budgetScope = object({ kind: choice(['agent', 'pipeline', 'task', 'day']), id: text });
export type BudgetScope = ValueOf<typeof budgetScope>;

/** The record of a budget; a budget without events has none. */
export interface BudgetRecord {
  readonly scope: BudgetScope;
  /** How often the budget's own amount was added to it. */
  readonly raises: number;
  readonly isWarned: boolean;
  /** Whether people were notified that its cost cannot be measured. */
  readonly isUnpriced: boolean;
  readonly decisionId: string | null;
  /** For a day: whether a person denied more, so that workers do not ask again. */
  readonly isClosed: boolean;
}

export const MEASURES = ['tokens', 'cost', 'time'] as const;
export type Measure = (typeof MEASURES)[number];
