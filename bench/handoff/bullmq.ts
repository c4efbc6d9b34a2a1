import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Contender, Seat, Venue } from './contender.ts';
import { hasProgram, importPeer, missingPeers } from './peers.ts';

/**
 * One queue per seat; the processor adds the next job to the other queue and returns. Redis syncs every write before it
 * answers. Finished jobs are removed; a worker takes as many jobs at once as there are batons.
 */
export const bullmq: Contender = {
  key: 'bullmq',
  name: 'BullMQ 6.7.0 (Redis, appendfsync always)',
  findMissing: () => [...missingPeers('bullmq', 'ioredis'), ...(hasProgram('redis-server') ? [] : ['redis-server'])],
  open: openRedis,
  async fill(seat) {
    const { Queue } = await importPeer<BullMq>('bullmq');
    const queue = new Queue(seat.mine, settings(seat));
    await queue.addBulk(Array.from({ length: seat.batons }, () => ({ name: 'job', data: { n: 0 } })));
    await queue.close();
  },
  async join(seat) {
    const { Queue, Worker } = await importPeer<BullMq>('bullmq');
    const theirs = new Queue(seat.theirs, settings(seat));
    await theirs.waitUntilReady();
    const work = async ({ data: { n } }: Job): Promise<void> => {
      await seat.work(n);
      if (seat.handOn(n)) await theirs.add('job', { n: n + 1 });
    };
    const worker = new Worker(seat.mine, work, { ...settings(seat), concurrency: seat.batons });
    await worker.waitUntilReady();
    return async () => {
      await worker.close(true);
      await theirs.close();
    };
  },
};

function settings({ address }: Seat) {
  return {
    connection: { path: address, maxRetriesPerRequest: null },
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
  };
}

const START_MS = 10_000;

async function openRedis(): Promise<Venue> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-redis-'));
  const address = join(folder, 'redis.sock');
  const options = { port: '0', unixsocket: address, dir: folder, appendonly: 'yes', appendfsync: 'always', save: '' };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  const server = spawn('redis-server', args, { stdio: 'ignore' });
  const deadline = performance.now() + START_MS;
  while (!existsSync(address)) {
    if (server.exitCode !== null || performance.now() > deadline) throw new Error('redis-server did not start');
    await delay(10);
  }
  return {
    address,
    async close() {
      server.kill('SIGKILL');
      await once(server, 'exit');
      rmSync(folder, { recursive: true });
    },
  };
}

interface Job {
  data: { n: number };
}

/** The part of the module that is used here. */
interface BullMq {
  Queue: new (
    name: string,
    options: unknown,
  ) => {
    add(name: string, data: unknown): Promise<unknown>;
    addBulk(jobs: readonly { name: string; data: unknown }[]): Promise<unknown>;
    waitUntilReady(): Promise<unknown>;
    close(): Promise<void>;
  };
  Worker: new (
    name: string,
    work: (job: Job) => Promise<void>,
    options: unknown,
  ) => {
    waitUntilReady(): Promise<unknown>;
    close(force: boolean): Promise<void>;
  };
}
