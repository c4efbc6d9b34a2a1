import type { Activity } from '../../protocol/phase.ts';
import type { Phase } from '../../protocol/phase.ts';

/** How a task has spent its time. Immutable. */
export interface Timeline {
  /** Newest last. Each lasts until the next one begins, the last one until now. */
  readonly spans: readonly Span[];
  /** The spans that are no longer listed; missing if all are. */
  readonly older?: OlderSpans;
  /** The open decisions about the task; missing if there are none. */
  readonly asked?: readonly string[];
  /** The agents under its claim that wait for a person; missing if none does. */
  readonly parked?: readonly string[];
}

export interface Span {
  readonly activity: Activity;
  /** The phase in which it began; of a blocked task, the phase that is blocked. */
  readonly phase: Phase;
  /** A stage that Baton itself plays. */
  readonly gate?: 'ci' | 'merge';
  /** The role that has the task, or whose turn it is. */
  readonly role?: string;
  /** How often the work had gone back to the fixer. */
  readonly round: number;
  /** The claim, if there is one. */
  readonly epoch?: number;
  readonly holder?: string;
  readonly from: string;
  /** How its claim, its checks or its merge ended. */
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
  // A clock may have been set back between two entries.
  return Math.max(0, Date.parse(to) - Date.parse(from));
}

/** Milliseconds by activity, up to now. The sums hold for the whole life of the task. */
export function sumTimes({ spans, older }: Timeline, now: string): Readonly<Partial<Record<Activity, number>>> {
  const sums: Partial<Record<Activity, number>> = { ...older?.ms };
  for (const [i, { activity, from }] of spans.entries())
    sums[activity] = (sums[activity] ?? 0) + spanMs(from, spans[i + 1]?.from ?? now);
  return sums;
}
