import { existsSync, readFileSync, symlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { event } from '../../state/event.ts';
import { claim, operator, release } from '../../state/say.cases.ts';
import { Fleet } from './hosts.cases.ts';
import { inLongLane } from '../../../test/lanes.ts';

let fleet: Fleet;
beforeEach(() => {
  fleet = new Fleet();
});
afterEach(() => fleet.scratch.remove());

const read = (folder: string, name: string): string => readFileSync(join(folder, name), 'utf8');

describe('the work of a task', () => {
  it('continues on another host from the recorded commit, with its uncommitted files', async () => {
    const { alpha, beta, scratch } = fleet;
    const there = await alpha.begin('s1');
    const sha = scratch.commit(there, { 'a.txt': 'one\n', 'old.txt': 'x\n' });
    scratch.write(there, { 'a.txt': 'two\n', 'sub/new.txt': 'new\n' });
    rmSync(join(there, 'old.txt'));
    symlinkSync('a.txt', join(there, 'link'));
    await alpha.end();
    expect(fleet.task.work).toMatchObject({ host: 'alpha', epoch: 1, failed: null, pushed: { sha, epoch: 1 } });
    const wip = fleet.task.work?.pushed?.wip;
    expect(fleet.refs()).toEqual({ 'refs/baton/A/1': sha, 'refs/baton/A/1-wip': wip });
    const here = await beta.begin('s2');
    expect(here.startsWith(beta.path)).toBe(true);
    expect(scratch.git(here, 'rev-parse', 'HEAD')).toBe(sha);
    expect(
      scratch
        .git(here, 'status', '--porcelain')
        .split('\n')
        .map((line) => line.trim()),
    ).toEqual(['M a.txt', 'D old.txt', '?? link', '?? sub/']);
    expect([read(here, 'a.txt'), read(here, 'sub/new.txt'), read(here, 'link')]).toEqual(['two\n', 'new\n', 'two\n']);
    // Nothing has changed there, but the end is still pushed, because the others wait for it.
    await beta.end();
    expect(fleet.task.work).toMatchObject({ host: 'beta', epoch: 2, pushed: { sha, wip, epoch: 2, host: 'beta' } });
  });

  it('returns: a clean worktree follows, and one with its own files is left unchanged', async () => {
    const { alpha, beta, scratch } = fleet;
    const first = await alpha.begin('s1');
    scratch.commit(first, { 'a.txt': 'one\n' });
    await alpha.end();
    const second = await beta.begin('s2');
    const sha = scratch.commit(second, { 'a.txt': 'two\n' });
    scratch.write(second, { 'left.txt': 'left\n' });
    await beta.end();
    expect(await alpha.begin('s3')).toBe(first);
    expect(scratch.git(first, 'rev-parse', 'HEAD')).toBe(sha);
    expect([read(first, 'a.txt'), read(first, 'left.txt')]).toEqual(['two\n', 'left\n']);
    const third = scratch.commit(first, { 'a.txt': 'three\n', 'left.txt': 'kept\n' });
    await alpha.end();
    const fourth = await beta.begin('s4');
    expect(fourth).not.toBe(second);
    expect(scratch.git(fourth, 'rev-parse', 'HEAD')).toBe(third);
    expect([scratch.git(second, 'rev-parse', 'HEAD'), read(second, 'left.txt')]).toEqual([sha, 'left\n']);
  });

  inLongLane(() => {
    it('never loses commits of a local branch: they are kept, and the log names their ref', async () => {
      const { alpha, beta, scratch } = fleet;
      const there = await alpha.begin('s1');
      const sha = scratch.commit(there, { 'a.txt': 'one\n' });
      await alpha.end();
      const branch = fleet.task.flow.branch ?? '';
      scratch.git(beta.path, 'switch', '--quiet', '--create', branch);
      const local = scratch.commit(beta.path, { 'mine.txt': 'mine\n' });
      scratch.git(beta.path, 'switch', '--quiet', 'main');
      const here = await beta.begin('s2');
      expect(scratch.git(here, 'rev-parse', 'HEAD')).toBe(sha);
      expect(scratch.git(beta.path, 'rev-parse', `refs/baton/kept/A/${local.slice(0, 12)}`)).toBe(local);
      expect(beta.logged.join('\n')).toContain('refs/baton/kept/A/');
    });
  });

  it('reaches only its own ref if the session is stale, and no session starts from that', async () => {
    const { alpha, beta, scratch } = fleet;
    const there = await alpha.begin('s1');
    const sha = scratch.commit(there, { 'a.txt': 'one\n' });
    fleet.nowMs += 60_000;
    alpha.push.tick(fleet.story.state);
    await expect.poll(() => fleet.task.work?.pushed?.sha).toBe(sha);
    fleet.record(event('ClaimExpired', { task_id: 'A', epoch: 1, session_id: 's1', reason: 'cut off' }));
    const here = await beta.begin('s2');
    const next = scratch.commit(here, { 'b.txt': 'b\n' });
    // The frozen agent continues, and its host pushes the result.
    const late = scratch.commit(there, { 'a.txt': 'late\n' });
    expect(
      fleet.say(
        { kind: 'report-push', command: { pushed: true, task_id: 'A', epoch: 1, host: 'alpha', sha: late, wip: null } },
        { kind: 'system', name: 'effects' },
      ),
    ).toContain('epoch 1');
    await beta.end();
    expect(fleet.refs('refs/baton/A/2')).toEqual({ 'refs/baton/A/2': next });
    expect(fleet.task.work?.pushed).toMatchObject({ sha: next, epoch: 2 });
  });

  it("begins at the recorded main branch, wherever the host's branch is", async () => {
    const { beta, scratch } = fleet;
    const seed = join(scratch.folder, 'seed');
    const sha = scratch.commit(seed, { 'later.txt': 'later\n' });
    scratch.git(seed, 'push', '--quiet', fleet.remote, 'main');
    const { sha: old = '' } = fleet.story.state.main.get('main') ?? {};
    const move = { old, fastForward: true, commits: 1, onUpstream: true, authors: [], stat: null };
    const seen = { branch: 'main', sha, upstream: null, isConfigured: false, seenAt: '', move };
    fleet.say({ kind: 'see-main', command: seen }, { kind: 'system', name: 'main' });
    const here = await beta.begin('s1');
    expect(scratch.git(here, 'rev-parse', 'HEAD')).toBe(sha);
    expect(scratch.git(beta.path, 'rev-parse', 'main')).toBe(old);
  });
});

describe('the host of a claim pushes', () => {
  it('new commits at once, then at most every 30 s, and uncommitted files every five minutes', async () => {
    const { alpha, scratch } = fleet;
    const there = await alpha.begin('s1');
    const tick = async (afterMs: number) => {
      fleet.nowMs += afterMs;
      alpha.push.tick(fleet.story.state);
      await alpha.push.idle();
    };
    await tick(2000);
    await tick(2000);
    expect(fleet.refs()).toEqual({});
    const first = scratch.commit(there, { 'a.txt': '1\n' });
    await tick(2000);
    expect(fleet.refs()).toEqual({ 'refs/baton/A/1': first });
    const second = scratch.commit(there, { 'a.txt': '2\n' });
    await tick(20_000);
    expect(fleet.refs()).toEqual({ 'refs/baton/A/1': first });
    await tick(10_000);
    expect(fleet.refs()).toEqual({ 'refs/baton/A/1': second });
    scratch.write(there, { 'a.txt': '3\n' });
    await tick(290_000);
    expect(fleet.refs()).toEqual({ 'refs/baton/A/1': second });
    await tick(10_000);
    expect(Object.keys(fleet.refs())).toEqual(['refs/baton/A/1', 'refs/baton/A/1-wip']);
    const entries = fleet.story.entries.length;
    await tick(300_000);
    expect(fleet.story.entries.length, 'the same is not recorded again').toBe(entries);
  });

  inLongLane(() => {
    it('nothing until its session is placed, because an old branch is not its work', async () => {
      const { alpha, beta, scratch } = fleet;
      const first = await beta.begin('s1');
      scratch.commit(first, { 'a.txt': '1\n' });
      await beta.end();
      const second = await alpha.begin('s2');
      const sha = scratch.commit(second, { 'a.txt': '2\n' });
      await alpha.end();
      fleet.say(claim('A', 's3'), operator, 'beta');
      fleet.nowMs += 600_000;
      beta.push.tick(fleet.story.state);
      await beta.push.idle();
      await beta.push.pushBeforeEnd('A', 3);
      expect(fleet.task.work).toMatchObject({ host: 'alpha', epoch: 2, pushed: { sha } });
      expect(Object.keys(fleet.refs('refs/baton/A/3'))).toEqual([]);
      const placed = await beta.place(3);
      expect(placed?.ok === true && scratch.git(placed.path, 'rev-parse', 'HEAD')).toBe(sha);
    });
  });

  inLongLane(() => {
    it('and records a failure, which binds the task to this host until a push succeeds', async () => {
      const { alpha, scratch } = fleet;
      const there = await alpha.begin('s1');
      const sha = scratch.commit(there, { 'a.txt': '1\n' });
      scratch.write(fleet.remote, { 'hooks/pre-receive': '#!/bin/sh\necho "disk quota" >&2\nexit 1\n' }, 0o755);
      await alpha.push.pushBeforeEnd('A', 1);
      expect(fleet.task.work).toMatchObject({
        host: 'alpha',
        pushed: null,
        failed: expect.stringContaining('disk quota'),
      });
      rmSync(join(fleet.remote, 'hooks/pre-receive'));
      await alpha.end();
      expect(fleet.task.work).toMatchObject({ failed: null, pushed: { sha } });
    });
  });

  inLongLane(() => {
    it('and keeps trying after the session has ended, because the others wait for it', async () => {
      const { alpha, beta, scratch } = fleet;
      const there = await alpha.begin('s1');
      const sha = scratch.commit(there, { 'a.txt': '1\n' });
      scratch.write(fleet.remote, { 'hooks/pre-receive': '#!/bin/sh\nexit 1\n' }, 0o755);
      await alpha.end();
      expect(fleet.task).toMatchObject({ claim: null, work: { failed: expect.any(String) } });
      expect(fleet.say(claim('A', 's2'), operator, 'beta')).toContain('the work of A is on alpha');
      rmSync(join(fleet.remote, 'hooks/pre-receive'));
      fleet.nowMs += 60_000;
      for (const host of [alpha, beta]) host.push.tick(fleet.story.state);
      await alpha.push.idle();
      expect(fleet.task.work).toMatchObject({ host: 'alpha', failed: null, pushed: { sha } });
      expect(scratch.git(await beta.begin('s2'), 'rev-parse', 'HEAD')).toBe(sha);
    });
  });

  it('before the end of its own claims is recorded, and of no others', async () => {
    const { alpha, beta, scratch } = fleet;
    const there = await alpha.begin('s1');
    const sha = scratch.commit(there, { 'a.txt': '1\n' });
    const ended = {
      seq: 1,
      at: '',
      actor: '',
      ...event('ClaimReleased', { task_id: 'A', epoch: 1, session_id: 's1', reason: null }),
    };
    expect(beta.push.holdBack([ended])).toBeUndefined();
    expect(alpha.push.holdBack([{ ...ended, data: { ...ended.data, epoch: 7 } }])).toBeUndefined();
    await alpha.push.holdBack([ended]);
    expect(fleet.refs()).toEqual({ 'refs/baton/A/1': sha });
    expect(fleet.say(release('A'))).toBeUndefined();
    expect(existsSync(there)).toBe(true);
  });
});
