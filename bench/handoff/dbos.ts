import type { Contender, Seat } from './contender.ts';
import { importPeer, missingPeers } from './peers.ts';
import { openPostgres } from './postgres-venue.ts';

/**
 * One durable queue per seat; the workflow enqueues the next one for the other seat and returns. DBOS polls PostgreSQL
 * at an interval, which is set to the minimum, and each process listens only to its own queue.
 */
export const dbos: Contender = {
  key: 'dbos',
  name: 'DBOS 5.3.0 (PostgreSQL)',
  findMissing: () => missingPeers('@dbos-inc/dbos-sdk'),
  open: openPostgres,
  async fill(seat) {
    const { DBOSClient } = await importPeer<DbosModule>('@dbos-inc/dbos-sdk');
    const { DBOS } = await launch(seat, []);
    await DBOS.shutdown();
    const client = await DBOSClient.create({ systemDatabaseUrl: seat.address, applicationName: 'bench' });
    const options = { workflowName: 'work', queueName: seat.mine, appVersion: '1' };
    for (let i = 0; i < seat.batons; i++) await client.enqueue(options, 0);
    await client.destroy();
  },
  async join(seat) {
    const { DBOS } = await launch(seat, [seat.mine]);
    return async () => DBOS.shutdown();
  },
};

/** Set once per process. */
let registered: Work | undefined;

async function launch(seat: Seat, listenQueues: readonly string[]): Promise<DbosModule> {
  const module = await importPeer<DbosModule>('@dbos-inc/dbos-sdk');
  const { DBOS } = module;
  registered ??= DBOS.registerWorkflow(
    async (n) => {
      await seat.work(n);
      const next = registered;
      if (seat.handOn(n) && next !== undefined) await DBOS.startWorkflow(next, { queueName: seat.theirs })(n + 1);
    },
    { name: 'work' },
  );
  DBOS.setConfig({
    name: 'bench',
    systemDatabaseUrl: seat.address,
    systemDatabasePoolSize: Math.max(10, seat.batons),
    applicationVersion: '1',
    executorID: seat.mine,
    listenQueues,
    logLevel: 'error',
  });
  await DBOS.launch();
  for (const queue of ['a', 'b'])
    await DBOS.registerQueue(queue, { minPollingIntervalMs: 1, onConflict: 'always_update' });
  return module;
}

type Work = (n: number) => Promise<void>;

/** The part of the module that is used here. */
interface DbosModule {
  DBOS: {
    setConfig(config: unknown): void;
    launch(): Promise<void>;
    shutdown(): Promise<void>;
    registerQueue(name: string, options: unknown): Promise<unknown>;
    registerWorkflow(work: Work, options: { name: string }): Work;
    startWorkflow(work: Work, options: { queueName: string }): (n: number) => Promise<unknown>;
  };
  DBOSClient: {
    create(
      options: unknown,
    ): Promise<{ enqueue(options: unknown, n: number): Promise<unknown>; destroy(): Promise<void> }>;
  };
}
