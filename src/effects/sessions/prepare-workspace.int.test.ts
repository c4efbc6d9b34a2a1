import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { prepareWorkspace, removeWorkspaceMark } from './workspace.ts';

let folder: string;
let path: string;
let stateDir: string;
const request = { pipeline_id: 'p1', step: 'build', branch: 'feature/x', base: null };

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'baton-workspace-')));
  path = join(folder, 'repo');
  stateDir = join(folder, 'state');
  execFileSync('git', ['-c', 'init.defaultBranch=main', 'init', '-q', path]);
  git('-c', 'user.name=t', '-c', 'user.email=t@t', 'commit', '-q', '--allow-empty', '-m', 'first');
});
afterEach(() => rmSync(folder, { recursive: true }));

it('makes a worktree on its own branch', async () => {
  const made = await prepareWorkspace(request, { path, stateDir });
  expect(made).toEqual({ ok: true, path: join(path, '.worktrees', 'x'), branch: 'feature/x' });
});

it('finds the worktree of a daemon that ended before it recorded the outcome', async () => {
  const made = await prepareWorkspace(request, { path, stateDir });
  expect(await prepareWorkspace(request, { path, stateDir })).toEqual(made);
});

it('continues with a branch that was made before its worktree', async () => {
  mkdirSync(join(stateDir, 'workspaces'), { recursive: true });
  writeFileSync(join(stateDir, 'workspaces', 'p1-build'), 'feature/x');
  git('branch', 'feature/x');
  expect(await prepareWorkspace(request, { path, stateDir })).toMatchObject({ ok: true, branch: 'feature/x' });
});

it('refuses a branch of another owner, with the next step', async () => {
  git('branch', 'feature/x');
  const made = await prepareWorkspace(request, { path, stateDir });
  expect(made).toMatchObject({ ok: false, reason: expect.stringContaining("branch 'feature/x' already exists") });
  // Also the second time: the refused attempt has not marked the branch as Baton's.
  expect(await prepareWorkspace(request, { path, stateDir })).toEqual(made);
});

it('refuses its own branch to another pipeline once it is recorded', async () => {
  await prepareWorkspace(request, { path, stateDir });
  removeWorkspaceMark(stateDir, request);
  const other = await prepareWorkspace({ ...request, pipeline_id: 'p2' }, { path, stateDir });
  expect(other).toMatchObject({ ok: false, reason: expect.stringContaining('already exists') });
});

it('reports a missing base', async () => {
  const made = await prepareWorkspace({ ...request, base: 'nowhere' }, { path, stateDir });
  expect(made).toMatchObject({ ok: false, reason: expect.stringContaining("no commit to start from: 'nowhere'") });
});

function git(...args: string[]): void {
  execFileSync('git', ['-C', path, ...args]);
}
