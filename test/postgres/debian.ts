import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { type Account, findAccount, findOpenTemp } from './binaries.ts';
import { findChildren, isAlive } from './processes.ts';

const BIN = '/usr/lib/postgresql/15/bin';

/**
 * Whether Debian's PostgreSQL is installed, which has what the npm package lacks: pg_basebackup, a standby that can be
 * promoted, pg_dump.
 */
export const hasDebianPostgres: boolean = existsSync(join(BIN, 'pg_basebackup'));
export const WITHOUT_DEBIAN: string = hasDebianPostgres
  ? ''
  : ' (NOT TESTED: postgresql-15 is missing, see npm run test:setup)';

/** One server of a pair, in a separate folder. */
export interface DebianServer {
  readonly url: string;
  query(sql: string): Promise<Record<string, unknown>[]>;
  start(): Promise<void>;
  /** Stops the server regularly. */
  stop(): Promise<void>;
  /** Sends SIGKILL to the server and all its backends at once. */
  kill(): Promise<void>;
  /** Creates a standby of this server, which runs and receives everything. */
  makeStandby(name: string): Promise<DebianServer>;
  promote(): Promise<void>;
  /** Writes the database with pg_dump. */
  dump(file: string): Promise<void>;
  restore(file: string): Promise<void>;
}

/** Servers behind one address, which leads to one of them at a time. */
export interface DebianServers {
  readonly url: string;
  readonly folder: string;
  create(name: string): Promise<DebianServer>;
  /** Makes the address lead to this server from now on. */
  pointTo(server: DebianServer): Promise<void>;
  stop(): Promise<void>;
}

export async function startDebianServers(): Promise<DebianServers> {
  const account = await findAccount();
  const folder = await mkdtemp(join(await findOpenTemp(), 'baton-pg15-'));
  const address = join(folder, 'address');
  await mkdir(address);
  for (const path of [folder, address]) await own(path, account);
  const guard = startGuard(folder);
  const servers: DebianServer[] = [];
  const make = (name: string): DebianServer => {
    const server = makeServer(folder, name, account, make);
    servers.push(server);
    return server;
  };
  return {
    folder,
    url: urlOf(address),
    async create(name) {
      const server = make(name);
      const data = join(folder, name);
      await run(account, folder, 'initdb', [
        '-D',
        data,
        '-U',
        'postgres',
        '-A',
        'trust',
        '-E',
        'UTF8',
        '--locale=C',
        '-N',
      ]);
      await server.start();
      return server;
    },
    async pointTo(server) {
      const target = decodeURIComponent(new URL(server.url).hostname);
      await rm(join(address, SOCKET), { force: true });
      await symlink(join(target, SOCKET), join(address, SOCKET));
    },
    async stop() {
      for (const server of servers) await server.kill();
      await rm(folder, { recursive: true, force: true });
      guard.stdin?.end();
    },
  };
}

/** Starts a process that ends the servers and removes their folder when this process exits for any reason. */
function startGuard(folder: string): ChildProcess {
  const script = `cat > /dev/null
    for file in "$0"/*/postmaster.pid; do kill -QUIT "$(head -n 1 "$file" 2> /dev/null)" 2> /dev/null; done
    sleep 1; rm -rf "$0"`;
  const guard = spawn('sh', ['-c', script, folder], { detached: true, stdio: ['pipe', 'ignore', 'ignore'], cwd: '/' });
  guard.unref();
  return guard;
}

const SOCKET = '.s.PGSQL.5432';

function makeServer(
  folder: string,
  name: string,
  account: Account | undefined,
  make: (name: string) => DebianServer,
): DebianServer {
  const data = join(folder, name);
  const socket = join(folder, `${name}-socket`);
  const url = urlOf(socket);
  const query = async (sql: string): Promise<Record<string, unknown>[]> => {
    const client = new Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(sql)).rows;
    } finally {
      await client.end();
    }
  };
  const control = (...args: string[]): Promise<unknown> =>
    run(account, folder, 'pg_ctl', ['-D', data, '-w', '-s', ...args]);
  return {
    url,
    query,
    async start() {
      if (!existsSync(socket)) await mkdir(socket);
      await own(socket, account);
      const settings = `-c listen_addresses= -c unix_socket_directories=${socket} -c fsync=off -c shared_buffers=16MB`;
      await control('start', '-o', settings, '-l', join(folder, `${name}.log`));
    },
    async stop() {
      await control('stop', '-m', 'fast');
    },
    async kill() {
      const pid = Number((await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')[0]);
      if (!(pid > 0 && isAlive(pid))) return;
      process.kill(pid, 'SIGSTOP');
      const all = [pid, ...(await findChildren(pid))];
      for (const each of all) if (isAlive(each)) process.kill(each, 'SIGKILL');
      const deadline = performance.now() + 10_000;
      while (all.some(isAlive) && performance.now() < deadline) await promisify(setImmediate)();
    },
    async makeStandby(standby) {
      const target = join(folder, standby);
      await run(account, folder, 'pg_basebackup', ['-h', socket, '-U', 'postgres', '-D', target, '-R', '-c', 'fast']);
      const made = make(standby);
      await made.start();
      return made;
    },
    async promote() {
      await query('SELECT pg_promote()');
    },
    async dump(file) {
      await run(account, folder, 'pg_dump', ['-h', socket, '-U', 'postgres', '-Fc', '-f', file, 'postgres']);
    },
    async restore(file) {
      await run(account, folder, 'pg_restore', ['-h', socket, '-U', 'postgres', '-d', 'postgres', '-e', file]);
    },
  };
}

async function own(path: string, account: Account | undefined): Promise<void> {
  await chmod(path, 0o755);
  if (account !== undefined) await chown(path, account.uid, account.gid);
}

function run(account: Account | undefined, cwd: string, program: string, args: readonly string[]): Promise<unknown> {
  return promisify(execFile)(join(BIN, program), args, { ...account, cwd });
}

function urlOf(folder: string): string {
  return `postgres://postgres@${encodeURIComponent(folder)}/postgres`;
}
