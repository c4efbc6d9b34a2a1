import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readLedger } from '../test/processes/ledger.ts';
import { findLedgerFile } from '../test/stores/find-ledger-file.ts';
import { Client } from '../src/api/client/client.ts';
import { startDaemon } from '../src/api/client/start-daemon.ts';
import { keepCall, listKept } from '../src/api/outbox.ts';
import { readDaemonRecord, stateFiles } from '../src/api/state-folder.ts';
import { textOf } from '../src/protocol/shape/read-unknown.ts';
import { warnIfBusy } from './handoff.ts';
import { atMost, type Benchmark, type Measure, median } from './measure.ts';

/** Large imports, large states and crowded outboxes: what a daemon must do without keeping anyone waiting. */
export const load: Benchmark = {
  name: 'load',
  async run() {
    warnIfBusy();
    return [...(await measureImport()), ...(await measureIdle()), ...(await measureDown()), ...(await measureOutbox())];
  },
};

/** A daemon with a repository whose runbook has the built-in workers. */
class Place {
  readonly folder = mkdtempSync(join(tmpdir(), 'baton-load-'));
  readonly stateDir = join(this.folder, 'state');
  readonly repository = join(this.folder, 'repository');

  static async open(): Promise<Place> {
    const place = new Place();
    mkdirSync(place.repository);
    const git = (...args: readonly string[]): string =>
      execFileSync('git', [...NAMED, ...args], { cwd: place.repository, encoding: 'utf8' });
    git('init', '--quiet');
    git('commit', '--quiet', '--allow-empty', '-m', 'first');
    await place.start();
    return place;
  }

  async start(): Promise<void> {
    const start = await startDaemon({ stateDir: this.stateDir, env: { ...process.env }, deadlineMs: 120_000 });
    if (start.kind !== 'listens') throw new Error(start.kind === 'failed' ? start.error.message : start.kind);
  }

  client(token?: string): Client {
    const given = token === undefined ? ({ ofFolder: 'operator' } as const) : { given: token };
    const { stateDir, repository: projectPath } = this;
    return new Client({ stateDir, env: process.env, token: given, projectPath, autostart: false, reachMs: 5000 });
  }

  get pid(): number {
    return readDaemonRecord(this.stateDir)?.pid ?? 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client().stop({ timeoutMs: 120_000 });
    rmSync(this.folder, { recursive: true });
  }
}

const NAMED = ['-c', 'user.name=b', '-c', 'user.email=b@example.org'];

async function call<R>(client: Client, operation: string, input: object): Promise<R> {
  const answer = await client.forward(operation, input, { timeoutMs: 120_000 });
  if (!answer.ok) throw new Error(`${operation}: ${answer.error.message}`);
  return answer.result as R; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

async function importTasks(client: Client, first: number, size: number, more: object = {}): Promise<void> {
  const tasks = Array.from({ length: size }, (_, i) => ({ task_id: `T-${first + i}`, title: 'a task', ...more }));
  await call(client, 'task_import', { source: 'bench', tasks });
}

const IMPORTED = 5000;

async function measureImport(): Promise<Measure[]> {
  await using place = await Place.open();
  const client = place.client();
  const watcher = place.client();
  await importTasks(client, 0, 1);
  // The built-in workers are recorded with the first workflow.
  await call(client, 'run_start', { name: 'issue', args: ['--task', 'T-0'], accept_no_checks: true });
  const waits: number[] = [];
  const done = new AbortController();
  const watching = (async () => {
    while (!done.signal.aborted) {
      const askedMs = performance.now();
      await call(watcher, 'task_get', { task_id: 'T-0' });
      waits.push(performance.now() - askedMs);
      await pause(5);
    }
  })();
  const beganMs = performance.now();
  await importTasks(client, 1, IMPORTED);
  const importMs = performance.now() - beganMs;
  await pause(300);
  done.abort();
  await watching;
  client.close();
  watcher.close();
  return [
    atMost(1, { name: `import of ${IMPORTED} tasks`, value: importMs, unit: 'ms', against: 'limit', limit: 3000 }),
    atMost(1, {
      name: 'longest answer meanwhile',
      value: Math.max(...waits),
      unit: 'ms',
      against: 'limit',
      limit: 300,
    }),
  ];
}

const IDLE_TASKS = 100_000;
const IDLE_MS = 30_000;

async function measureIdle(): Promise<Measure[]> {
  await using place = await Place.open();
  const client = place.client();
  for (let first = 0; first < IDLE_TASKS; first += IMPORTED) await importTasks(client, first, IMPORTED);
  client.close();
  await pause(5000);
  const before = cpuMs(place.pid);
  await pause(IDLE_MS);
  const share = ((cpuMs(place.pid) - before) / IDLE_MS) * 100;
  const name = `idle CPU with ${IDLE_TASKS} tasks`;
  return [atMost(1, { name, value: share, unit: '%', against: 'limit', limit: 0.5 })];
}

/** The CPU time of a process, from /proc: user and system time in ticks of 10 ms. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

const STATE_BYTES = 700 * 1024 * 1024;
const DESCRIPTION_BYTES = 15_000;

async function measureDown(): Promise<Measure[]> {
  await using place = await Place.open();
  const client = place.client();
  const tasks = Math.ceil(STATE_BYTES / DESCRIPTION_BYTES);
  const waits: number[] = [];
  for (let first = 0; first < tasks; first += 500)
    await importTasks(client, first, Math.min(500, tasks - first), { description: 'x'.repeat(DESCRIPTION_BYTES) });
  const last = `T-${tasks - 1}`;
  for (let i = 0; i < 20; i += 1) {
    const askedMs = performance.now();
    await call(client, 'task_create', { task_id: `C-${i}`, title: 'a commit' });
    waits.push(performance.now() - askedMs);
  }
  const beganMs = performance.now();
  const stopped = await client.stop({ timeoutMs: 120_000 });
  const downMs = performance.now() - beganMs;
  if (!stopped.ok) throw new Error(stopped.error.message);
  client.close();
  const file = findLedgerFile(place.stateDir);
  const snapshot = statSync(`${file}.state`, { throwIfNoEntry: false })?.size ?? 0;
  const startMs = performance.now();
  await place.start();
  const again = place.client();
  await call(again, 'task_get', { task_id: last });
  console.error(
    `snapshot: ${Math.round(snapshot / 1e6)} MB; next start: ${Math.round(performance.now() - startMs)} ms`,
  );
  again.close();
  return [
    atMost(1, { name: 'down with 700 MB of state', value: downMs, unit: 'ms', against: 'limit', limit: 30_000 }),
    atMost(1, {
      name: 'a commit with 700 MB of state',
      value: median(waits),
      unit: 'ms',
      against: 'limit',
      limit: 300,
    }),
  ];
}

const AGENTS = 30;
const MESSAGES = 20;
const BUSY_LOOPS = 4;

/** Agents whose messages all go through the outbox, as when the daemon does not answer in time. */
async function measureOutbox(): Promise<Measure[]> {
  await using place = await Place.open();
  const client = place.client();
  const { outbox } = stateFiles(place.stateDir);
  await importTasks(client, 0, AGENTS);
  const tokens: string[] = [];
  for (let i = 0; i < AGENTS; i += 1)
    tokens.push((await call<{ token: string }>(client, 'task_claim', { task_id: `T-${i}`, as: `a${i}` })).token);
  const busy = Array.from({ length: BUSY_LOOPS }, () => spawn(process.execPath, ['-e', 'for (;;) {}']));
  const commits: number[] = [];
  try {
    const agents = tokens.map(async (token, i) => {
      for (let n = 0; n < MESSAGES; n += 1) {
        const keptAt = new Date().toISOString();
        const notes = `${keptAt} kept as ${n}`;
        const input = JSON.stringify({ task_id: `T-${i}`, status: 'in_progress', notes });
        const key = `k-${i}-${n}`;
        keepCall(outbox, { v: 1, operation: 'task_update', input, key, token, projectPath: null, keptAt });
        await pause(200);
      }
    });
    const others = (async () => {
      for (let n = 0; n < MESSAGES; n += 1) {
        const askedMs = performance.now();
        await call(client, 'task_create', { task_id: `C-${n}`, title: 'a commit' });
        commits.push(performance.now() - askedMs);
        await pause(150);
      }
    })();
    await Promise.all([...agents, others]);
    for (let tries = 0; listKept(outbox).length > 0 && tries < 600; tries += 1) await pause(100);
  } finally {
    for (const child of busy satisfies ChildProcess[]) child.kill('SIGKILL');
  }
  client.close();
  const waits = await waitsIn(place);
  const p99 = waits.toSorted((a, b) => a - b)[Math.floor(waits.length * 0.99)] ?? Number.NaN;
  const commit = median(commits);
  return [
    atMost(20, {
      name: 'p99 of waiting in the outbox',
      value: p99,
      unit: 'ms',
      against: 'median commit',
      limit: commit,
    }),
    atMost(1, {
      name: 'longest wait in the outbox',
      value: Math.max(...waits),
      unit: 'ms',
      against: 'limit',
      limit: 2000,
    }),
  ];
}

/** How long each kept message waited for its commit. Throws if one is missing or out of order. */
async function waitsIn({ stateDir }: Place): Promise<number[]> {
  const ledgerFile = findLedgerFile(stateDir);
  const entries = await readLedger({ ledgerFile, project: basename(ledgerFile, '.db') });
  const waits: number[] = [];
  const next = new Map<string, number>();
  for (const { type, data, at } of entries) {
    const [kept, n] = type === 'TaskProgressed' ? textOf(data['notes']).split(' kept as ') : [];
    if (kept === undefined || n === undefined) continue;
    const task = textOf(data['task_id']);
    if (Number(n) !== (next.get(task) ?? 0)) throw new Error(`a message of ${task} was recorded out of order`);
    next.set(task, Number(n) + 1);
    waits.push(Date.parse(at) - Date.parse(kept));
  }
  if (waits.length !== AGENTS * MESSAGES) throw new Error(`${waits.length} messages were recorded`);
  return waits;
}
