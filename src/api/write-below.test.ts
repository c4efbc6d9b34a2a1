import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeBelow } from './write-below.ts';

let folder: string;
let outside: string;
beforeEach(() => {
  const scratch = mkdtempSync(join(tmpdir(), 'baton-below-'));
  folder = join(scratch, 'inside');
  outside = join(scratch, 'outside');
  for (const each of [folder, outside]) mkdirSync(each);
  writeFileSync(join(outside, 'kept'), 'kept');
});
afterEach(() => rmSync(join(folder, '..'), { recursive: true, force: true }));

describe('a file below a folder of a session', () => {
  it('is written with the folders on the way', () => {
    writeBelow(folder, 'a/b/c.txt', 'text');
    expect(readFileSync(join(folder, 'a/b/c.txt'), 'utf8')).toBe('text');
  });

  it('replaces what is there, and leaves no draft', () => {
    writeBelow(folder, 'c.txt', 'first');
    writeBelow(folder, 'c.txt', 'second');
    expect(readdirSync(folder)).toEqual(['c.txt']);
    expect(readFileSync(join(folder, 'c.txt'), 'utf8')).toBe('second');
  });

  it.each([
    ['a folder on the way', 'a', 'a/kept'],
    ['a deeper one', 'a', 'a/b/kept'],
  ])('does not follow a link in place of %s', (_, link, path) => {
    symlinkSync(outside, join(folder, link));
    writeBelow(folder, path, 'changed');
    expect(readFileSync(join(folder, path), 'utf8')).toBe('changed');
    expect(readFileSync(join(outside, 'kept'), 'utf8')).toBe('kept');
    expect(readdirSync(outside)).toEqual(['kept']);
  });

  it('does not follow a link in place of the file', () => {
    symlinkSync(join(outside, 'kept'), join(folder, 'c.txt'));
    writeBelow(folder, 'c.txt', 'changed');
    expect(lstatSync(join(folder, 'c.txt')).isFile()).toBe(true);
    expect(readFileSync(join(outside, 'kept'), 'utf8')).toBe('kept');
  });

  it('replaces a folder in place of the file', () => {
    mkdirSync(join(folder, 'c.txt/deep'), { recursive: true });
    writeBelow(folder, 'c.txt', 'text');
    expect(readFileSync(join(folder, 'c.txt'), 'utf8')).toBe('text');
  });

  it.each(['', '..', 'a/../../b', '../x'])('refuses %j', (path) => {
    expect(() => writeBelow(folder, path, 'text')).toThrow('not a path');
  });
});
