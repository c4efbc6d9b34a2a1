import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readFirstLines, readLastLines } from './file-lines.ts';

it('reads whole lines from either end of a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-lines-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'x');
  writeFileSync(file, 'one\ntwo\nthree\nhalf');
  expect(readLastLines(file)).toEqual(['one', 'two', 'three']);
  expect(readLastLines(file, 12)).toEqual(['three']);
  expect(readLastLines(join(folder, 'missing'))).toEqual([]);
  expect(readFirstLines(file)).toEqual(['one', 'two', 'three']);
  expect(readFirstLines(file, 6)).toEqual(['one']);
  expect(readFirstLines(join(folder, 'missing'))).toEqual([]);
});

it('does not wait for a pipe that an agent put in place of a record', () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-lines-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  execFileSync('mkfifo', [join(folder, 'x')]);
  expect(readLastLines(join(folder, 'x'))).toEqual([]);
});
