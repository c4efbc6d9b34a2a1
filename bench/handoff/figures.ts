import type { Raced } from './race.ts';
import type { Times } from './worker.ts';

export interface Latency {
  readonly medianMs: number;
  readonly p99Ms: number;
  readonly count: number;
}

/** The latency with one baton, from one worker to the other, without the warm-up rounds. */
export function latencyOf({ a, b }: Raced, warmUp: number): Latency {
  const waits = [...waitsBetween(a, b), ...waitsBetween(b, a)];
  const warm = waits.filter(({ round }) => round > warmUp).map(({ ms }) => ms);
  const sorted = warm.toSorted((one, other) => one - other);
  const [least] = sorted;
  if (least === undefined || least <= 0) throw new Error(`${warm.length} handoffs measured, the least ${least} ms`);
  return { medianMs: at(sorted, 0.5), p99Ms: at(sorted, 0.99), count: sorted.length };
}

function waitsBetween({ given }: Times, { taken }: Times): { round: number; ms: number }[] {
  const takenAt = new Map(taken.map(({ round, ms }) => [round, ms]));
  return given.flatMap(({ round, ms }) => {
    const arrived = takenAt.get(round + 1);
    return arrived === undefined ? [] : [{ round, ms: arrived - ms }];
  });
}

/** The throughput with many batons: jobs started per second in the second half of the time, after the warm-up. */
export function throughputOf({ a, b }: Raced): number {
  const taken = [...a.taken, ...b.taken].map(({ ms }) => ms).toSorted((one, other) => one - other);
  const [first, last] = [taken[0], taken.at(-1)];
  if (first === undefined || last === undefined || taken.length < 100) throw new Error('too few handoffs to say');
  const from = first + (last - first) / 2;
  const counted = taken.filter((time) => time > from).length;
  return (counted * 1000) / (last - from);
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
