import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { fetchedFolder, projectCaches, pruneCaches, removeFetched } from './cache-folders.ts';

const HOUR_MS = 60 * 60_000;
const NOW_MS = Date.parse('2026-01-10T00:00:00Z');
let place: { readonly stateDir: string; readonly projectId: string };
beforeEach(() => {
  place = { stateDir: mkdtempSync(join(tmpdir(), 'baton-caches-')), projectId: 'app' };
});
afterEach(() => rmSync(place.stateDir, { recursive: true }));

function make(name: string, ageHours: number): void {
  const folder = join(projectCaches(place), name);
  mkdirSync(folder, { recursive: true });
  const usedAt = (NOW_MS - ageHours * HOUR_MS) / 1000;
  utimesSync(folder, usedAt, usedAt);
}

it('keeps the caches used last and those that a command may show, and removes the rest', () => {
  for (const [name, age] of Object.entries({ a: 1, b: 30, c: 40, d: 50 })) make(`filled/${name}`, age);
  for (const [name, age] of Object.entries({ running: 1, killed: 30 })) make(`filling/${name}`, age);
  make('sessions/npm', 1000);
  make('commands/cargo', 1);
  pruneCaches(projectCaches(place), NOW_MS);
  const left = (name: string): string[] => readdirSync(join(projectCaches(place), name)).toSorted();
  expect(left('filled')).toEqual(['a', 'b']);
  expect(left('filling')).toEqual(['running']);
  expect(left('.')).toEqual(['filled', 'filling']);
});

it('removes what the checks of one commit fetched, and nothing of another', () => {
  for (const name of ['c-1.0', 'c-1.0.overlay', 'c-1.set-up', 'c-10.0'])
    mkdirSync(fetchedFolder(name, place), { recursive: true });
  removeFetched('c-1', place);
  expect(readdirSync(join(projectCaches(place), 'fetched'))).toEqual(['c-10.0']);
});
