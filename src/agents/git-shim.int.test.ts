import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWorktree } from '../git/worktree/create.ts';
import { writeFence } from '../git/fence/fence.ts';
import { findFenceHooks, installFence } from '../git/fence/install.ts';
import { Scratch, valueOf } from '../git/scratch.cases.ts';
import { gitShimFiles } from './git-shim.ts';

const BRANCH = 'feature/t1';
const PATH = process.env['PATH'] ?? '';
let scratch: Scratch;
let worktree: string;
let bin: string;

beforeEach(async () => {
  scratch = new Scratch();
  const repo = scratch.repository();
  worktree = valueOf(await createWorktree(repo, { stateDir: scratch.folder, branch: BRANCH, base: 'main' })).path;
  const stateDir = join(scratch.folder, "the user's state");
  valueOf(await installFence(worktree, { stateDir, project: 'p', taskId: 'T1', epoch: 1, branch: BRANCH }));
  writeFence(stateDir, 'p', 'T1', { epoch: 1, sessionId: 's1' });
  bin = join(scratch.folder, "it's a bin");
  install(bin, (await findFenceHooks(worktree)) ?? '');
});
afterEach(() => scratch.remove());

describe('the git of a session', () => {
  const end = (): void => writeFence(join(scratch.folder, "the user's state"), 'p', 'T1', null);

  /** The variables that Gemini CLI sets for every command of its shell tool. */
  const gemini = {
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_SYSTEM: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_COUNT: '2',
    GIT_CONFIG_KEY_0: 'core.fsmonitor',
    GIT_CONFIG_VALUE_0: '',
    GIT_CONFIG_KEY_1: 'core.hooksPath',
    GIT_CONFIG_VALUE_1: '',
  };

  const WAYS: readonly (readonly [string, readonly string[], Record<string, string>])[] = [
    ['as it is', [], {}],
    ['in the shell of Gemini CLI', [], gemini],
    ['with a setting on the command line', ['-c', 'core.hooksPath='], {}],
    ['with a setting from a variable', ['--config-env=core.hooksPath=NONE'], { NONE: '/dev/null' }],
    ['with a setting from a variable, in two words', ['--config-env', 'core.hooksPath=NONE'], { NONE: '/dev/null' }],
    ['with inherited settings', [], { GIT_CONFIG_PARAMETERS: "'core.hooksPath'='/dev/null'" }],
    ['among other options', ['--no-pager', '-c', "user.name=O'Hara", '-C', '.', '-c', 'core.hooksPath=/dev/null'], {}],
  ];

  it('commits under a live claim and is refused under one that has ended, whatever the shell sets', () => {
    const message = "it's $HOME `x` * done";
    const commit = (options: readonly string[]) => [...options, 'commit', '--quiet', '--allow-empty', '-m', message];
    const tried = () => WAYS.map(([way, options, env]) => ({ way, ...run(commit(options), env) }));
    expect(tried()).toEqual(WAYS.map(([way]) => ({ way, code: 0, stdout: '', stderr: '' })));
    expect(run(['log', '-1', '--format=%s']).stdout).toBe(`${message}\n`);
    end();
    const refused = expect.stringContaining('claim ended: T1 is no longer held');
    expect(tried()).toMatchObject(WAYS.map(([way]) => ({ way, stderr: refused })));
    expect(run(['rev-list', '--count', 'main..HEAD']).stdout).toBe(`${WAYS.length}\n`);
  });

  it('passes arguments on unchanged, even many and odd ones', () => {
    const odd = ['', ' ', "'", '"', '\\', '$x', '*', 'a\nb', '-c', '--'];
    const echo = join(scratch.folder, 'echo');
    program(join(echo, 'git'), 'for word in "$@"; do printf "<%s>" "$word"; done');
    const say = (args: readonly string[]) => run(args, { PATH: `${bin}:${echo}:/usr/bin:/bin` }).stdout;
    expect(say(['add', ...odd])).toContain(`<add>${odd.map((word) => `<${word}>`).join('')}`);
    expect(say(['add'])).toMatch(/^<-c><core\.hooksPath=[^>]+><add>$/);
    expect(say(['-C', "o'dd", '--no-pager', 'add', ...odd])).toMatch(
      /^<-C><o'dd><--no-pager><-c><core\.hooksPath=[^>]+><add><>/,
    );
    expect(say(['--version', 'add'])).toBe('<--version><add>');
    expect(say(['--help', '-c'])).toBe('<--help><-c>');
    expect(say(['-C'])).toBe('<-C>');
    expect(say([])).toBe('');
    const many = Array.from({ length: 5000 }, (_, i) => `file-${i}`);
    expect(say(['--no-pager', 'add', ...many]).match(/<file-/g)).toHaveLength(5000);
  });

  it('passes on exit codes and input', () => {
    expect(run(['rev-parse', '--verify', '--quiet', 'nothing']).code).toBe(1);
    expect(run(['hash-object', '--stdin'], {}, 'x').stdout).toMatch(/^[0-9a-f]{40}\n$/);
  });

  it('finds the real git behind every shim on the PATH, and reports if there is none', () => {
    const other = join(scratch.folder, 'other');
    install(other, '/nowhere');
    const path = [bin, other, bin, other, '', PATH].join(':');
    expect(run(['--version'], { PATH: path }).stdout).toMatch(/^git version/);
    expect(run(['status'], { PATH: bin })).toMatchObject({ code: 127, stderr: 'baton: git is not on the PATH\n' });
  });

  function run(args: readonly string[], env: Record<string, string> = {}, input = '') {
    const { PATH: path = `${bin}:${PATH}`, ...others } = env;
    const identity = {
      GIT_AUTHOR_NAME: 'Ada',
      GIT_AUTHOR_EMAIL: 'a@b',
      GIT_COMMITTER_NAME: 'Ada',
      GIT_COMMITTER_EMAIL: 'a@b',
    };
    const ran = spawnSync(join(bin, 'git'), args, {
      cwd: worktree,
      env: { HOME: scratch.folder, PATH: path, BATON_SESSION: 's1', ...identity, ...others },
      encoding: 'utf8',
      input,
    });
    return { code: ran.status, stdout: ran.stdout, stderr: ran.stderr };
  }
});

function install(folder: string, hooks: string): void {
  for (const { path, content, mode = 0o600 } of gitShimFiles(folder, hooks)) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    chmodSync(path, mode);
  }
}

function program(path: string, script: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}
