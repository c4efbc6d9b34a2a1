import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readProjectList, writeProjectPath, writeProjectStore } from './project-list.ts';

let stateDir = '';
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'baton-list-'));
});
afterEach(() => rmSync(stateDir, { recursive: true }));

const file = (): string => join(stateDir, 'projects.json');

describe('the list of projects', () => {
  it('reads paths as earlier versions wrote them, and skips what is damaged', () => {
    writeFileSync(
      file(),
      JSON.stringify({ a: '/a', b: { path: '/b', store: 'postgres://db/x' }, c: 3, d: { path: 1 } }),
    );
    expect([...readProjectList(stateDir)]).toEqual([
      ['a', { path: '/a', store: undefined }],
      ['b', { path: '/b', store: 'postgres://db/x' }],
    ]);
  });

  it('is empty without a file, and in a damaged one', () => {
    expect(readProjectList(stateDir).size).toBe(0);
    writeFileSync(file(), '{"a"');
    expect(readProjectList(stateDir).size).toBe(0);
  });

  it('keeps the store when the repository moves, and writes a project without a store as its path', () => {
    writeProjectPath(stateDir, 'a', '/a');
    writeProjectStore(stateDir, 'b', { path: '/b', store: 'postgres://db/x' });
    writeProjectPath(stateDir, 'b', '/moved');
    expect(JSON.parse(readFileSync(file(), 'utf8'))).toEqual({
      a: '/a',
      b: { path: '/moved', store: 'postgres://db/x' },
    });
    writeProjectStore(stateDir, 'b', { path: '/moved', store: undefined });
    expect(JSON.parse(readFileSync(file(), 'utf8'))).toEqual({ a: '/a', b: '/moved' });
  });
});
