import { expect, it } from 'vitest';
import { readOwnership } from './state-lock.ts';

const failing = (code: string) => (): string => {
  throw Object.assign(new Error(`${code}: open`), { code });
};

it.each([
  ['this process', () => '{"pid":7}', 'ours'],
  ['another process', () => '{"pid":8}', 'lost'],
  ['nothing that can be read', () => 'rubbish', 'lost'],
  ['null', () => 'null', 'lost'],
  ['a record that is gone', failing('ENOENT'), 'lost'],
  ['a folder that is gone', failing('ENOTDIR'), 'lost'],
  ['no descriptor to look with', failing('EMFILE'), 'unknown'],
  ['no descriptor on the whole machine', failing('ENFILE'), 'unknown'],
  ['a disk that fails', failing('EIO'), 'unknown'],
])('the state folder names %s', (_what, read, kind) => {
  expect(readOwnership('daemon.json', 7, read).kind).toBe(kind);
});
