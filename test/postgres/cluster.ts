import { execFile } from 'node:child_process';
import { chmod, chown, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Account, exists, findShared, renameOnce, requireOwn } from './binaries.ts';

const run = promisify(execFile);

/**
 * Copies a new cluster to `data`. `initdb` runs once for all test files, because it takes ten times as long as a copy.
 */
export async function copyCluster(native: string, data: string, account: Account | undefined): Promise<void> {
  const place = await findShared('cluster');
  if (!(await exists(place))) await makeCluster(native, place, account);
  const source = await requireOwn(place, join(place, 'data'), account?.uid);
  await run('cp', ['-R', source, data], { ...account, cwd: '/' });
  await chmod(data, 0o700);
}

async function makeCluster(native: string, place: string, account: Account | undefined): Promise<void> {
  const draft = await mkdtemp(`${place}-`);
  if (account !== undefined) await chown(draft, account.uid, account.gid);
  const args = ['-D', join(draft, 'data'), '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C'];
  // Small WAL files, because each server writes a whole one.
  const quick = ['--wal-segsize=1', '--no-sync', '--no-instructions'];
  await run(join(native, 'bin', 'initdb'), [...args, ...quick], { ...account, cwd: draft });
  await renameOnce(draft, place);
}
