import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { listFolderIfPresent } from '../../api/files.ts';
import { removeLayer } from '../../sandbox/layers/open-layers.ts';
import type { EffectContext } from '../context.ts';

type Place = Pick<EffectContext, 'stateDir' | 'projectId'>;

export function projectCaches({ stateDir, projectId }: Place): string {
  return join(stateDir, 'caches', projectId);
}

/** Complete caches, by key. */
export const FILLED = 'filled';
export const FILLING = 'filling';
/** Fills that failed with few files, by key. */
export const NEEDS_ALL = 'needs-all';
/** What checks of one commit pass on to each other. */
const FETCHED = 'fetched';

export function fetchedFolder(name: string, place: Place): string {
  return join(projectCaches(place), FETCHED, name);
}

/** Removes what the checks of a commit have fetched. */
export function removeFetched(checksId: string, place: Place): void {
  const folder = join(projectCaches(place), FETCHED);
  const names = listFolderIfPresent(folder).filter((name) => name.startsWith(`${checksId}.`));
  for (const name of names) removeLayer(join(folder, name));
}

/**
 * Removes old caches of a project before a new one is filled. A cache that a running command may show is kept, and so
 * is a fill that may still run: both were used within a day.
 */
export function pruneCaches(folder: string, nowMs = Date.now()): void {
  const usedMs = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const below = (name: string): readonly string[] =>
    listFolderIfPresent(join(folder, name)).map((each) => join(folder, name, each));
  const filled = below(FILLED).toSorted((a, b) => usedMs(b) - usedMs(a));
  for (const path of [...filled.slice(KEPT - 1), ...below(FILLING), ...below(FETCHED), ...below(NEEDS_ALL)])
    if (nowMs - usedMs(path) > IN_USE_MS) removeLayer(path);
  // Caches that all commands or all agents of a project wrote, of earlier versions.
  for (const shared of ['commands', 'sessions'].map((name) => join(folder, name)))
    if (existsSync(shared)) removeLayer(shared);
}

const KEPT = 3;
const IN_USE_MS = 24 * 60 * 60_000;
