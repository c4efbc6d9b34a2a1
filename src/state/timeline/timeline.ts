import type { Activity } from '../../protocol/phase.ts';
import type { Phase } from '../../protocol/phase.ts';

/** How a task has spent its time. Immutable. */
export interface Timeline {
  /** The spans, newest last. Each lasts until the next one begins, the last one until now. */
  readonly spans: readonly Span[];
  /** The spans that are no longer listed; absent if all are. */
  readonly older?: OlderSpans;
  /** The open decisions about the task; absent if there are none. */
  readonly asked?: readonly string[];
  /** The agents under its claim that wait for a person; absent if there are none. */
  readonly parked?: readonly string[];
}

export interface Span {
  readonly activity: Activity;
  /** The phase at the start of the span; for a blocked task, the phase that is blocked. */
  readonly phase: Phase;
  /** Set for a stage that Baton itself performs. */
  readonly gate?: 'ci' | 'merge';
  /** The role that has the task, or that works next. */
  readonly role?: string;
  /** How often the work had returned to the fixer. */
  readonly round: number;
  /** The claim, if there is one. */
  readonly epoch?: number;
  readonly holder?: string;
  readonly from: string;
  /** How the span's claim, checks or merge ended. */
  readonly outcome?: string;
}

interface OlderSpans {
  readonly from: string;
  readonly ms: Readonly<Partial<Record<Activity, number>>>;
}

export interface Timelines {
  readonly timelines: Map<string, Timeline>;
}

/** How many spans stay listed per task: about ten rounds of a workflow. */
export const KEPT_SPANS = 100;

export function spanMs(from: string, to: string): number {
  // Never negative, because a clock may have been set back between two entries.
  return Math.max(0, Date.parse(to) - Date.parse(from));
}

/** Milliseconds by activity, up to now. The sums hold for the whole life of the task. */
export function sumTimes({ spans, older }: Timeline, now: string): Readonly<Partial<Record<Activity, number>>> {
  const sums: Partial<Record<Activity, number>> = { ...older?.ms };
  for (const [i, { activity, from }] of spans.entries())
    sums[activity] = (sums[activity] ?? 0) + spanMs(from, spans[i + 1]?.from ?? now);
  return sums;
}
