import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '../processes/until.ts';
import { findAccount, findOpenTemp } from './binaries.ts';

const PROGRAM = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer'].find((path) => existsSync(path));

/** The pooler's version; undefined if it is not installed. */
export const POOLER: string | undefined =
  PROGRAM === undefined ? undefined : spawnSync(PROGRAM, ['--version'], { encoding: 'utf8' }).stdout.split('\n')[0];

/** Starts pgbouncer in front of a server, at a separate Unix socket. */
export async function startPooler(
  mode: 'transaction' | 'session',
  { socketFolder, database }: { readonly socketFolder: string; readonly database: string },
): Promise<{ readonly url: string } & AsyncDisposable> {
  const account = await findAccount();
  const folder = await mkdtemp(join(await findOpenTemp(), 'baton-pooler-'));
  await chmod(folder, 0o755);
  if (account !== undefined) await chown(folder, account.uid, account.gid);
  const file = join(folder, 'pgbouncer.ini');
  await writeFile(
    file,
    `[databases]
* = user=postgres host=${socketFolder}
[pgbouncer]
unix_socket_dir = ${folder}
listen_addr =
listen_port = 6432
auth_type = any
pool_mode = ${mode}
`,
  );
  await chmod(file, 0o644);
  const pooler: ChildProcess = spawn(PROGRAM ?? '', [file], { ...account, cwd: folder, stdio: 'ignore' });
  await until('pgbouncer listens', () => existsSync(join(folder, '.s.PGSQL.6432')), 15_000);
  return {
    url: `postgres://postgres@${encodeURIComponent(folder)}:6432/${database}`,
    async [Symbol.asyncDispose]() {
      pooler.kill('SIGKILL');
      await once(pooler, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
