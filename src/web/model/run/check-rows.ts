import { fieldOf, objectsOf, textOf } from '../../../protocol/shape/read-unknown.ts';
import { type RunEntry, word } from './run-entry.ts';
import type { TimelineRow } from './timeline-row.ts';

/** The entries about a task's checks and merges. */
export const CHECK_TYPES = ['ChecksRequested', 'CheckFinished', 'ChecksFinished', 'MergeFinished'] as const;

interface CheckRun {
  readonly id: string;
  readonly requestedAt: string;
  /** When the current check began. */
  since: string;
  /** The checks without an outcome, in the order in which they run. */
  readonly left: Map<string, { readonly isOwn: boolean }>;
  /** The checks that Baton runs; their logs are numbered from 0. */
  readonly own: readonly string[];
}

/**
 * Lists a row for each check, with the end of its output. Baton runs its checks one after the other; other systems run
 * theirs at the same time.
 */
export function listChecks(entries: readonly RunEntry[]): readonly TimelineRow[] {
  const rows: Omit<TimelineRow, 'round'>[] = [];
  const open = new Map<string, CheckRun>();
  for (const entry of entries.toSorted((a, b) => a.seq - b.seq)) {
    const id = word(entry, 'checks_id');
    if (entry.type === 'ChecksRequested') open.set(id, beginRun(id, entry));
    const run = open.get(id);
    if (run === undefined) continue;
    if (entry.type === 'ChecksFinished') open.delete(id);
    if (entry.type === 'CheckFinished') rows.push(endCheck(run, entry));
  }
  for (const run of open.values()) rows.push(...runningChecks(run));
  const rounds = new Map<string, number>();
  return rows.map((row) => {
    const round = (rounds.get(row.label) ?? 0) + 1;
    rounds.set(row.label, round);
    return { ...row, round };
  });
}

function beginRun(id: string, { at, data }: RunEntry): CheckRun {
  const plans = objectsOf(fieldOf(data, 'checks'));
  const left = plans.map(({ name, run }) => [textOf(name), { isOwn: typeof run === 'string' }] as const);
  const own = left.flatMap(([name, { isOwn }]) => (isOwn ? [name] : []));
  return { id, requestedAt: at, since: at, left: new Map(left), own };
}

function endCheck(run: CheckRun, entry: RunEntry): Omit<TimelineRow, 'round'> {
  const name = word(entry, 'name');
  const isOwn = run.left.get(name)?.isOwn === true;
  run.left.delete(name);
  const from = isOwn ? run.since : run.requestedAt;
  if (isOwn) run.since = entry.at;
  const ended = { outcome: word(entry, 'outcome'), output: word(entry, 'output'), seq: entry.seq };
  return { ...checkRow(run, name, from, entry.at), ...ended };
}

function runningChecks(run: CheckRun): Omit<TimelineRow, 'round'>[] {
  const [next] = [...run.left].find(([, { isOwn }]) => isOwn) ?? [];
  const elsewhere = [...run.left].filter(([, { isOwn }]) => !isOwn);
  return [
    ...(next === undefined ? [] : [checkRow(run, next, run.since, null)]),
    ...elsewhere.map(([name]) => checkRow(run, name, run.requestedAt, null)),
  ];
}

function checkRow({ id, own }: CheckRun, name: string, from: string, to: string | null): Omit<TimelineRow, 'round'> {
  const segments = [{ activity: 'checks', from, to }] as const;
  const row = { key: `check ${id} ${name}`, kind: 'check', group: 'ci', label: name } as const;
  const number = own.indexOf(name);
  return { ...row, from, to, outcome: null, segments, ...(number === -1 ? {} : { commandId: `${id}.${number}` }) };
}

/** Places each check below the run in which it began. */
export function withChecks(rows: readonly TimelineRow[], checks: readonly TimelineRow[]): readonly TimelineRow[] {
  const rest = new Set(checks);
  const joined = rows.flatMap((row) => {
    const isInside = ({ from }: TimelineRow): boolean => from >= row.from && (row.to === null || from < row.to);
    const inside = row.kind === 'checks' ? [...rest].filter(isInside) : [];
    for (const check of inside) rest.delete(check);
    return [row, ...inside];
  });
  return [...joined, ...rest];
}

/** Adds the output to each merge that did not succeed. */
export function withMerges(rows: readonly TimelineRow[], entries: readonly RunEntry[]): readonly TimelineRow[] {
  const ends = entries.filter((entry) => entry.type === 'MergeFinished' && word(entry, 'outcome') !== 'merged');
  return rows.map((row) => {
    const end =
      row.kind === 'merge' && row.to !== null
        ? ends.find(({ at }) => at > row.from && at <= (row.to ?? ''))
        : undefined;
    if (end === undefined) return row;
    const output = [word(end, 'reason'), word(end, 'output')].filter((text) => text !== '').join('\n');
    return { ...row, output, seq: end.seq };
  });
}
