import type { Timed } from '../strip.ts';

/** One bar of a timeline: a session, a check, a merge, a step, a process, or a wait for a person. */
export interface TimelineRow {
  readonly key: string;
  readonly kind: 'session' | 'queue' | 'checks' | 'check' | 'merge' | 'wait' | 'step' | 'process';
  /** Rows of the same group are stacked under each other. */
  readonly group: string;
  readonly label: string;
  /** The number of the row among its kind in the group, from 1. */
  readonly round: number;
  readonly from: string;
  /** Null while it continues. */
  readonly to: string | null;
  readonly outcome: string | null;
  /** The segments in order of time, without gaps. */
  readonly segments: readonly TimelineSegment[];
  readonly agentId?: string;
  /** `TASK:EPOCH`, for a claim without a known agent. */
  readonly claim?: string;
  readonly decisionId?: string;
  readonly pipelineId?: string;
  /** The command whose log can be shown. */
  readonly commandId?: string;
  /** Its output, if recorded. */
  readonly output?: string;
  /** Seq of the entry with the output. */
  readonly seq?: number;
}

export interface TimelineSegment {
  readonly activity: Timed;
  readonly from: string;
  readonly to: string | null;
}

/** Numbers the rows of each group and kind, oldest first. The groups keep the order of their first row in `order`. */
export function stackRows(
  rows: readonly Omit<TimelineRow, 'round'>[],
  order: readonly string[] = [],
): readonly TimelineRow[] {
  const rank = new Map(
    [...order, ...rows.map(({ group }) => group)].map((group, _, all) => [group, all.indexOf(group)]),
  );
  const place = ({ group }: Pick<TimelineRow, 'group'>): number => rank.get(group) ?? rank.size;
  const sorted = rows.toSorted((a, b) => place(a) - place(b) || compareTimes(a.from, b.from));
  const counts = new Map<string, number>();
  return sorted.map((row) => {
    const kind = `${row.group} ${row.kind === 'queue' ? 'session' : row.kind} ${row.kind === 'check' ? row.label : ''}`;
    const round = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, round);
    return { ...row, round };
  });
}

function compareTimes(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
