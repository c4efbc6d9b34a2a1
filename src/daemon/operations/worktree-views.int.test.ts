import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { installFence } from '../../git/fence/install.ts';
import { emptyState, type State } from '../../state/state.ts';
import { emptyTask } from '../../state/say.cases.ts';
import { viewWorktrees } from './worktree-views.ts';

const COUNT = 10;
let folder: string;
let repository: string;
const git = (cwd: string, ...args: string[]) => execFileSync('git', args, { cwd, encoding: 'utf8' }).trim();

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-worktrees-'));
  repository = join(folder, 'repository');
  mkdirSync(repository);
  git(repository, 'init', '--quiet', '--initial-branch=main');
  git(repository, 'config', 'user.name', 'Ada');
  git(repository, 'config', 'user.email', 'ada@example.com');
  mkdirSync(join(repository, 'sub'));
  for (const path of ['.gitignore', 'sub/.gitignore']) writeFileSync(join(repository, path), '/.worktrees/\n*.log\n');
  git(repository, 'add', '.');
  git(repository, 'commit', '--quiet', '--message=Begin');
  for (let i = 0; i < COUNT; i++) git(repository, 'worktree', 'add', '--quiet', '-b', `b${i}`, `.worktrees/w${i}`);
  const inside = (i: number, name: string) => join(repository, `.worktrees/w${i}`, name);
  writeFileSync(inside(1, 'new.txt'), 'x');
  writeFileSync(inside(2, 'a.txt'), 'x');
  git(inside(2, ''), 'add', 'a.txt');
  writeFileSync(inside(3, 'a.txt'), 'x');
  git(inside(3, ''), 'add', 'a.txt');
  git(inside(3, ''), 'commit', '--quiet', '--message=Work');
  appendFileSync(inside(4, '.gitignore'), '*.txt\n');
  writeFileSync(inside(4, 'hidden.txt'), 'x');
  git(inside(5, ''), 'checkout', '--quiet', '--detach');
  writeFileSync(inside(6, '.gitignore'), 'x');
  git(inside(6, ''), 'stash', '--quiet');
  writeFileSync(join(git(inside(7, ''), 'rev-parse', '--git-dir'), 'MERGE_HEAD'), '');
  // This folder imitates a separate repository.
  rmSync(inside(8, '.git'));
  git(inside(8, ''), 'init', '--quiet', '--initial-branch=main');
  rmSync(inside(9, ''), { recursive: true });
  return () => rmSync(folder, { recursive: true });
});

const view = async (state: State = emptyState()) =>
  viewWorktrees({
    path: repository,
    stateDir: join(folder, 'state'),
    mainBranch: undefined,
    configured: [],
    read: async (look) => look(state),
  });

describe('the list of worktrees', () => {
  it('has what removing each of them would lose', async () => {
    const views = await view();
    const rows = views.ok
      ? views.value.map(({ path, branch, holds }) => [path.split('/').at(-1), branch, holds])
      : views;
    expect(rows).toEqual([
      ['w0', 'b0', []],
      ['w1', 'b1', ['1 untracked']],
      ['w2', 'b2', ['1 staged']],
      ['w3', 'b3', ['1 unmerged']],
      ['w4', 'b4', ['1 changed', '1 untracked']],
      ['w5', null, []],
      ['w6', 'b6', ['1 stashed']],
      ['w7', 'b7', ['an unfinished merge']],
      ['w8', 'b8', expect.arrayContaining(['2 untracked'])],
      ['w9', 'b9', ['its folder is gone']],
    ]);
  });

  it('counts no commit as unmerged that Baton merged for its task, and any commit after it', async () => {
    const path = join(repository, '.worktrees/w3');
    const stateDir = join(folder, 'state');
    const fenced = await installFence(path, { stateDir, project: 'p', taskId: 'T1', epoch: 1, branch: 'b3' });
    expect(fenced.ok).toBe(true);
    const [head, before] = [git(path, 'rev-parse', 'HEAD'), git(path, 'rev-parse', 'HEAD~1')];
    const holdsIfMerged = async (merged: string) => {
      const state = emptyState();
      const flow = { ...emptyTask.flow, head: merged, mergeSha: before };
      state.tasks.set('T1', { ...emptyTask, id: 'T1', flow });
      const views = await view(state);
      return views.ok ? views.value.find(({ branch }) => branch === 'b3')?.holds : views;
    };
    expect(await holdsIfMerged(head)).toEqual([]);
    expect(await holdsIfMerged(before)).toEqual(['1 unmerged']);
  });

  it('takes three git processes for a worktree without commits of its own', async () => {
    const bin = join(folder, 'bin');
    const log = join(folder, 'log');
    const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
    mkdirSync(bin);
    writeFileSync(join(bin, 'git'), `#!/bin/sh\necho "$PWD $*" >> ${log}\nexec ${real} "$@"\n`);
    chmodSync(join(bin, 'git'), 0o755);
    vi.stubEnv('PATH', `${bin}${delimiter}${process.env['PATH']}`);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect((await view()).ok).toBe(true);
    const calls = readFileSync(log, 'utf8').trim().split('\n');
    const inFolder = (path: string) => calls.filter((line) => line.startsWith(`${path} `));
    // Its index and what is untracked, what is staged, what is changed; everything else is known or shared.
    expect(inFolder(join(repository, '.worktrees/w0'))).toHaveLength(3);
    expect(inFolder(repository).length).toBeLessThan(20);
  });
});
