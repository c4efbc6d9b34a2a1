import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ReservedFile } from './disk-room.ts';
import { claimStartFile } from './process/claim-start.ts';

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'baton-reserved-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

it('a reserved file is filled in place, and has its name only then', () => {
  const path = join(newFolder(), 'running.json');
  const reserved = new ReservedFile(path);
  const { size, ino } = statSync(`${path}.draft`);
  expect(existsSync(path)).toBe(false);
  reserved.fill('{"start":1}');
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ start: 1 });
  expect(statSync(path)).toMatchObject({ size, ino });
});

it('a text that is longer than the reservation is written whole', () => {
  const path = join(newFolder(), 'running.json');
  new ReservedFile(path).fill(JSON.stringify('x'.repeat(5000)));
  expect(JSON.parse(readFileSync(path, 'utf8'))).toHaveLength(5000);
});

it.runIf(existsSync('/dev/full'))('a reservation for which there is no room leaves nothing behind', () => {
  const folder = newFolder();
  symlinkSync('/dev/full', join(folder, 'running.json.draft'));
  expect(() => new ReservedFile(join(folder, 'running.json'))).toThrow(/ENOSPC/);
  expect(readdirSync(folder)).toEqual([]);
});

it('a start is taken once', () => {
  const path = join(newFolder(), 'taken-1');
  expect(claimStartFile(path, 'first')).toBe(true);
  expect(claimStartFile(path, 'second')).toBe(false);
  expect(readFileSync(path, 'utf8')).toBe('first');
});
