import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readListing } from './listing.ts';
import { InitRecord } from './record.ts';

const TEXT = 'exit_protocol = true\n# mine\n';
let folder: string;
let top: string;
let record: InitRecord;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-init-record-'));
  top = join(folder, 'repository');
  mkdirSync(top);
  record = new InitRecord(top, join(folder, 'state'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the record of what init wrote', () => {
  it('removes a file whose line ends git changed', () => {
    record.write('baton.toml', TEXT);
    writeFileSync(join(top, 'baton.toml'), TEXT.replaceAll('\n', '\r\n'));
    expect(record.undo()).toMatchObject({ removed: ['baton.toml'], edited: [] });
    expect(readdirSync(top)).toEqual([]);
  });

  it('recognises an edited file each time, and drops it from the record once it is deleted', () => {
    record.write('baton.toml', TEXT);
    writeFileSync(join(top, 'baton.toml'), `${TEXT}\n`);
    for (const _ of [1, 2]) expect(record.undo()).toMatchObject({ removed: [], edited: ['baton.toml'] });
    rmSync(join(top, 'baton.toml'));
    expect(record.undo()).toMatchObject({ missing: ['baton.toml'] });
    expect(record.files()).toEqual([]);
  });

  it.each<readonly [string, (path: string) => void]>([
    ['a folder', (path) => mkdirSync(path)],
    ['a link to nothing', (path) => symlinkSync('/nonexistent', path)],
    ['a pipe', (path) => void execFileSync('mkfifo', [path])],
    ['a file', (path) => writeFileSync(path, 'theirs')],
  ])('writes nothing over %s, and records nothing', (_, obstruct) => {
    obstruct(join(top, 'baton.toml'));
    expect(() => record.write('baton.toml', TEXT)).toThrow('EEXIST');
    expect(readdirSync(top)).toEqual(['baton.toml']);
    expect(record.files()).toEqual([]);
    expect(record.undo()).toEqual({ removed: [], edited: [], missing: [] });
  });
});

it('reads only regular files, and ignores the byte order mark of an editor', async () => {
  execFileSync('git', ['init', '--quiet', top]);
  writeFileSync(join(top, 'marked.json'), '\u{FEFF}{}');
  writeFileSync(join(top, 'huge.json'), 'x'.repeat(5 * 1024 * 1024));
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  symlinkSync(join(folder, 'pipe'), join(top, 'piped.json'));
  const { paths, read } = await readListing(top);
  expect([...paths].map((path) => [path, read(path)])).toEqual([
    ['huge.json', ''],
    ['marked.json', '{}'],
    ['piped.json', ''],
  ]);
  expect(readFileSync(join(top, 'marked.json')).length).toBeGreaterThan(2);
});
