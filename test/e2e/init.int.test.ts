import { execFile, execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inLongLane } from '../lanes.ts';
import { BATON, COMPILE_CACHE } from '../package/where.ts';
import { Terminal } from '../processes/terminal.ts';
import { until } from '../processes/until.ts';

/** `baton init` in real repositories, with only the programs that a test names on the PATH. */
let folder: string;
let repository: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'baton-init-test-')));
  repository = join(folder, 'repository');
  for (const name of ['repository', 'bin', 'home', 'tmp']) mkdirSync(join(folder, name));
  for (const program of PROGRAMS) symlinkSync(findOnPath(program), join(folder, 'bin', program));
  git('init', '--quiet', '--initial-branch=main');
});
afterEach(() => rmSync(folder, { recursive: true }));

const PROGRAMS = [
  'node',
  'npm',
  'git',
  'sh',
  'sed',
  'mkdir',
  'env',
  'python3',
  'stty',
  'tty',
  'script',
  'cat',
  'sleep',
];

const NODE: Files = {
  'package.json': '{"scripts":{"test":"node --test"}}',
  'sum.test.js': "require('node:assert').equal(1 + 1, 2);\n",
};
const PYTHON: Files = {
  'pyproject.toml': '[project]\nname = "sum"\n',
  'tests/test_sum.py':
    'import unittest\n\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(1 + 1, 2)\n',
};

describe('baton init', () => {
  it('sets a Node repository up, and verifies it in a copy', async () => {
    commit(NODE);
    const { code, out } = await baton('init', '--yes', '--json');
    const done = JSON.parse(out) as Result;
    expect(done).toMatchObject({ branch: 'main', agent: 'scripted', dry_run: { outcome: 'merged' }, agents: [] });
    expect(done.checks).toEqual([{ name: 'test', run: 'npm test', from: 'package.json' }]);
    expect(code).toBe(0);
    // The repository has one new file, and nothing of the dry run is left.
    expect(git('status', '--porcelain', '--untracked-files=all')).toBe('?? baton.toml');
    expect(git('branch', '--list')).toBe('* main');
    expect(readdirSync(join(folder, 'tmp')).filter((name) => name.startsWith('baton-init'))).toEqual([]);
    expect(readdirSync(join(folder, 'state'))).toEqual(['init']);
  });

  it('asks a person in an empty repository for the client and the check', async () => {
    await using terminal = new Terminal(command('init', '--no-dry-run'), { cwd: repository, env: env(), columns: 120 });
    await terminal.shows('main, no commit yet');
    await terminal.shows('1 to 2 [1]:');
    terminal.type('2\n');
    await terminal.shows('Which command must pass before a merge? [none]:');
    terminal.type('test -f README.md\n');
    await terminal.shows(
      'Wrote baton.toml: Claude Code plays the roles, 1 check before a merge. Nothing was committed.',
    );
    await terminal.shows('note: Claude Code is not installed. To see how to install it: baton doctor');
    expect(await terminal.exit()).toBe(0);
    expect(terminal.picture.join('\n')).toContain('git add baton.toml && git commit -m');
    expect(runbook()).toContain('run = "test -f README.md"  # named by you');
    expect(await baton('runbook', 'check')).toMatchObject({ code: 0 });
  });

  it('takes the client with a login in a Python repository', async () => {
    commit({ ...PYTHON, 'CLAUDE.md': '', '.github/workflows/ci.yml': '' });
    addClient('claude', '2.1.300 (Claude Code)');
    addClient('codex', 'codex-cli 0.166.0');
    write(join(folder, 'home'), { '.codex/auth.json': '{}' });
    const { code, out } = await baton('init', '--no-dry-run');
    // The machine may have a user for agents.
    expect(out.replace(/^( {2}sandbox +).*$/m, '$1…')).toBe(`Found:
  branch        main
  tools         Python
  checks        python3 -m unittest discover -s tests
  CI            GitHub Actions
  instructions  CLAUDE.md
  agents        codex 0.166.0, login: ~/.codex/auth.json
                claude 2.1.300, no login found
  sandbox       …

Wrote baton.toml: Codex plays the roles, 1 check before a merge. Nothing was committed.

Next:
  git add baton.toml && git commit -m "chore: add the runbook of Baton" -- baton.toml
  baton run issue "TITLE" --plan
  baton run issue "TITLE"
Undo: baton init --undo
`);
    expect(code).toBe(0);
    expect(runbook()).toContain('[agents.implementer]\nrun = "codex"\nprompt_file = "baton:prompts/implementer.md"');
  });

  it('refuses a repository that has a runbook', async () => {
    write(repository, { '.baton/runbooks/own.toml': 'exit_protocol = true\n' });
    const { code, err } = await baton('init', '--yes');
    expect({ code, err }).toEqual({
      code: 1,
      err: 'Error: this repository has a runbook already: .baton/runbooks/own.toml [init/has-runbook]\n  hint: Check the runbook: baton runbook check\n',
    });
    expect(existsSync(join(repository, 'baton.toml'))).toBe(false);
  });

  it('names obstacles before it asks, and leaves nothing half written', async () => {
    mkdirSync(join(repository, 'baton.toml'));
    expect(await baton('init')).toMatchObject({ code: 1, out: '', err: expect.stringContaining('[init/has-runbook]') });
    rmSync(join(repository, 'baton.toml'), { recursive: true });
    writeFileSync(join(folder, 'state'), 'a file where the state folder would be');
    expect(await baton('init', '--yes', '--no-dry-run')).toMatchObject({
      code: 1,
      err: `Error: cannot write ${join(folder, 'state/init')}: a part of the path is not a folder [init/cannot-write]
  hint: Correct that, then run baton init again.\n`,
    });
    expect(readdirSync(repository)).toEqual(['.git']);
  });

  it('reports what a person must know about the branch, and prints a command that works', async () => {
    commit({ ...NODE, '.gitignore': '*.toml\n' });
    git('checkout', '--quiet', '-b', 'feature');
    const { out } = await baton('init', '--yes', '--no-dry-run');
    expect(out).toContain(
      'note: The branch that is checked out is feature. Bring baton.toml to main, so that it stays in force.\n',
    );
    expect(out).toContain('  git add --force baton.toml && git commit -m ');
  });

  it('needs a git repository', async () => {
    const { code, err } = await baton('init', '--project', join(folder, 'home'));
    expect({ code, err }).toMatchObject({
      code: 2,
      err: expect.stringContaining('hint: Create one, then try again: git init'),
    });
  });

  it.each([
    [['--undo', '--yes'], '--undo and --yes exclude each other'],
    [['--agent', 'cloude'], 'there is no client cloude. Did you mean `claude`?'],
  ])('refuses %j', async (args, message) => {
    expect(await baton('init', ...args)).toMatchObject({ code: 2, err: expect.stringContaining(message) });
  });
});

describe('baton init --undo', () => {
  it('removes what init wrote, and says so if it was committed', async () => {
    await baton('init', '--yes', '--no-dry-run');
    expect(await baton('init')).toMatchObject({ code: 1, err: expect.stringContaining('baton init --undo') });
    git('add', '--all');
    git(...AUTHOR, 'commit', '--quiet', '--message=Baton');
    expect(await baton('init', '--undo')).toEqual({
      code: 0,
      out: 'Removed baton.toml.\nIt was committed. To commit its removal: git commit -m "chore: remove Baton" -- baton.toml\n',
      err: '',
    });
    expect(await baton('init', '--undo')).toMatchObject({
      code: 1,
      err: expect.stringContaining('wrote nothing here'),
    });
  });

  inLongLane(() => {
    it('does not change a file that was edited since', async () => {
      await baton('init', '--yes', '--no-dry-run');
      appendFileSync(join(repository, 'baton.toml'), '# mine\n');
      expect(await baton('init', '--undo')).toEqual({
        code: 1,
        out: '',
        err: 'baton.toml was edited after init wrote it, so it is kept. To delete it: rm baton.toml\n',
      });
      expect(runbook()).toContain('# mine\n');
    });
  });
});

inLongLane(() => {
  describe('the dry run', () => {
    it.each<readonly [string, Files | null]>([
      ['an empty repository', null],
      ['a Python repository', PYTHON],
    ])('merges in %s', async (_, files) => {
      if (files !== null) commit(files);
      const { code, out } = await baton('init', '--yes');
      expect(out).toContain('Dry run: passed in ');
      expect(code).toBe(0);
    });

    it('shows the output of a check that fails on the main branch, and keeps the file', async () => {
      commit({ 'package.json': '{"scripts":{"test":"echo it is broken; exit 1"}}' });
      const { code, out } = await baton('init', '--yes');
      expect(out).toMatch(/Dry run: check test failed in a clean checkout, after \d+ s\. Until it passes there, Baton/);
      expect(out).toContain('  | it is broken\n');
      expect(code).toBe(1);
      expect(await baton('runbook', 'check')).toMatchObject({ code: 0 });
    });

    it('ends with Ctrl-C, and leaves nothing behind', async () => {
      commit({ 'package.json': '{"scripts":{"test":"sleep 300"}}' });
      await using terminal = new Terminal(command('init', '--yes'), { cwd: repository, env: env(), columns: 120 });
      await terminal.shows('implementer');
      terminal.type('\u0003');
      await terminal.shows('Dry run: interrupted.');
      expect(await terminal.exit()).toBe(130);
      await until('the copy is gone', () =>
        readdirSync(join(folder, 'tmp')).every((name) => !name.startsWith('baton-init')),
      );
      expect(existsSync(join(repository, 'baton.toml'))).toBe(true);
    });
  });
});

type Files = Readonly<Record<string, string>>;

interface Result {
  readonly checks: readonly object[];
}

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const AUTHOR = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];

async function baton(...args: readonly string[]): Promise<Ran> {
  const [program = '', ...rest] = command(...args);
  return new Promise((resolve) => {
    const child = execFile(program, rest, { cwd: repository, env: env() }, (error, out, err) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err }),
    );
    child.stdin?.end();
  });
}

function command(...args: readonly string[]): readonly string[] {
  return [process.execPath, BATON, ...args];
}

function env(): Record<string, string> {
  return {
    ...COMPILE_CACHE,
    PATH: join(folder, 'bin'),
    HOME: join(folder, 'home'),
    TMPDIR: join(folder, 'tmp'),
    BATON_STATE_DIR: join(folder, 'state'),
    GIT_CONFIG_GLOBAL: '/dev/null',
  };
}

function addClient(name: string, version: string): void {
  writeFileSync(join(folder, 'bin', name), `#!/bin/sh\necho '${version}'\n`, { mode: 0o755 });
}

function commit(files: Files): void {
  write(repository, files);
  git('add', '--all');
  git(...AUTHOR, 'commit', '--quiet', '--message=Begin');
}

function write(root: string, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

function runbook(): string {
  return readFileSync(join(repository, 'baton.toml'), 'utf8');
}

function git(...args: readonly string[]): string {
  return execFileSync('git', ['-C', repository, ...args], {
    encoding: 'utf8',
    env: { ...env(), PATH: process.env['PATH'] },
  }).trim();
}

/** Finds the program itself, not the shim of a version manager, which needs more programs than the tests' PATH has. */
function findOnPath(program: string): string {
  if (program === 'python3')
    return execFileSync(program, ['-c', 'import sys; print(sys.executable)']).toString().trim();
  return execFileSync('/bin/sh', ['-c', 'command -v "$1"', 'sh', program], { encoding: 'utf8' }).trim();
}
