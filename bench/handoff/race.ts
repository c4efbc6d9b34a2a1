import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Contender, Race } from './contender.ts';
import type { Order, Report, Times } from './worker.ts';

const POLL_MS = 50;
const LEAVE_MS = 5000;
const FILL_MS = 120_000;

export interface Raced {
  readonly a: Times;
  readonly b: Times;
}

/** Runs two workers and the servers in separate processes, and ends all of them afterwards. */
export async function race(contender: Contender, plan: Race, workerArgs: readonly string[] = []): Promise<Raced> {
  const venue = await contender.open();
  const workers = [startWorker(workerArgs), startWorker(workerArgs)] as const;
  try {
    const [a, b] = workers;
    const sit = { kind: 'sit', contender: contender.key, address: venue.address, race: plan } as const;
    await Promise.all([tell(a, { ...sit, mine: 'a' }), tell(b, { ...sit, mine: 'b' })]);
    await tell(a, { kind: 'fill' });
    await Promise.all([tell(b, { kind: 'join' }), tell(a, { kind: 'join' })]);
    await untilOver(workers, plan);
    const [ofA, ofB] = await Promise.all([tell(a, { kind: 'stop' }), tell(b, { kind: 'stop' })]);
    await Promise.all(workers.map((worker) => Promise.race([tell(worker, { kind: 'leave' }), delay(LEAVE_MS)])));
    if (ofA.times === undefined || ofB.times === undefined) throw new Error('a worker lost its times');
    return { a: ofA.times, b: ofB.times };
  } finally {
    await Promise.all(workers.map(end));
    await venue.close();
  }
}

async function untilOver(workers: readonly ChildProcess[], { handoffs, limitMs }: Race): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (performance.now() < deadline) {
    await delay(POLL_MS);
    const counts = await Promise.all(workers.map((worker) => tell(worker, { kind: 'count' })));
    if (counts.reduce((sum, { count }) => sum + count, 0) > handoffs) return;
  }
}

function startWorker(args: readonly string[]): ChildProcess {
  return fork(join(import.meta.dirname, 'worker.ts'), [], {
    execArgv: ['--disable-warning=ExperimentalWarning', '--no-deprecation', ...args],
    env: { ...process.env, RESTATE_LOGGING: 'ERROR' },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    serialization: 'advanced',
  });
}

async function tell(worker: ChildProcess, order: Order): Promise<Extract<Report, { ok: true }>> {
  const gone = new AbortController();
  try {
    const answer = once(worker, 'message', { signal: AbortSignal.any([gone.signal, AbortSignal.timeout(FILL_MS)]) });
    worker.once('exit', () => gone.abort(new Error('a worker ended')));
    worker.send(order);
    const [report] = (await answer) as [Report]; // oxlint-disable-line typescript/no-unsafe-type-assertion
    if (!report.ok) throw new Error(report.error);
    return report;
  } finally {
    worker.removeAllListeners('exit');
  }
}

async function end(worker: ChildProcess): Promise<void> {
  if (worker.exitCode !== null || worker.signalCode !== null) return;
  worker.kill('SIGKILL');
  await once(worker, 'exit');
}
