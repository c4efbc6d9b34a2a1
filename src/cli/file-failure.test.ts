import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { describeFailure, fileFailure } from './file-failure.ts';

it('says in words why a file cannot be used, and which', () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-failure-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const missing = failureOf(() => writeFileSync(join(folder, 'none/x'), ''));
  expect(fileFailure(missing)).toBe('there is no such file or folder');
  expect(describeFailure(missing)).toBe(`cannot use ${join(folder, 'none/x')}: there is no such file or folder`);
  expect(fileFailure(failureOf(() => readFileSync(folder)))).toBe('it is a folder');
  writeFileSync(join(folder, 'file'), '');
  expect(fileFailure(failureOf(() => mkdirSync(join(folder, 'file/x'))))).toBe('a part of the path is no folder');
});

it('leaves alone what it has no words for', () => {
  expect(describeFailure(new Error('a sentence'))).toBe('a sentence');
  expect(describeFailure(Object.assign(new Error('EWHAT: who knows'), { code: 'EWHAT', path: '/x' }))).toBe(
    'EWHAT: who knows',
  );
  expect(fileFailure('text')).toBe('text');
});

function failureOf(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  throw new Error('it did not fail');
}
