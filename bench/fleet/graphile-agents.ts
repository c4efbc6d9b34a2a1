import { setTimeout as delay } from 'node:timers/promises';
import { importPeer } from '../handoff/peers.ts';
import { type CrowdPlan, workTimeOf } from './crowd.ts';
import type { CrowdRecord } from './crowd-worker.ts';

/** Runs the agents of one host: jobs of one worker, each of which adds the next job when its work is done. */
export async function runGraphileAgents(place: string, plan: CrowdPlan, record: CrowdRecord): Promise<void> {
  const { run, Logger } = await importPeer<GraphileWorker>('graphile-worker');
  const hand: Task = async ({ chain, n }, { addJob }) => {
    record.take(`${chain} ${n}`);
    await delay(workTimeOf(plan));
    if (record.give(`${chain} ${n + 1}`)) await addJob('hand', { chain, n: n + 1 });
  };
  await run({
    preset: {
      worker: {
        connectionString: place,
        concurrentJobs: plan.agents,
        maxPoolSize: 10,
        crontabFile: '/dev/null',
        logger: new Logger(() => () => {}),
      },
    },
    taskList: { hand },
    noHandleSignals: true,
  });
}

type Task = (
  payload: { chain: number; n: number },
  helpers: { addJob: (name: string, payload: unknown) => Promise<unknown> },
) => Promise<void>;

/** The part of the module that is used here. */
interface GraphileWorker {
  Logger: new (factory: () => () => void) => unknown;
  run: (options: unknown) => Promise<{ stop(): Promise<void> }>;
}
