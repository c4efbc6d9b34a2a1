import { setTimeout as delay } from 'node:timers/promises';
import { runBatonAgents } from './baton-agents.ts';
import { type CrowdOrder, nowMs } from './crowd.ts';
import { runGraphileAgents } from './graphile-agents.ts';

/** The times measured in this process; agents report to it. */
export interface CrowdRecord {
  take(name: string): void;
  /** Returns false if the time is over and nothing is handed on. */
  give(name: string): boolean;
}

const given: [string, number][] = [];
const taken: [string, number][] = [];

process.once('message', (order: CrowdOrder) => void run(order));
process.on('disconnect', () => process.exit(1));

async function run({ system, plan, places }: CrowdOrder): Promise<void> {
  const until = nowMs() + plan.ms;
  const record: CrowdRecord = {
    take: (name) => void taken.push([name, nowMs()]),
    give(name) {
      if (nowMs() > until) return false;
      given.push([name, nowMs()]);
      return true;
    },
  };
  const agents = system === 'baton' ? runBatonAgents : runGraphileAgents;
  for (const place of places) agents(place, plan, record).catch((error: unknown) => console.error(error));
  await delay(plan.ms + GRACE_MS);
  process.send?.({ given, taken });
}

/** Handoffs of the last moment may still be taken within this time. */
const GRACE_MS = 3000;
