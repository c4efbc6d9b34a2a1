import { object, choice, text } from '../../protocol/shape/build-shape.ts';
import type { ValueOf } from '../../protocol/shape/shape.ts';

/** Whose spending a budget limits: one run of an agent or a pipeline, a task over all its sessions, or a day (UTC) of the project. */
export const budgetScope = object({ kind: choice(['agent', 'pipeline', 'task', 'day']), id: text });
export type BudgetScope = ValueOf<typeof budgetScope>;

/** A budget that has had no event has no record. */
export interface BudgetRecord {
  readonly scope: BudgetScope;
  /** How many times its own amount was added. */
  readonly raises: number;
  readonly isWarned: boolean;
  /** People were notified that its cost cannot be measured. */
  readonly isUnpriced: boolean;
  readonly decisionId: string | null;
  /** Of a day: a person denied more, and workers do not ask again. */
  readonly isClosed: boolean;
}

export const MEASURES = ['tokens', 'cost', 'time'] as const;
export type Measure = (typeof MEASURES)[number];
