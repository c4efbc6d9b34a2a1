import { lstatSync, readFileSync, realpathSync, statSync, type Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { listFolderIfPresent } from '../api/files.ts';
import type { Environment } from '../protocol/environment.ts';
import { type Machine, type PathFact, TOOL_VARIABLES } from './plan/machine.ts';
import { ROOT_ONLY_FOLDERS } from './plan/system-table.ts';

/** Reads facts about this machine on demand, each once. */
export function readMachine(env: Environment): Machine {
  const facts = new Map<string, PathFact | undefined>();
  const find = (path: string): PathFact | undefined => {
    if (!facts.has(path)) facts.set(path, readFact(path, path === '/' ? undefined : find(dirname(path))));
    return facts.get(path);
  };
  return {
    uid: process.getuid?.() ?? 0,
    home: (env['HOME'] ?? '/').replace(/(?<=.)\/+$/, ''),
    path: (env['PATH'] ?? '').split(':').filter((folder) => folder !== ''),
    tools: TOOL_VARIABLES.flatMap((name) => env[name] ?? []).filter((path) => path.startsWith('/')),
    sockets: listSockets(),
    privatePaths: process.getuid?.() === 0 ? recentPrivatePaths() : [],
    find,
    list: listFolderIfPresent,
  };
}

/** A plan asks for thousands of paths; most are not links, and one call suffices for those. */
function readFact(path: string, folder: PathFact | undefined): PathFact | undefined {
  if (path !== '/' && folder?.kind !== 'folder') return undefined;
  try {
    const at = folder === undefined ? path : join(folder.real, basename(path));
    const stats = lstatSync(at, { throwIfNoEntry: false });
    if (stats === undefined) return undefined;
    return stats.isSymbolicLink() ? factOf(statSync(at), realpathSync.native(at)) : factOf(stats, at);
  } catch {
    return undefined;
  }
}

function factOf(stats: Stats, real: string): PathFact {
  const kind = stats.isDirectory() ? 'folder' : stats.isFile() ? 'file' : 'other';
  return { kind, real, isPrivate: (stats.mode & 0o004) === 0 };
}

let recent: { readonly at: number; readonly paths: readonly string[] } | undefined;

/** Caches private paths: files of the system change rarely, and the search takes longer than all other steps. */
function recentPrivatePaths(): readonly string[] {
  const now = performance.now();
  if (recent === undefined || now - recent.at > RECENT_MS)
    recent = { at: now, paths: ROOT_ONLY_FOLDERS.flatMap((folder) => findPrivate(folder, 2)) };
  return recent.paths;
}

const RECENT_MS = 60_000;

function findPrivate(folder: string, depth: number): string[] {
  return listFolderIfPresent(folder).flatMap((name) => {
    const path = join(folder, name);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined || stats.isSymbolicLink()) return [];
    if ((stats.mode & 0o004) === 0) return [path];
    return stats.isDirectory() && depth > 1 ? findPrivate(path, depth - 1) : [];
  });
}

/** Sockets with a path are the last field of a line; those without begin with `@`. */
function listSockets(): string[] {
  try {
    const lines = readFileSync('/proc/net/unix', 'utf8').split('\n');
    return [...new Set(lines.flatMap((line) => /^(?:\S+ +){6}\S+ (\/.*)$/.exec(line)?.[1] ?? []))];
  } catch {
    return [];
  }
}
