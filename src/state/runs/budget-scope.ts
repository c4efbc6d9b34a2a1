/** Whose spending a budget limits: one run of an agent or a pipeline, a task over all its sessions, or a day (UTC) of the project. */
export interface BudgetScope {
  readonly kind: 'agent' | 'pipeline' | 'task' | 'day';
  readonly id: string;
}

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
