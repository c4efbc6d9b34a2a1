import type { Contender, Seat } from './contender.ts';
import { importPeer, missingPeers } from './peers.ts';
import { openPostgres } from './postgres-venue.ts';

/**
 * One task name per seat; the task adds the other seat's job with the worker's own connection and returns. NOTIFY wakes
 * the other worker. With many batons it is configured as its documentation on performance recommends: jobs are fetched
 * and completed in batches.
 */
export const graphileWorker: Contender = {
  key: 'graphile-worker',
  name: 'graphile-worker 0.18.0 (PostgreSQL)',
  findMissing: () => missingPeers('graphile-worker'),
  open: openPostgres,
  async fill(seat) {
    const { makeWorkerUtils } = await importPeer<GraphileWorker>('graphile-worker');
    const utils = await makeWorkerUtils({ preset: await preset(seat) });
    await utils.migrate();
    await utils.addJobs(Array.from({ length: seat.batons }, () => ({ identifier: seat.mine, payload: { n: 0 } })));
    await utils.release();
  },
  async join(seat) {
    const { run } = await importPeer<GraphileWorker>('graphile-worker');
    const work: Task = async ({ n }, { addJob }) => {
      await seat.work(n);
      if (seat.handOn(n)) await addJob(seat.theirs, { n: n + 1 });
    };
    const runner = await run({ preset: await preset(seat), taskList: { [seat.mine]: work }, noHandleSignals: true });
    return async () => runner.stop();
  },
};

async function preset({ address, batons }: Seat) {
  const { Logger } = await importPeer<GraphileWorker>('graphile-worker');
  const batches = { localQueue: { size: batons + 1 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 };
  return {
    worker: {
      connectionString: address,
      concurrentJobs: batons,
      maxPoolSize: batons + 2,
      crontabFile: '/dev/null',
      // The default logger would log every job.
      logger: new Logger(() => () => {}),
      ...(batons > 1 ? batches : {}),
    },
  };
}

type Task = (
  payload: { n: number },
  helpers: { addJob: (name: string, payload: unknown) => Promise<unknown> },
) => Promise<void>;

/** The part of the module that is used here. */
interface GraphileWorker {
  Logger: new (factory: () => () => void) => unknown;
  makeWorkerUtils: (options: unknown) => Promise<{
    migrate(): Promise<void>;
    addJobs(jobs: readonly { identifier: string; payload: unknown }[]): Promise<unknown>;
    release(): Promise<void>;
  }>;
  run: (options: unknown) => Promise<{ stop(): Promise<void> }>;
}
