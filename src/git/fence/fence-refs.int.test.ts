import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Scratch, valueOf } from '../scratch.cases.ts';
import { createWorktree } from '../worktree/create.ts';
import { fenceEnvironment, writeFence } from './fence.ts';
import { findFenceHooks, installFence } from './install.ts';
import { inLongLane } from '../../../test/lanes.ts';

const BRANCH = 'feature/t1';
const OTHER = 'feature/t2';
let scratch: Scratch;
let repo: string;
let worktree: string;
let session: Readonly<Record<string, string>>;

beforeAll(async () => {
  scratch = new Scratch();
  repo = scratch.repository();
  scratch.git(repo, 'remote', 'add', 'origin', scratch.bare('remote.git'));
  scratch.git(repo, 'push', '--quiet', 'origin', 'main');
  scratch.git(repo, 'branch', 'old');
  scratch.git(repo, 'branch', OTHER);
  scratch.git(repo, 'update-ref', 'refs/baton/tasks/T0', 'main');
  scratch.git(repo, 'tag', 'v1');
  worktree = valueOf(await createWorktree(repo, { stateDir: scratch.folder, branch: BRANCH, base: 'main' })).path;
  await fence(1);
  session = fenceEnvironment((await findFenceHooks(worktree)) ?? '', {});
  scratch.commit(worktree, { work: '1' });
});
afterAll(() => scratch.remove());

describe('in a session’s worktree the fence refuses', () => {
  it.each([
    ['the main branch', ['update-ref', 'refs/heads/main', 'HEAD']],
    ['the main branch, with the old value named', ['update-ref', 'refs/heads/main', 'HEAD', 'main']],
    ['to delete the main branch', ['update-ref', '-d', 'refs/heads/main']],
    ['the HEAD of the main checkout', ['update-ref', 'main-worktree/HEAD', 'HEAD']],
    ['to detach the main checkout', ['update-ref', '--no-deref', 'main-worktree/HEAD', 'HEAD']],
    ['branches of other tasks', ['branch', '-f', OTHER, 'HEAD']],
    ['branches that were there before', ['branch', '-f', 'old', 'HEAD']],
    ['to delete branches that were there before', ['branch', '-D', 'old']],
    ['to rename branches that were there before', ['branch', '-m', 'old', 'older']],
    ['a fetch into them', ['fetch', '--no-tags', '.', `+${BRANCH}:old`]],
    ['a push into them', ['push', '.', `${BRANCH}:refs/heads/old`]],
    [
      'a mixed transaction as a whole',
      ['update-ref', '--stdin'],
      `create refs/heads/fresh HEAD\nupdate refs/heads/old HEAD\n`,
    ],
    ['new tags', ['tag', 'v2']],
    ['tags that hide a branch', ['tag', 'main']],
    ['moved tags', ['tag', '-f', 'v1']],
    ['replacements', ['replace', 'HEAD', 'HEAD^']],
    ['notes', ['notes', 'add', '-m', 'x']],
    ['refs of Baton', ['update-ref', 'refs/baton/tasks/T0', 'HEAD']],
    ['any other name', ['update-ref', 'refs/original/x', 'HEAD']],
    ['a name without a folder that hides the main branch', ['update-ref', 'main', 'HEAD']],
    ['the same in capitals and digits', ['update-ref', 'V1', 'HEAD']],
  ])('%s', (_, args, input?: string) => {
    const before = refs();
    const ran = scratch.try(worktree, args, {}, input);
    expect(ran.stderr).toMatch(/^(?:remote: )?baton: moving .* refused: /m);
    expect(ran.code).not.toBe(0);
    expect(refs()).toBe(before);
  });

  it('the main branch behind another name', () => {
    const before = refs();
    scratch.git(worktree, 'symbolic-ref', 'HEAD', 'refs/heads/main');
    expect(tryCommit(worktree).stderr).toContain('moving refs/heads/main refused: it is the main branch');
    scratch.git(worktree, 'symbolic-ref', 'HEAD', `refs/heads/${BRANCH}`);
    expect(refs()).toBe(before);
  });

  it('a push into the repository by its path, which has no fence', () => {
    const before = refs();
    for (const url of [repo, join(repo, '.git'), `file://${repo}`, worktree]) {
      expect(scratch.try(worktree, ['push', url, 'HEAD:refs/heads/aside']).stderr).toContain('it is this repository');
    }
    expect(refs()).toBe(before);
  });
});

describe('in a session’s worktree the fence allows', () => {
  it('branches of the claim: made, moved, committed on, deleted', () => {
    run(['switch', '--quiet', '-c', 'mine']);
    run(['commit', '--quiet', '--allow-empty', '-m', 'x']);
    run(['branch', '-f', 'second', 'HEAD^']);
    run(['branch', '-f', 'second', 'HEAD']);
    run(['push', '--quiet', 'origin', 'mine']);
    run(['switch', '--quiet', BRANCH]);
    run(['branch', '-D', 'mine']);
    scratch.git(repo, 'pack-refs', '--all');
    run(['branch', '-D', 'second']);
    // A deleted branch no longer belongs to the claim. The process that creates it again owns it.
    scratch.git(repo, 'branch', 'mine');
    expect(scratch.try(worktree, ['branch', '-f', 'mine', 'HEAD']).stderr).toContain('this claim did not create it');
  });

  inLongLane(() => {
    it('stashes, rebases, cherry-picks, bisections and resets', () => {
      scratch.write(worktree, { 'README.md': 'changed' });
      run(['stash']);
      run(['stash', 'pop']);
      run(['reset', '--quiet', '--hard']);
      const work = scratch.commit(worktree, { more: '1' });
      scratch.commit(worktree, { again: '1' });
      run(['rebase', '--quiet', '--force-rebase', 'main']);
      run(['rebase', '--quiet', '--force-rebase', '--rebase-merges', 'main']);
      run(['reset', '--quiet', '--hard', 'HEAD~2']);
      run(['cherry-pick', work]);
      run(['bisect', 'start', 'HEAD', 'main']);
      run(['bisect', 'reset']);
      run(['update-ref', 'refs/worktree/mark', 'HEAD']);
      expect(scratch.git(repo, 'log', '--format=%s', '-2', BRANCH)).toBe('change\nchange');
    });
  });

  it('a fetch, which brings no tags, and a garbage collection, which packs no refs', () => {
    scratch.commit(repo, { upstream: '1' });
    scratch.git(repo, 'tag', 'v9');
    scratch.git(repo, 'push', '--quiet', 'origin', 'main', 'v9');
    scratch.git(repo, 'tag', '-d', 'v9');
    scratch.git(repo, 'update-ref', 'refs/remotes/origin/main', 'main^');
    run(['fetch', 'origin']);
    expect(scratch.git(repo, 'rev-parse', 'origin/main')).toBe(scratch.git(repo, 'rev-parse', 'main'));
    run(['gc', '--quiet']);
    run(['remote', 'set-head', 'origin', 'main']);
  });
});

describe('the fence also works', () => {
  it('in worktrees that the agent adds', () => {
    const added = join(scratch.folder, 'added');
    run(['worktree', 'add', '--quiet', '-b', 'aside', added]);
    expect(tryCommit(added)).toMatchObject({ code: 0 });
    expect(scratch.try(added, ['branch', '-f', 'old']).stderr).toContain('this claim did not create it');
    run(['switch', '--quiet', '--ignore-other-worktrees', 'main'], 0, added);
    expect(tryCommit(added).stderr).toContain('moving refs/heads/main refused');
    scratch.git(repo, 'worktree', 'remove', '--force', added);
  });

  it('in the main checkout and in worktrees that are added from there, by the environment of the session', () => {
    const added = join(scratch.folder, 'from main');
    const before = refs();
    expect(tryCommit(repo, session).stderr).toContain('moving refs/heads/main refused: it is the main branch');
    expect(scratch.try(repo, ['worktree', 'add', '--quiet', added, 'old'], session)).toMatchObject({ code: 0 });
    expect(tryCommit(added, session).stderr).toContain('moving refs/heads/old refused');
    expect(refs()).toBe(before);
    scratch.git(repo, 'worktree', 'remove', '--force', added);
  });

  inLongLane(() => {
    it('only in its own repository: the environment changes nothing in others, and their hooks are called', () => {
      const elsewhere = scratch.repository('elsewhere');
      const seen = join(scratch.folder, 'called');
      for (const name of ['pre-commit', 'reference-transaction']) {
        scratch.write(elsewhere, { [`.husky/${name}`]: `#!/bin/sh\necho ${name} >>'${seen}'\n` }, 0o755);
      }
      expect(tryCommit(elsewhere, session)).toMatchObject({ code: 0 });
      expect(existsSync(seen)).toBe(false);
      scratch.git(elsewhere, 'config', 'core.hooksPath', '.husky');
      expect(scratch.try(elsewhere, ['tag', 'v1'], session)).toMatchObject({ code: 0 });
      expect(tryCommit(elsewhere, session)).toMatchObject({ code: 0 });
      expect(readFileSync(seen, 'utf8')).toMatch(/^reference-transaction\n[^]*pre-commit\n/);
    });
  });

  inLongLane(() => {
    it('for the next claim, which may not move branches of the previous claim', async () => {
      run(['branch', 'of-epoch-1']);
      await fence(1);
      run(['branch', '-f', 'of-epoch-1', 'HEAD^']);
      await fence(2);
      expect(scratch.try(worktree, ['branch', '-f', 'of-epoch-1', 'HEAD']).stderr).toContain('did not create it');
    });
  });
});

async function fence(epoch: number): Promise<void> {
  const stateDir = join(scratch.folder, 'state');
  valueOf(await installFence(worktree, { stateDir, project: 'p', taskId: 'T1', epoch, branch: BRANCH }));
  writeFence(stateDir, 'p', 'T1', { epoch, sessionId: 's' });
}

function refs(): string {
  return scratch.git(repo, 'for-each-ref', '--format=%(objectname) %(refname) %(symref)');
}

function run(args: readonly string[], code = 0, path = worktree): void {
  const ran = scratch.try(path, args);
  expect(ran.code, `${args.join(' ')}: ${ran.stderr}`).toBe(code);
}

function tryCommit(path: string, env: NodeJS.ProcessEnv = {}): { code: number | null; stderr: string } {
  return scratch.try(path, ['commit', '--quiet', '--allow-empty', '-m', 'x'], env);
}
