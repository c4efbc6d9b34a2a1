import { object, oneOf, text } from '../../protocol/shape/build-shape.ts';
import type { ValueOf } from '../../protocol/shape/shape.ts';

/** Whose spending a budget limits: one run of an agent or a pipeline, a task over all its sessions, or a day (UTC) of the project. */
export const budgetScope = object({ kind: oneOf('agent', 'pipeline', 'task', 'day'), id: text });
export type BudgetScope = ValueOf<typeof budgetScope>;

/** What has happened to a budget. One that nobody was told of has none. */
export interface BudgetRecord {
  readonly scope: BudgetScope;
  /** By how often its own amount it was raised. */
  readonly raises: number;
  readonly isWarned: boolean;
  /** People know that its cost cannot be watched. */
  readonly isUnpriced: boolean;
  /** The question about it, the newest. */
  readonly decisionId: string | null;
  /** Of a day: a person has decided that there is no more, and workers do not ask again. */
  readonly isClosed: boolean;
}

export const MEASURES = ['tokens', 'cost', 'time'] as const;
export type Measure = (typeof MEASURES)[number];
