import type { TaskOverview } from '../../../api/operations/task-view.ts';

/** How a dry run ended. */
export const DRY_RUN_OUTCOMES = ['merged', 'check-failed', 'stopped', 'timeout', 'interrupted', 'not-started'] as const;
type DryRunOutcome = (typeof DRY_RUN_OUTCOMES)[number];

export interface Verdict {
  readonly outcome: DryRunOutcome;
  /** Details for the person; empty after a merge. */
  readonly detail: string;
  /** The failed check, and the end of its output. */
  readonly check?: { readonly name: string; readonly output: string };
}

/** Undefined while the workflow runs. A script fixes nothing, so the first problem ends the dry run. */
export function judge(view: TaskOverview): Verdict | undefined {
  if (view.activity === 'done') return { outcome: 'merged', detail: '' };
  const failed = view.checks?.checks.find(({ outcome }) => outcome === 'failed');
  if (failed !== undefined) {
    const check = { name: failed.name, output: (failed.output ?? '').trim() };
    return { outcome: 'check-failed', detail: `check ${failed.name} failed`, check };
  }
  const asked = view.decisions.find(({ result }) => result === null);
  if (asked !== undefined)
    return { outcome: 'stopped', detail: view.blocked_because ?? (asked.context || asked.title) };
  if (view.activity === 'blocked' || view.activity === 'cancelled')
    return { outcome: 'stopped', detail: view.blocked_because ?? 'the task was cancelled' };
  return undefined;
}

/** Reports stages that have ended since the last call, one line each. */
export class StageProgress {
  readonly #shown = new Set<string>();

  linesOf({ stages }: Pick<TaskOverview, 'stages'>): readonly string[] {
    const ended = stages.filter(
      ({ name, status }) => (status === 'done' || status === 'failed') && !this.#shown.has(name),
    );
    return ended.map((stage) => {
      this.#shown.add(stage.name);
      const ms = stage.queued_ms + stage.running_ms + stage.checks_ms + stage.merging_ms;
      return `  ${stage.status === 'done' ? '✓' : '✗'} ${stage.name.padEnd(14)} ${(ms / 1000).toFixed(1)}s`;
    });
  }
}
