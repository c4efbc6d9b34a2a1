import type { StageView } from '../../api/stage-views.ts';
import { ACTIVITIES, type Activity } from '../../protocol/phase.ts';
import type { Stage, Times } from '../../state/timeline/visits.ts';

type TimeName = `${Exclude<Activity, 'done' | 'cancelled'>}_ms`;

/** A stage or a step as a strip shows it. A stage of the API has this form too. */
export interface StripStage extends Pick<StageView, 'name' | 'status' | 'visits' | 'activity' | 'outcome'> {
  readonly pending_ms?: number;
  readonly queued_ms?: number;
  readonly running_ms?: number;
  readonly checks_ms?: number;
  readonly merging_ms?: number;
  readonly waiting_ms?: number;
  readonly blocked_ms?: number;
  /** When `activity` began, if the sums do not include that time yet. */
  readonly since?: string;
}

/** The activities that take time, in the order of a strip. */
export const TIMED = ['pending', 'queued', 'running', 'checks', 'merging', 'waiting', 'blocked'] as const;
export type Timed = (typeof TIMED)[number];

export interface Segment {
  readonly activity: Timed;
  readonly ms: number;
}

/** The time spent at a stage up to now, by activity. Activities without time are omitted. */
export function segmentsOf(stage: StripStage, nowMs: number): readonly Segment[] {
  return TIMED.flatMap((activity) => {
    const name: TimeName = `${activity}_ms`;
    const isOpen = stage.since !== undefined && stage.activity === activity;
    const ms = (stage[name] ?? 0) + (isOpen ? Math.max(0, nowMs - Date.parse(stage.since ?? '')) : 0);
    return ms > 0 ? [{ activity, ms }] : [];
  });
}

/**
 * Converts a stage. `since`: when the current activity began; its time is added when it is shown, so that a row changes
 * only with an entry.
 */
export function stripStage({ ms, ...stage }: Stage, since: string): StripStage {
  return { ...stage, ...timesOf(ms), ...(stage.status === 'now' ? { since } : {}) };
}

function timesOf(ms: Times): Partial<Record<TimeName, number>> {
  const known = ACTIVITIES.flatMap((activity) => (ms[activity] ? [[`${activity}_ms`, ms[activity]] as const] : []));
  return Object.fromEntries(known);
}

export const ACTIVITY_WORDS: Readonly<Record<Activity, string>> = {
  pending: 'waits for other tasks',
  queued: 'queued',
  running: 'running',
  checks: 'checks',
  merging: 'merging',
  waiting: 'waits for a person',
  blocked: 'blocked',
  done: 'done',
  cancelled: 'cancelled',
};
