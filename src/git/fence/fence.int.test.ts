import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inLongLane, isLongLane, someOf } from '../../../test/lanes.ts';
import { codeOf, Scratch, valueOf } from '../scratch.cases.ts';
import { createTakeoverWorktree, createWorktree } from '../worktree/create.ts';
import { removeWorktree } from '../worktree/remove.ts';
import { fencePath, writeFence } from './fence.ts';
import { findFence, installFence } from './install.ts';

const BRANCH = 'feature/p0-1-1-setup';
const PROJECT = 'my project/ü';
let scratch: Scratch;
let repo: string;
let stateDir: string;
let worktree: string;

beforeEach(async () => {
  scratch = new Scratch();
  repo = scratch.repository();
  scratch.git(repo, 'remote', 'add', 'origin', scratch.bare('remote.git'));
  scratch.git(repo, 'push', '--quiet', 'origin', 'main');
  stateDir = join(scratch.folder, 'state dir');
  worktree = valueOf(await createWorktree(repo, { stateDir: scratch.folder, branch: BRANCH, base: 'main' })).path;
});
afterEach(() => scratch.remove());

describe('the fence', () => {
  it('lets the holder commit and push', async () => {
    await claim(1);
    scratch.commit(worktree, { a: '1' });
    expect(scratch.try(worktree, ['push', 'origin', BRANCH])).toMatchObject({ code: 0 });
  });

  it('refuses the holder of an earlier epoch, with the next step', async () => {
    await claim(1);
    const head = scratch.commit(worktree, { a: '1' });
    writeFence(stateDir, PROJECT, 'P0.1.1', { epoch: 2, sessionId: 's2' });
    const commit = tryCommit();
    expect(commit.code).not.toBe(0);
    expect(commit.stderr).toMatch(/^stale claim: epoch 1 < 2\n.*baton task claim P0\.1\.1/);
    expect(scratch.git(repo, 'rev-parse', BRANCH)).toBe(head);
    const push = scratch.try(worktree, ['push', 'origin', BRANCH]);
    expect(push).toMatchObject({ code: 1, stderr: expect.stringMatching(/^stale claim: epoch 1 < 2\n/) });
    expect(scratch.git(join(scratch.folder, 'remote.git'), 'branch', '--list', BRANCH)).toBe('');
  });

  const STALE = [
    ['reset', ['reset', '--hard', 'HEAD^']],
    ['update-ref', ['update-ref', `refs/heads/${BRANCH}`, 'HEAD^']],
    ['amend without hooks', ['commit', '--amend', '--no-verify', '--allow-empty', '-m', 'x']],
    ['rename', ['branch', '-m', 'elsewhere']],
    ['delete', ['update-ref', '-d', `refs/heads/${BRANCH}`]],
    ['merge', ['merge', '--no-ff', '-m', 'm', 'other']],
    ['fetch into it', ['fetch', '.', `+other:${BRANCH}`, '--update-head-ok']],
  ] as const;

  it.each(someOf(STALE, 1, 5))('refuses a stale %s, with packed refs too', async (_, args) => {
    scratch.git(repo, 'branch', 'other');
    const other = valueOf(
      await createWorktree(repo, { stateDir: scratch.folder, branch: 'feature/other', base: 'main' }),
    ).path;
    scratch.commit(other, { o: '1' });
    scratch.git(repo, 'branch', '-f', 'other', 'feature/other');
    await claim(1);
    const head = scratch.commit(worktree, { a: '1' });
    scratch.git(repo, 'pack-refs', '--all');
    writeFence(stateDir, PROJECT, 'P0.1.1', { epoch: 2, sessionId: 's2' });
    expect(scratch.try(worktree, args).stderr).toContain('stale claim: epoch 1 < 2');
    expect(scratch.git(repo, 'rev-parse', BRANCH)).toBe(head);
  });

  it('leaves everything else alone: other branches, stashes, fetches, and other worktrees', async () => {
    await claim(1);
    writeFence(stateDir, PROJECT, 'P0.1.1', { epoch: 2, sessionId: 's2' });
    scratch.write(worktree, { 'README.md': 'changed' });
    for (const args of [
      ['stash'],
      ['fetch', 'origin'],
      ['branch', `${BRANCH}-2`],
      ['switch', '--quiet', '-c', 'mine'],
    ]) {
      expect(scratch.try(worktree, args)).toMatchObject({ code: 0 });
    }
    scratch.commit(worktree, { mine: '1' });
    scratch.commit(repo, { main: '1' });
    expect(scratch.try(repo, ['push', 'origin', 'main'])).toMatchObject({ code: 0 });
    expect(scratch.try(worktree, ['push', 'origin', 'mine'])).toMatchObject({ code: 1 });
  });

  it('refuses after the claim has ended, and without a known claim', async () => {
    await claim(1);
    writeFence(stateDir, PROJECT, 'P0.1.1', null);
    expect(tryCommit().stderr).toContain('claim ended: P0.1.1 is no longer held');
    rmSync(fencePath(stateDir, PROJECT, 'P0.1.1'));
    expect(tryCommit().stderr).toContain('no claim is known for this worktree of P0.1.1');
    rmSync(join(repo, '.git/worktrees/p0-1-1-setup/baton-fence'));
    expect(tryCommit().stderr).toContain('no claim is known');
  });

  it('distinguishes two sessions in one worktree', async () => {
    await claim(1);
    await claim(2);
    expect(tryCommit({ BATON_SESSION: 's1', BATON_EPOCH: '1' }).stderr).toContain('stale claim: epoch 1 < 2');
    expect(tryCommit({ BATON_SESSION: 's1' }).stderr).toContain(
      'stale claim: session s1 does not hold P0.1.1 (epoch 2)',
    );
    expect(scratch.try(worktree, ['push', 'origin', BRANCH], { BATON_SESSION: 's1' }).code).toBe(1);
    expect(tryCommit({ BATON_SESSION: 's2' }).code).toBe(0);
  });

  it.each(someOf([true, false], 1))(
    'stops a frozen worker that wakes up too late (in the same worktree: %s)',
    async (same) => {
      await claim(1);
      const script = `read go; echo late >late; git add late; git commit -m late; a=$?; git push origin HEAD:${BRANCH}; echo "$a $?"`;
      const frozen = spawn('sh', ['-c', script], { cwd: worktree, env: { ...process.env, BATON_SESSION: 's1' } });
      let said = '';
      for (const stream of [frozen.stdout, frozen.stderr])
        stream.on('data', (data: Buffer) => (said += data.toString()));
      frozen.kill('SIGSTOP');
      const next = same
        ? worktree
        : valueOf(await createTakeoverWorktree(repo, { stateDir: scratch.folder, branch: BRANCH, epoch: 2 })).path;
      valueOf(await installFence(next, { stateDir, project: PROJECT, taskId: 'P0.1.1', epoch: 2, branch: BRANCH }));
      writeFence(stateDir, PROJECT, 'P0.1.1', { epoch: 2, sessionId: 's2' });
      const head = scratch.commit(next, { done: '1' });
      expect(scratch.try(next, ['push', 'origin', BRANCH], { BATON_SESSION: 's2' })).toMatchObject({ code: 0 });
      frozen.kill('SIGCONT');
      frozen.stdin.end('go\n');
      await once(frozen, 'close');
      expect(said).toMatch(/stale claim: (?:epoch 1 < 2|session s1 does not hold P0\.1\.1)/);
      expect(said.trim().split('\n').at(-1)).toMatch(same ? /^1 1$/ : /^0 1$/);
      expect(scratch.git(repo, 'rev-parse', BRANCH)).toBe(head);
      expect(scratch.git(join(scratch.folder, 'remote.git'), 'rev-parse', BRANCH)).toBe(head);
    },
  );

  inLongLane(() => {
    it('works in the worktree of a worktree and of a bare repository, and is removed with it', async () => {
      const bare = join(scratch.folder, 'bare.git');
      scratch.git(scratch.folder, 'clone', '--quiet', '--bare', repo, bare);
      const made = valueOf(
        await createWorktree(bare, { stateDir: scratch.folder, branch: 'feature/b', base: 'main' }),
      ).path;
      const nested = valueOf(
        await createWorktree(made, { stateDir: scratch.folder, branch: 'feature/c', base: 'main' }),
      ).path;
      for (const [path, branch] of [[made, 'feature/b'] as const, [nested, 'feature/c'] as const]) {
        valueOf(await installFence(path, { stateDir, project: 'p', taskId: branch.slice(-1), epoch: 1, branch }));
        expect(tryCommit({}, path).stderr).toContain('no claim is known');
        writeFence(stateDir, 'p', branch.slice(-1), { epoch: 1, sessionId: 's' });
        expect(tryCommit({}, path)).toMatchObject({ code: 0 });
      }
      expect(scratch.git(bare, 'rev-parse', '--is-bare-repository')).toBe('true');
      expect(scratch.git(made, 'rev-parse', '--is-bare-repository')).toBe('false');
      scratch.git(made, 'reset', '--hard', '--quiet', 'main');
      valueOf(await removeWorktree(bare, made, { stateDir: scratch.folder }));
      expect(existsSync(join(bare, 'worktrees/b'))).toBe(false);
    });
  });

  it('refuses the main worktree', async () => {
    const request = { stateDir, project: PROJECT, taskId: 'P0.1.1', epoch: 1, branch: BRANCH };
    expect(codeOf(await installFence(repo, request))).toBe('git/main-worktree');
    await claim(1);
    expect(valueOf(await findFence(worktree))).toMatchObject({ taskId: 'P0.1.1', epoch: 1, branch: BRANCH });
    expect(valueOf(await findFence(repo))).toBe(null);
  });

  inLongLane(() => {
    it('names the owner of the worktree to the second claimant', async () => {
      await claim(3);
      const message = expect.stringMatching(
        /already exists and is checked out at .*; it belongs to P0\.1\.1, held by s3$/,
      );
      expect(await createWorktree(repo, { stateDir: scratch.folder, branch: BRANCH, base: 'main' })).toMatchObject({
        problem: { message },
      });
    });
  });

  inLongLane(() => {
    it('can be installed in many worktrees at once', async () => {
      const names = Array.from({ length: isLongLane ? 8 : 3 }, (_, i) => `feature/n${i}`);
      const made = await Promise.all(
        names.map((branch) => createWorktree(repo, { stateDir: scratch.folder, branch, base: 'main' })),
      );
      const fences = await Promise.all(
        made.map((one, i) =>
          installFence(valueOf(one).path, {
            stateDir,
            project: 'p',
            taskId: `T${i}`,
            epoch: 1,
            branch: names[i] ?? '',
          }),
        ),
      );
      expect(fences.filter(({ ok }) => ok)).toHaveLength(names.length);
      expect(readFileSync(join(repo, '.git/config'), 'utf8').match(/worktreeConfig/g)).toHaveLength(1);
    });
  });
});

async function claim(epoch: number): Promise<void> {
  valueOf(await installFence(worktree, { stateDir, project: PROJECT, taskId: 'P0.1.1', epoch, branch: BRANCH }));
  writeFence(stateDir, PROJECT, 'P0.1.1', { epoch, sessionId: `s${epoch}` });
}

function tryCommit(env: NodeJS.ProcessEnv = {}, path = worktree): { code: number | null; stderr: string } {
  return scratch.try(path, ['commit', '--quiet', '--allow-empty', '-m', 'x'], env);
}
