import type { ScriptStep } from './steps.ts';

export interface PlanEntry {
  readonly content: string;
  readonly status: 'pending' | 'in_progress' | 'completed';
  readonly priority: 'high' | 'medium' | 'low';
}

/** An entry that is only a text is pending. */
export function planEntries(given: Extract<ScriptStep, { do: 'plan' }>['with']): PlanEntry[] {
  return given.map((entry) => ({
    status: 'pending',
    priority: 'medium',
    ...(typeof entry === 'string' ? { content: entry } : entry),
  }));
}
