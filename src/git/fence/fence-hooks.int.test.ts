import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWorktree } from '../worktree/create.ts';
import { writeFence } from './fence.ts';
import { installFence } from './install.ts';
import { Scratch, valueOf } from '../scratch.cases.ts';
import { inLongLane } from '../../../test/lanes.ts';

const BRANCH = 'feature/t1';
let scratch: Scratch;
let repo: string;
let worktree: string;
let seen: string;

beforeEach(async () => {
  scratch = new Scratch();
  repo = scratch.repository();
  worktree = valueOf(await createWorktree(repo, { stateDir: scratch.folder, branch: BRANCH, base: 'main' })).path;
  seen = join(scratch.folder, 'seen');
});
afterEach(() => scratch.remove());

describe("the user's own hooks", () => {
  it('are called from the hooks folder, with the same arguments and input', async () => {
    for (const name of ['pre-commit', 'commit-msg', 'pre-push', 'reference-transaction', 'post-index-change']) {
      hook(join(repo, '.git/hooks'), name);
    }
    const remote = scratch.bare('remote.git');
    scratch.git(repo, 'remote', 'add', 'origin', remote);
    const plain = act('before');
    await fence();
    const fenced = act('after');
    const names = (text: string) => text.replaceAll(/\b[0-9a-f]{40}\b/g, (sha) => (/^0+$/.test(sha) ? 'zeros' : 'sha'));
    expect(names(fenced)).toBe(names(plain).replaceAll('before', 'after'));
    expect(fenced).toContain(`pre-push(origin ${remote})`);
    expect(fenced).toMatch(/reference-transaction\(prepared\)\n(?:.*\n)*.*refs\/heads\/feature\/t1/);
  });

  it('receive all input after the fence has read it', async () => {
    hook(join(repo, '.git/hooks'), 'reference-transaction');
    await fence(2);
    expect(scratch.try(worktree, ['branch', 'other'])).toMatchObject({ code: 0 });
    expect(readFileSync(seen, 'utf8')).toMatch(
      /^reference-transaction\(prepared\)\n0{40} [0-9a-f]{40} refs\/heads\/other\n/,
    );
  });

  inLongLane(() => {
    it('are found in the configured folder, even if it is set later, and relative to the worktree', async () => {
      await fence();
      scratch.git(worktree, 'config', 'core.hooksPath', '.husky/_');
      hook(join(worktree, '.husky/_'), 'pre-commit');
      expect(scratch.try(worktree, ['commit', '-m', 'x', '--allow-empty'])).toMatchObject({ code: 0 });
      expect(readFileSync(seen, 'utf8')).toBe('pre-commit()\n');
      expect(scratch.git(repo, 'config', '--local', 'core.hooksPath')).toBe('.husky/_');
    });
  });

  it('can refuse, and are not called if the fence refuses', async () => {
    hook(join(repo, '.git/hooks'), 'pre-push', 'exit 7');
    scratch.git(repo, 'remote', 'add', 'origin', scratch.bare('remote.git'));
    await fence();
    expect(scratch.try(worktree, ['push', 'origin', BRANCH]).code).toBe(1);
    expect(existsSync(seen)).toBe(true);
    scratch.git(repo, 'config', 'core.hooksPath', join(scratch.folder, 'none'));
    expect(scratch.try(worktree, ['push', 'origin', BRANCH]).code).toBe(0);
  });

  inLongLane(() => {
    it('are kept if they belong to one worktree only', async () => {
      const own = join(scratch.folder, 'own hooks');
      hook(own, 'pre-commit');
      scratch.git(repo, 'config', 'extensions.worktreeConfig', 'true');
      scratch.git(worktree, 'config', '--worktree', 'core.hooksPath', own);
      await fence();
      await fence();
      expect(scratch.try(worktree, ['commit', '-m', 'x', '--allow-empty'])).toMatchObject({ code: 0 });
      expect(readFileSync(seen, 'utf8')).toBe('pre-commit()\n');
    });
  });

  it('and the rest of the repository stay unchanged', async () => {
    const before = readFileSync(join(repo, '.git/config'), 'utf8');
    await fence();
    const after = readFileSync(join(repo, '.git/config'), 'utf8');
    expect(after.replace('[extensions]\n\tworktreeConfig = true\n', '')).toBe(before);
    expect(scratch.git(repo, 'status', '--porcelain')).toBe('');
    expect(scratch.git(worktree, 'status', '--porcelain')).toBe('');
  });
});

async function fence(live = 1): Promise<void> {
  const stateDir = join(scratch.folder, 'state');
  valueOf(await installFence(worktree, { stateDir, project: 'p', taskId: 'T1', epoch: 1, branch: BRANCH }));
  writeFence(stateDir, 'p', 'T1', { epoch: live, sessionId: 's' });
}

function hook(folder: string, name: string, then = 'exit 0'): void {
  mkdirSync(folder, { recursive: true });
  const input = /push|reference/.test(name) ? `cat >>'${seen}'` : '';
  scratch.write(folder, { [name]: `#!/bin/sh\necho "$(basename "$0")($*)" >>'${seen}'\n${input}\n${then}\n` }, 0o755);
}

/** Commits and pushes, and returns what the hooks received. */
function act(message: string): string {
  scratch.write(scratch.folder, { seen: '' });
  scratch.commit(worktree, { [message]: '' }, message);
  scratch.git(worktree, 'push', '--quiet', 'origin', `HEAD:refs/heads/${message}`);
  return readFileSync(seen, 'utf8');
}
