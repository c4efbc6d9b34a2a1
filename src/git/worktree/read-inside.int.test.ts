import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readInside } from './read-inside.ts';

let top: string;
let folder: string;

beforeAll(() => {
  top = mkdtempSync(join(tmpdir(), 'baton-inside-'));
  folder = join(top, 'work');
  mkdirSync(join(folder, 'docs'), { recursive: true });
  writeFileSync(join(folder, 'docs/a.md'), 'all of it');
  writeFileSync(join(folder, 'empty'), '');
  writeFileSync(join(top, 'secret'), 'not for agents');
  writeFileSync(join(top, 'work-too'), 'not for agents');
  symlinkSync('docs/a.md', join(folder, 'link'));
  symlinkSync('../secret', join(folder, 'out'));
  symlinkSync('..', join(folder, 'up'));
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  writeFileSync(join(folder, 'huge'), 'x');
  truncateSync(join(folder, 'huge'), 2 ** 40);
});
afterAll(() => rmSync(top, { recursive: true }));

describe('reading files that agents may have written', () => {
  it.each([
    ['a file', 'docs/a.md', 'all of it'],
    ['a file behind a link that stays inside', 'link', 'all of it'],
    ['an empty file', 'empty', ''],
    ['the beginning of a file without end', 'huge', `x${'\0'.repeat(99)}`],
    ['no file', 'none', undefined],
    ['a folder', 'docs', undefined],
    ['the folder itself', '.', undefined],
    ['a link that leads out', 'out', undefined],
    ['a folder that leads out', 'up/secret', undefined],
    ['a way out', '../secret', undefined],
    ['a neighbour with a similar name', '../work-too', undefined],
    ['a pipe that nobody writes to', 'pipe', undefined],
  ])('%s', async (_, path, text) => {
    expect((await readInside(folder, path, 100))?.toString()).toBe(text);
  });
});
