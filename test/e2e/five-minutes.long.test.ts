import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { BATON, COMPILE_CACHE } from '../package/where.ts';
import { findProcesses } from '../processes/find-processes.ts';
import { ASKED, ENDED, Shell } from '../processes/shell.ts';
import { until } from '../processes/until.ts';

/** The first five minutes of a user with a bare machine: no client, no login, no settings except git's name. */
const PROGRAMS = 'node npm git sh cat sed env python3 stty tty script sleep tail head rm ls'.split(' ');
/** The programs of the machine's sandbox; without them sessions run without a sandbox. */
const OF_SANDBOX = 'bwrap nsenter ip slirp4netns pasta prlimit'.split(' ');
const PATIENCE_MS = 120_000;

interface Repository {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  readonly found: readonly RegExp[];
  /** Whether `init` asks for the check that must pass before a merge. */
  readonly asksForCheck: boolean;
}

const REPOSITORIES: readonly Repository[] = [
  { name: 'empty', files: {}, found: [/branch +main, no commit yet\n/, /checks +none\n/], asksForCheck: true },
  {
    name: 'node',
    files: {
      'package.json': '{"scripts":{"test":"node --test"}}',
      'sum.test.js': "require('node:assert').equal(1 + 1, 2);\n",
    },
    found: [/tools +Node \(npm\)\n/, /checks +npm test\n/],
    asksForCheck: false,
  },
  {
    name: 'python',
    files: {
      'pyproject.toml': '[project]\nname = "sum"\n',
      'tests/test_sum.py':
        'import unittest\n\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(1 + 1, 2)\n',
    },
    found: [/tools +Python\n/, /checks +python3 -m unittest discover -s tests\n/],
    asksForCheck: false,
  },
];

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'baton-five-')));
  for (const name of ['bin', 'home', 'tmp']) mkdirSync(join(folder, name));
  for (const program of [...PROGRAMS, ...OF_SANDBOX.filter(isInstalled)])
    symlinkSync(findOnPath(program), join(folder, 'bin', program));
  const launcher = `#!/bin/sh\nexec '${process.execPath}' '${BATON}' "$@"\n`;
  writeFileSync(join(folder, 'bin/baton'), launcher, { mode: 0o755 });
  writeFileSync(join(folder, 'home/.gitconfig'), '[user]\nname = Ada\nemail = ada@localhost\n');
});
afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }));

it('a new user gets from init to a merge, a proof and back, in any of three repositories, and sees the demo', async () => {
  const stateDir = join(folder, 'state');
  await spendFiveMinutes(stateDir);
  await until('nothing runs any more', () => findProcesses(stateDir).length === 0);
  expect(readdirSync(join(folder, 'tmp')).filter((name) => /^baton-(?:demo|init)/.test(name))).toEqual([]);
}, 600_000);

async function spendFiveMinutes(stateDir: string): Promise<void> {
  const env = {
    ...COMPILE_CACHE,
    PATH: join(folder, 'bin'),
    HOME: join(folder, 'home'),
    TMPDIR: join(folder, 'tmp'),
    BATON_STATE_DIR: stateDir,
    GIT_PAGER: 'cat',
  };
  await using shell = await Shell.open({ cwd: folder, env });
  const type = async (line: string, waitsFor = ENDED): Promise<string> => shell.types(line, waitsFor, PATIENCE_MS);
  try {
    for (const each of REPOSITORIES) await walk(each, type);
    // In a small terminal, in which other commands would use a pager.
    const demo = await type("stty rows 24; BATON_PAGER='exit 1' baton demo");
    expect(demo).toMatch(/\n {2}authors +agent:implementer, agent:fixer\n/);
    expect(demo).toContain('The implementer tried to stop. Baton blocked the stop and answered: ');
    expect(demo).toMatch(
      /\nFrom a request to a merge in \d+ s\. The daemon ends here, and the folder is removed\.\n\[0\]/,
    );
  } finally {
    expect(await type('baton down')).toMatch(/\n\[0\] \$ $/);
  }
}

type Type = (line: string, waitsFor?: RegExp) => Promise<string>;

/** Types the commands that the screen suggests. */
async function walk({ name, files, found, asksForCheck }: Repository, type: Type): Promise<void> {
  await type(`git init --quiet --initial-branch=main ${name} && cd ${name}`);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name, path)), { recursive: true });
    writeFileSync(join(folder, name, path), text);
  }
  if (!asksForCheck) expect(await type('git add --all && git commit --quiet -m Begin')).toMatch(/\n\[0\] \$ $/);

  const asked = await type('baton init', /\[1\]: $/);
  for (const each of found) expect(asked).toMatch(each);
  expect(asked).toMatch(/agents +none on the PATH\n/);
  expect(asked).toContain('1. scripted: scripts that come with Baton, to try it without a model (recommended)\n');
  if (asksForCheck) await type('', /Which command must pass before a merge\? \[none\]: $/);
  const made = await type('');
  expect(made).toContain('Nothing was committed.\n');
  expect(made).toMatch(/\nDry run: passed in \d+ s\./);
  const [, commit = '', plan = '', run = ''] = /\nNext:\n {2}(.*)\n {2}(.*)\n {2}(.*)\n/.exec(made) ?? [];
  const [, undo = ''] = /\nUndo: (.*)\n\[0\]/.exec(made) ?? [];
  expect(await type(commit)).toContain('baton.toml');
  expect(await type(plan.replace('TITLE', 'Say hello'))).toContain('first: start agent issue-manager\n[0]');

  let seen = await type(`${run.replace('TITLE', 'Say hello')} --mode semi`, ASKED);
  const stages: string[] = [];
  for (; !ENDED.test(seen); seen = await type('', ASKED)) {
    stages.push(/Task needs attention: W-\d+ \((.*?)\) {2}\(/.exec(seen)?.[1] ?? seen);
    // The question, and the empty message to the agent.
    await type('', /Note for the next session \(Enter for none\): $/);
  }
  expect(stages).toEqual(['ready for work', 'ready for review', 'merge']);
  expect(seen).toMatch(/\n {2}handoff: closer-agent → workflow-complete\n\[0\] \$ $/);

  expect(await type('baton status')).toContain('Nothing needs you, nothing runs.\n');
  expect(await type('git log --oneline')).toMatch(/ task: W-\d+ — Say hello\n/);
  expect(await type('cat baton-scripted/*.txt')).toMatch(/added this line for the task W-\d+\.\n\[0\]/);
  expect(await type('baton ledger verify')).toMatch(/\nverified: \d+ entries of /);
  expect(await type(undo)).toContain(
    'Removed baton.toml.\nIt was committed. To commit its removal: git commit -m "chore: remove Baton" -- baton.toml\n[0]',
  );
  expect(existsSync(join(folder, name, 'baton.toml'))).toBe(false);
  await type('cd ..');
}

function isInstalled(program: string): boolean {
  return spawnSync('/bin/sh', ['-c', 'command -v "$1"', 'sh', program]).status === 0;
}

/**
 * Finds the program itself, not the shim of a version manager, which needs more programs than this PATH has; and a
 * session cannot see another user's HOME.
 */
function findOnPath(program: string): string {
  if (existsSync(`/usr/bin/${program}`) && program !== 'node') return `/usr/bin/${program}`;
  if (program === 'python3')
    return execFileSync(program, ['-c', 'import sys; print(sys.executable)']).toString().trim();
  return execFileSync('/bin/sh', ['-c', 'command -v "$1"', 'sh', program], { encoding: 'utf8' }).trim();
}
