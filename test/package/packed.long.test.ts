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
import { findProcesses } from '../processes/find-processes.ts';
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
    expect(statSync(installed.tarball).size).toBeLessThan(MAX_TARBALL_BYTES);
  });

  it('has every file that its exports and its documentation name', () => {
    const { exports } = readPackageJson();
    const targets = [...JSON.stringify(exports).matchAll(/"(\.\/[^"]*\.[jt]s(?:on)?)"/g)].map(([, path = '']) => path);
    expect(targets.length).toBeGreaterThan(6);
    expect(targets.filter((path) => !existsSync(join(installed.packageFolder, path)))).toEqual([]);
    const pages = globSync(['*.md', 'docs/*.md'], { cwd: installed.packageFolder });
    expect(pages.length).toBeGreaterThan(30);
    expect(pages.flatMap(brokenLinks)).toEqual([]);
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
    expect({ status, stderr: stderr.replaceAll(/.*ExperimentalWarning.*\n|\(Use `node.*\n/g, '') }).toEqual({
      status: 0,
      stderr: '',
    });
    for (const words of ['merge: merged as', 'verified task proof', 'the folder is removed'])
      expect(stdout).toContain(words);
    expect(readdirSync(home).filter((name) => name.startsWith('baton-'))).toEqual([]);
    expect(findProcesses(home)).toEqual([]);
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
  return JSON.parse(readFileSync(join(installed.packageFolder, 'package.json'), 'utf8'));
}

/** Pages may show the source, and pictures but the one of the README stay out: they would double the package. */
function brokenLinks(page: string): string[] {
  return [...readFileSync(join(installed.packageFolder, page), 'utf8').matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)]
    .map(([, target = '']) => join(page, '..', target))
    .filter((target) => page === 'README.md' || !/^(?:docs\/pictures|src|test)\//.test(target))
    .filter((target) => !existsSync(join(installed.packageFolder, target)))
    .map((target) => `${page} → ${target}`);
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
