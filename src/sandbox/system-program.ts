import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Environment } from '../protocol/environment.ts';

const USUAL_FOLDERS = ['/usr/local/bin', '/usr/bin', '/bin', '/run/current-system/sw/bin', '/usr/sbin', '/sbin'];

/**
 * The folders in which Baton searches for bubblewrap and the network tools: those of PATH, then the usual ones, because
 * a service may have a short PATH.
 */
export function systemFolders({ PATH = '' }: Environment): readonly string[] {
  return [...PATH.split(delimiter), ...USUAL_FOLDERS].filter((folder) => folder.startsWith('/'));
}

/** The environment for the network tools, which are searched where bubblewrap is. */
export function withSystemFolders<E extends Environment>(env: E): E {
  return { ...env, PATH: systemFolders(env).join(delimiter) };
}

export function findSystemProgram(name: string, env: Environment): string | undefined {
  return findInFolders(name, systemFolders(env));
}

export function findInFolders(name: string, folders: readonly string[]): string | undefined {
  return folders.map((folder) => join(folder, name)).find((path) => isAccessible(path, constants.X_OK));
}

export function isAccessible(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}
