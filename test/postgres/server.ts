import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { findAccount, findOpenTemp, requireBinaries, type Account } from './binaries.ts';
import { copyCluster } from './cluster.ts';
import { findChildren, isAlive } from './processes.ts';

const START_DEADLINE_MS = 30_000;
const STOP_DEADLINE_MS = 10_000;
const POLL_MS = 5;

export interface ServerOptions {
  /** Whether commits are synced to disk. Set in tests of durability; off elsewhere, since it only costs time. */
  readonly fsync?: boolean;
  /** More settings of postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** A separate real PostgreSQL: own folder, Unix socket only, removed by `stop` or when this process exits. */
export interface PostgresServer {
  /** The folder of the Unix socket. */
  readonly socketFolder: string;
  /** Creates an empty database and returns its URL. */
  createDatabase(): Promise<string>;
  /** Sends SIGKILL to the server and all its backends at once, like a power loss that keeps the disk cache. */
  kill(): Promise<void>;
  /** Starts the server again after `kill`; resolves when it accepts connections. */
  restart(): Promise<void>;
  /** Ends the server and removes its processes and folder. */
  stop(): Promise<void>;
}

export async function startPostgres(options: ServerOptions = {}): Promise<PostgresServer> {
  const account = await findAccount();
  const native = await requireBinaries(account);
  const folder = await makeFolder(account);
  const guard = startGuard(folder);
  try {
    await copyCluster(native, join(folder, 'data'), account);
    return await run(native, folder, account, guard, options);
  } catch (error) {
    guard.stdin?.end();
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function run(
  native: string,
  folder: string,
  account: Account | undefined,
  guard: ChildProcess,
  options: ServerOptions,
): Promise<PostgresServer> {
  let postmaster = await startPostmaster(native, folder, account, options);
  let databases = 0;

  return {
    socketFolder: folder,
    async createDatabase() {
      databases += 1;
      const name = `test_${databases}`;
      await query(folder, `CREATE DATABASE ${name}`);
      return urlOf(folder, name);
    },
    async kill() {
      await killAll(postmaster);
    },
    async restart() {
      postmaster = await startPostmaster(native, folder, account, options);
    },
    async stop() {
      await stopPostmaster(postmaster);
      await rm(folder, { recursive: true, force: true });
      guard.stdin?.end();
      await waitForExit(guard);
    },
  };
}

async function makeFolder(account: Account | undefined): Promise<string> {
  const folder = await mkdtemp(join(await findOpenTemp(), 'baton-pg-'));
  await chmod(folder, 0o700);
  if (account !== undefined) await chown(folder, account.uid, account.gid);
  return folder;
}

/**
 * Starts a shell that waits for the end of its standard input, which comes when this process exits for any reason, and
 * then ends the server and removes its folder. The server starts a separate session, so no signal to this process's
 * group would end it.
 */
function startGuard(folder: string): ChildProcess {
  const script = `cat > /dev/null
    if pid=$(head -n 1 "$0/data/postmaster.pid" 2> /dev/null); then
      kill -QUIT "$pid" 2> /dev/null
      tries=0
      while kill -0 "$pid" 2> /dev/null && [ "$tries" -lt 50 ]; do sleep 0.1; tries=$((tries + 1)); done
      kill -KILL "$pid" 2> /dev/null
    fi
    rm -rf "$0"`;
  const guard = spawn('sh', ['-c', script, folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
  });
  guard.unref();
  return guard;
}

async function startPostmaster(
  native: string,
  folder: string,
  account: Account | undefined,
  options: ServerOptions,
): Promise<ChildProcess> {
  const settings = {
    unix_socket_directories: folder,
    listen_addresses: '',
    max_connections: '64',
    // The default starts three extra reading processes.
    io_method: 'sync',
    // Uses the server's folder, so that a killed server leaves nothing in /dev/shm.
    dynamic_shared_memory_type: 'mmap',
    ...durability(options.fsync ?? false),
    ...options.settings,
  };
  const log = await open(join(folder, 'log'), 'a', 0o600);
  const postmaster = spawn(
    join(native, 'bin', 'postgres'),
    [...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]), '-D', join(folder, 'data')],
    { ...account, cwd: folder, detached: true, stdio: ['ignore', log.fd, log.fd] },
  );
  postmaster.unref();
  await log.close();
  await waitUntilReady(postmaster, folder);
  return postmaster;
}

function durability(fsync: boolean): Record<string, string> {
  return fsync ? { fsync: 'on' } : { fsync: 'off', full_page_writes: 'off' };
}

async function waitUntilReady(postmaster: ChildProcess, folder: string): Promise<void> {
  const deadline = performance.now() + START_DEADLINE_MS;
  let last: unknown;
  while (performance.now() < deadline) {
    if (postmaster.exitCode !== null || postmaster.signalCode !== null) break;
    try {
      await query(folder, 'SELECT 1');
      return;
    } catch (error) {
      last = error;
      await delay(POLL_MS);
    }
  }
  const log = await readFile(join(folder, 'log'), 'utf8');
  throw new Error(`PostgreSQL did not start. Its log ends with:\n${log.slice(-2000)}`, { cause: last });
}

async function stopPostmaster(postmaster: ChildProcess): Promise<void> {
  if (postmaster.exitCode !== null || postmaster.signalCode !== null) return;
  const children = await findChildren(requirePid(postmaster));
  postmaster.kill('SIGINT');
  const ended = await Promise.race([waitForExit(postmaster), delay(STOP_DEADLINE_MS, 'late', { ref: false })]);
  if (ended === 'late') await killAll(postmaster);
  await waitUntilGone(children);
}

/**
 * Kills each backend, because backends lead their own process groups, which a signal to the server's group does not
 * reach.
 */
async function killAll(postmaster: ChildProcess): Promise<void> {
  const pid = requirePid(postmaster);
  process.kill(pid, 'SIGSTOP');
  const children = await findChildren(pid);
  for (const target of [pid, ...children]) {
    if (isAlive(target)) process.kill(target, 'SIGKILL');
  }
  await waitForExit(postmaster);
  await waitUntilGone(children);
}

async function waitUntilGone(pids: readonly number[]): Promise<void> {
  const deadline = performance.now() + STOP_DEADLINE_MS;
  while (pids.some(isAlive)) {
    if (performance.now() > deadline)
      throw new Error(`Processes of PostgreSQL are left: ${pids.filter(isAlive).join()}`);
    await delay(POLL_MS);
  }
}

async function waitForExit(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  // No other handle may keep this process running until then.
  child.ref();
  await once(child, 'exit');
}

function requirePid(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error('PostgreSQL was never started.');
  return child.pid;
}

async function query(folder: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: urlOf(folder, 'postgres') });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

function urlOf(folder: string, database: string): string {
  return `postgres://postgres@${encodeURIComponent(folder)}/${database}`;
}
