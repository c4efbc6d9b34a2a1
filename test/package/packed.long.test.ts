import { spawnSync } from 'node:child_process';
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { brokenLinks } from '../docs/broken-links.ts';
import { findProcesses } from '../processes/find-processes.ts';
import { until } from '../processes/until.ts';
import { findNode } from './find-node.ts';
import { type Installed, installPackage } from './install-package.ts';

const ROOT = join(import.meta.dirname, '../..');
const MAX_TARBALL_BYTES = 2_800_000;
let place: string;
let installed: Installed;

beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), 'baton-packed-'));
  installed = installPackage(place);
}, 180_000);
afterAll(() => rmSync(place, { recursive: true, force: true }));

describe('the packed package', () => {
  it('needs no other package, no install script and no network', () => {
    expect(readdirSync(join(installed.folder, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual([
      'batonctl',
    ]);
    const { dependencies, scripts }: Record<string, Record<string, string> | undefined> = readPackageJson();
    expect(dependencies).toBeUndefined();
    expect(Object.keys(scripts ?? {}).filter((name) => /^(pre|post)?install$|^prepare$/.test(name))).toEqual([]);
  });

  it.each(['README.md', 'docs/dependencies.md'])('has the size that %s states', (page) => {
    const stated = [...readPackaged(page).matchAll(/\b([\d.]+) MB/g)].map(([, megabytes]) => Number(megabytes));
    const [packed = Number.NaN, unpacked = unpackedMb()] = stated;
    const bytes = statSync(installed.tarball).size;
    expect(bytes).toBeLessThan(MAX_TARBALL_BYTES);
    expect(Math.abs(bytes / 1e6 - packed)).toBeLessThan(0.1);
    expect(Math.abs(unpackedMb() - unpacked)).toBeLessThan(0.3);
  });

  it('has every file that its exports and its documentation name', () => {
    const { exports } = readPackageJson();
    const targets = [...JSON.stringify(exports).matchAll(/"(\.\/[^"]*\.[jt]s(?:on)?)"/g)].map(([, path = '']) => path);
    expect(targets.length).toBeGreaterThan(6);
    expect(targets.filter((path) => !existsSync(join(installed.packageFolder, path)))).toEqual([]);
    const isThere = (path: string): boolean => existsSync(join(installed.packageFolder, path));
    const pages = globSync('**/*.md', { cwd: installed.packageFolder });
    expect(pages.length).toBeGreaterThan(60);
    expect(pages.flatMap((page) => brokenLinks(page, isThere, installed.packageFolder))).toEqual([]);
  });

  it.each(['nodenext', 'bundler'])('has types for a program that resolves modules as %s', (resolution) => {
    const folder = join(installed.folder, resolution);
    const module = resolution === 'bundler' ? 'esnext' : resolution;
    const typeRoots = [join(ROOT, 'node_modules/@types')];
    const compilerOptions = {
      strict: true,
      noEmit: true,
      module,
      moduleResolution: resolution,
      typeRoots,
      types: ['node'],
    };
    mkdirSync(folder);
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }));
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(folder, 'program.ts'), PROGRAM);
    expect(run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', folder]).stdout).toBe('');
  });

  it.each(['import', 'require'] as const)('is loaded by %s', (how) => {
    const names = ['protocol', 'ledger', 'client', 'package.json'].map((name) => `batonctl/${name}`);
    const loads = names.map((name) => {
      const attributes = name.endsWith('.json') ? ", { with: { type: 'json' } }" : '';
      return how === 'require' ? `require('${name}')` : `await import('${name}'${attributes})`;
    });
    const file = join(installed.folder, how === 'require' ? 'program.cjs' : 'program.mjs');
    writeFileSync(file, `for (const part of [${loads.join(', ')}]) console.log(Object.keys(part).length > 0);`);
    expect(run(process.execPath, [file])).toEqual({ status: 0, stdout: 'true\n'.repeat(names.length), stderr: '' });
  });

  it('starts by its name and by that of its command', () => {
    for (const name of ['batonctl', 'baton'])
      expect(run('npm', ['exec', '--offline', '--', name, '--version'], process.env).stdout.trim()).toMatch(
        /^\d+\.\d+\.\d+$/,
      );
  });

  it('prints its version in at most 1.3 times the time of a bare Node', () => {
    const times = { bare: [] as number[], version: [] as number[] };
    for (let i = 0; i < 31; i++) {
      times.bare.push(timeMs(['-e', '0']));
      times.version.push(timeMs([baton(), '--version']));
    }
    expect(median(times.version) / median(times.bare)).toBeLessThanOrEqual(1.3);
  });
});

describe.each([
  ['24.11.0', findNode('24.11.0')],
  ['the newest in package-lock.json', process.execPath],
])('Node %s', (_, node) => {
  it.runIf(node !== undefined)('plays the demo in a bare environment, and leaves nothing', { timeout: 180_000 }, () => {
    const home = mkdtempSync(join(place, 'tmp-'));
    const { status, stdout, stderr } = run(node ?? '', [baton(), 'demo'], { TMPDIR: home });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    for (const words of ['merge: merged as', 'verified task proof', 'the folder is removed'])
      expect(stdout).toContain(words);
    expect(readdirSync(home)).toEqual([]);
    expect(findProcesses(home)).toEqual([]);
  });
});

describe('the demo', () => {
  it('names the folder that it cannot make', () => {
    const { status, stderr } = run(process.execPath, [baton(), 'demo'], { TMPDIR: installed.tarball });
    expect(status).toBe(1);
    expect(stderr).toContain(
      `cannot make a folder in ${installed.tarball}: a part of the path is not a folder [demo/no-folder]`,
    );
  });

  it('leaves nothing if its output is closed', async () => {
    const folder = join(place, 'a folder', 'x'.repeat(100));
    mkdirSync(folder, { recursive: true });
    const command = `${JSON.stringify(process.execPath)} ${JSON.stringify(baton())} demo | head -20`;
    const ran = spawnSync('/bin/sh', ['-c', command], {
      cwd: installed.folder,
      env: { TMPDIR: folder, PATH: process.env['PATH'] },
    });
    expect(ran.stdout.toString()).toContain('baton run issue');
    await until('everything has ended', () => findProcesses(folder).length === 0);
    await until('the folder is gone', () => !readdirSync(folder).some((name) => name.startsWith('baton-demo-')));
  });
});

const old = findNode('20.20.0');
describe('Node 20', () => {
  it.runIf(old !== undefined).each([['demo'], ['--version'], ['hooks', 'run']])(
    'prints one line for %s',
    (...words) => {
      expect(run(old ?? '', [baton(), ...words])).toMatchObject({
        status: 2,
        stdout: '',
        stderr:
          'Error: Baton needs Node 24.11 or newer, and this is Node 20.20.0. Get one: https://nodejs.org/en/download\n',
      });
    },
  );
});

const PROGRAM = `
import { createClient, type Client } from 'batonctl/client';
import { verifyTaskProof, webVerifier } from 'batonctl/ledger';
import { parseExitSignal } from 'batonctl/protocol';
const parsed = parseExitSignal('');
const isOk: boolean = parsed.ok;
const client: Client = createClient({ autostart: false });
// @ts-expect-error A result with no types would accept this.
const wrong: string = parsed.ok;
console.log(isOk, wrong, client, verifyTaskProof, webVerifier);
`;

function baton(): string {
  return join(installed.packageFolder, 'bin/baton.cjs');
}

function readPackageJson() {
  return JSON.parse(readPackaged('package.json'));
}

function readPackaged(path: string): string {
  return readFileSync(join(installed.packageFolder, path), 'utf8');
}

function unpackedMb(): number {
  const files = globSync('**', { cwd: installed.packageFolder }).map((path) => join(installed.packageFolder, path));
  return files
    .map((file) => statSync(file))
    .filter((stat) => stat.isFile())
    .reduce((sum, { size }) => sum + size / 1e6, 0);
}

function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: installed.folder, env, encoding: 'utf8' });
  return { status, stdout, stderr };
}

function timeMs(args: readonly string[]): number {
  const before = performance.now();
  expect(run(process.execPath, args).status).toBe(0);
  return performance.now() - before;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
