import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface CrowdPlan {
  readonly hosts: number;
  /** The number of agents on each host. */
  readonly agents: number;
  /** The number of chains of work in progress. Agents without work wait. */
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
  /** The share of unused processor time. */
  readonly idle: number;
}

/** The order for one process, which simulates the agents of some hosts. */
export type CrowdOrder = {
  readonly system: 'baton' | 'graphile';
  readonly plan: CrowdPlan;
  readonly places: readonly string[];
};

/** The times of handoffs by name: different processes measure giving and taking, on a common clock. */
interface CrowdTimes {
  readonly given: readonly (readonly [name: string, ms: number])[];
  readonly taken: readonly (readonly [name: string, ms: number])[];
}

const PROCESSES = 4;
/** The share of the run that does not count: all agents start at once, and hosts fill up. */
const WARM_UP = 0.2;

/** Runs agents in a few processes for the time of the plan; `places` are the hosts' addresses. */
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

/** A working time, exponentially distributed, as if each agent could end at any moment. */
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
