import { availableParallelism, loadavg } from 'node:os';
import type { Contender, Race } from './handoff/contender.ts';
import { CONTENDERS } from './handoff/contenders.ts';
import { latencyOf, throughputOf, type Latency } from './handoff/figures.ts';
import { race } from './handoff/race.ts';
import type { Benchmark, Measure } from './measure.ts';
import { atLeast, atMost } from './measure.ts';

/**
 * The number of runs of each system, in turns; its best run counts, because other load on the machine affects single
 * runs only.
 */
const ROUNDS = 3;
/** Excluded rounds, because servers run for long and their start is not compared. */
const WARM_UP = 600;
const ONE_BATON: Race = { batons: 1, workMs: 3, handoffs: WARM_UP + 500, limitMs: 20_000 };
const MANY_BATONS: Race = { batons: 32, workMs: 0, handoffs: 60_000, limitMs: 8000 };

/**
 * The time from the end of a job to the start of the next in another process's worker: Baton's exit signal compared
 * with five peers.
 */
export const handoff: Benchmark = {
  name: 'handoff',
  async run() {
    warnIfBusy();
    const present = CONTENDERS.filter(isPresent);
    const figures = new Map<Contender, Figures>();
    for (let i = 0; i < ROUNDS; i++) {
      for (const contender of present) figures.set(contender, best(figures.get(contender), await measure(contender)));
    }
    const [ours, ...peers] = present.map((contender) => figureOf(contender, figures));
    if (ours === undefined) return [];
    const measures = peers.flatMap((peer) => compare(ours, peer));
    const fastest = peers.toSorted((one, other) => other.perSecond - one.perSecond)[0];
    return fastest === undefined ? measures : [...measures, throughput(3, ours, fastest, 'the fastest peer, ')];
  },
};

export interface Figures {
  readonly latency: Latency;
  readonly perSecond: number;
}

export function isPresent({ name, findMissing }: Contender): boolean {
  const missing = findMissing();
  if (missing.length === 0) return true;
  console.error(
    `NOT MEASURED ${name}: missing ${missing.join(', ')}; install it with: node bench/handoff/install-peers.ts`,
  );
  return false;
}

/** Reports the load of the machine, because it affects even ratios within one run. */
export function warnIfBusy(): void {
  const [load = 0] = loadavg();
  const processors = availableParallelism();
  if (load > processors / 2)
    console.error(`BUSY MACHINE: a load of ${load.toFixed(1)} on ${processors} processors; these figures say little`);
}

export async function measure(contender: Contender): Promise<Figures> {
  const latency = latencyOf(await race(contender, ONE_BATON), WARM_UP);
  return { latency, perSecond: throughputOf(await race(contender, MANY_BATONS)) };
}

export function best(one: Figures | undefined, other: Figures): Figures {
  if (one === undefined) return other;
  return {
    latency: one.latency.medianMs < other.latency.medianMs ? one.latency : other.latency,
    perSecond: Math.max(one.perSecond, other.perSecond),
  };
}

export type Named = Figures & { readonly name: string };

export function figureOf(contender: Contender, figures: ReadonlyMap<Contender, Figures>): Named {
  const found = figures.get(contender);
  if (found === undefined) throw new Error(`${contender.name} was not measured`);
  return { name: contender.name, ...found };
}

function compare(ours: Named, peer: Named): Measure[] {
  const inMs = { unit: 'ms', against: peer.name } as const;
  return [
    atMost(1, { name: 'handoff, median', value: ours.latency.medianMs, limit: peer.latency.medianMs, ...inMs }),
    atMost(1, { name: 'handoff, p99', value: ours.latency.p99Ms, limit: peer.latency.p99Ms, ...inMs }),
    throughput(1, ours, peer, ''),
  ];
}

function throughput(times: number, ours: Named, peer: Named, which: string): Measure {
  const [value, limit] = [ours.perSecond, peer.perSecond];
  return atLeast(times, { name: 'handoffs, 32 at once', value, unit: '/s', against: `${which}${peer.name}`, limit });
}
