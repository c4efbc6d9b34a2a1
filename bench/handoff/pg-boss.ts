import type { Contender, Seat } from './contender.ts';
import { importPeer, missingPeers } from './peers.ts';
import { openPostgres } from './postgres-venue.ts';

/**
 * One queue per seat, with LISTEN/NOTIFY for immediate delivery; the handler sends the next job to the other queue and
 * returns.
 */
export const pgBoss: Contender = {
  key: 'pg-boss',
  name: 'pg-boss 12.35.0 (PostgreSQL)',
  findMissing: () => missingPeers('pg-boss'),
  open: openPostgres,
  async fill(seat) {
    const boss = await startBoss(seat);
    for (const queue of ['a', 'b']) await boss.createQueue(queue, { notify: true });
    await boss.insert(
      seat.mine,
      Array.from({ length: seat.batons }, () => ({ data: { n: 0 } })),
    );
    await boss.stop({ graceful: false });
  },
  async join(seat) {
    const boss = await startBoss(seat);
    const options = { localConcurrency: seat.batons, batchSize: 1, pollingIntervalSeconds: 0.5 };
    await boss.work(seat.mine, options, async ([job]) => {
      const n = job?.data.n ?? 0;
      await seat.work(n);
      if (seat.handOn(n)) await boss.send(seat.theirs, { n: n + 1 });
    });
    return async () => {
      // Running jobs fail at the end; their errors are ignored.
      boss.removeAllListeners('error');
      boss.on('error', () => {});
      await boss.stop({ graceful: false });
    };
  },
};

async function startBoss({ address, batons }: Seat): Promise<Boss> {
  const { PgBoss } = await importPeer<PgBossModule>('pg-boss');
  const boss = new PgBoss({
    connectionString: address,
    max: batons + 2,
    useListenNotify: true,
    supervise: false,
    schedule: false,
  });
  boss.on('error', (error) => console.error(error));
  await boss.start();
  return boss;
}

interface Job {
  data: { n: number };
}

interface Boss {
  removeAllListeners(name: 'error'): void;
  on(name: 'error', listen: (error: unknown) => void): void;
  start(): Promise<unknown>;
  stop(options: { graceful: boolean }): Promise<void>;
  createQueue(name: string, options: { notify: boolean }): Promise<void>;
  insert(name: string, jobs: readonly Job[]): Promise<unknown>;
  send(name: string, data: Job['data']): Promise<unknown>;
  work(name: string, options: object, handle: (jobs: readonly Job[]) => Promise<void>): Promise<unknown>;
}

/** The part of the module that is used here. */
interface PgBossModule {
  PgBoss: new (options: unknown) => Boss;
}
