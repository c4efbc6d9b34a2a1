import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface CrowdPlan {
  readonly hosts: number;
  /** On each host. */
  readonly agents: number;
  /** How much work goes round. The agents that have none wait for it. */
  readonly batons: number;
  /** How long the work on a job takes on average. */
  readonly workMs: number;
  readonly ms: number;
}

export interface Crowd {
  readonly count: number;
  readonly perSecond: number;
  readonly medianMs: number;
  readonly p99Ms: number;
  /** The share of the processors that nobody used. */
  readonly idle: number;
}

/** The work of one process, which plays the agents of some hosts. */
export type CrowdOrder = {
  readonly system: 'baton' | 'graphile';
  readonly plan: CrowdPlan;
  readonly places: readonly string[];
};

/** Handoffs by their names: given and taken are measured in different processes, on the clock that they share. */
interface CrowdTimes {
  readonly given: readonly (readonly [name: string, ms: number])[];
  readonly taken: readonly (readonly [name: string, ms: number])[];
}

const PROCESSES = 4;
/** Everybody starts at once, and hosts fill up: what counts is what comes after that. */
const WARM_UP = 0.2;

/** Agents in a few processes, for the time of the plan; `places` are those of the hosts. */
export async function runCrowd(
  system: CrowdOrder['system'],
  plan: CrowdPlan,
  places: readonly string[],
): Promise<Crowd> {
  const parts = Array.from({ length: PROCESSES }, (_, n) => places.filter((__, i) => i % PROCESSES === n));
  const before = readProcessors();
  const begun = nowMs();
  const times = await Promise.all(parts.map(async (part) => runPart({ system, plan, places: part })));
  const after = readProcessors();
  const taken = new Map(times.flatMap((each) => [...each.taken]));
  const waits = times
    .flatMap((each) => [...each.given])
    .filter(([, ms]) => ms > begun + plan.ms * WARM_UP)
    .flatMap(([name, ms]) => {
      const arrived = taken.get(name);
      return arrived === undefined ? [] : [arrived - ms];
    })
    .toSorted((one, other) => one - other);
  const at = (share: number): number => waits[Math.floor(waits.length * share)] ?? Number.NaN;
  return {
    count: waits.length,
    perSecond: waits.length / ((plan.ms * (1 - WARM_UP)) / 1000),
    medianMs: at(0.5),
    p99Ms: at(0.99),
    idle: (after.idle - before.idle) / (after.all - before.all),
  };
}

export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Exponentially distributed, as if each agent ended at any moment. */
export function workTimeOf({ workMs }: CrowdPlan): number {
  return -Math.log(1 - Math.random()) * workMs;
}

async function runPart(order: CrowdOrder): Promise<CrowdTimes> {
  const child = fork(join(import.meta.dirname, 'crowd-worker.ts'), [], {
    execArgv: ['--disable-warning=ExperimentalWarning', '--no-deprecation'],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  child.send(order);
  const ended = once(child, 'exit').then(() => {
    throw new Error('a process of agents ended');
  });
  const [times] = (await Promise.race([once(child, 'message'), ended])) as [CrowdTimes]; // oxlint-disable-line typescript/no-unsafe-type-assertion
  ended.catch(() => undefined);
  child.kill('SIGKILL');
  return times;
}

function readProcessors(): { readonly idle: number; readonly all: number } {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
  const times = line.split(/\s+/).slice(1, 9).map(Number);
  return { idle: (times[3] ?? 0) + (times[4] ?? 0), all: times.reduce((sum, time) => sum + time, 0) };
}
