import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { describeError, describeFileError } from './problems.ts';

it('describes why a file cannot be used, and which', () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-failure-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const missing = failureOf(() => writeFileSync(join(folder, 'none/x'), ''));
  expect(describeFileError(missing)).toBe('no such file or folder');
  expect(describeError(missing)).toBe(`cannot use ${join(folder, 'none/x')}: no such file or folder`);
  expect(describeFileError(failureOf(() => readFileSync(folder)))).toBe('it is a folder');
  writeFileSync(join(folder, 'file'), '');
  expect(describeFileError(failureOf(() => mkdirSync(join(folder, 'file/x'))))).toBe(
    'a part of the path is not a folder',
  );
});

it('leaves errors without a description unchanged', () => {
  expect(describeError(new Error('a sentence'))).toBe('a sentence');
  expect(describeError(Object.assign(new Error('EWHAT: who knows'), { code: 'EWHAT', path: '/x' }))).toBe(
    'EWHAT: who knows',
  );
  expect(describeFileError('text')).toBe('text');
});

function failureOf(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  throw new Error('it did not fail');
}
