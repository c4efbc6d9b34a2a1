import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { event, type Events } from '../../state/event.ts';
import { findEffect } from '../../state/runs/effect.ts';
import { record } from '../../state/say.cases.ts';
import { mergeTask } from '../merges/merge-task.ts';
import { followMerges } from './follow-main.ts';
import { Fleet } from './hosts.cases.ts';
import { removeMergedRefs } from './remove-refs.ts';
import { inLongLane } from '../../../test/lanes.ts';

let fleet: Fleet;
beforeEach(() => {
  fleet = new Fleet();
});
afterEach(() => fleet.scratch.remove());

const remoteMain = (): string => fleet.scratch.git(fleet.remote, 'rev-parse', 'main');

/** Requests the merge of a session on beta. Alpha is the caretaker and performs it. */
async function ask(): Promise<Events['MergeRequested']> {
  const there = await fleet.beta.begin('s1');
  const head = fleet.scratch.commit(there, { 'a.txt': 'one\n' });
  await fleet.beta.end();
  fleet.say(record({ task_id: 'A', commit_sha: head }));
  const moved = { task_id: 'A', from: fleet.task.phase, to: 'READY_FOR_MERGE', reason: 'ready', next_role: null };
  const asked = { merge_id: 'm1', task_id: 'A', head, branch: 'feature/a', into: '', method: 'squash' } as const;
  fleet.record(
    event('PhaseMoved', moved as never),
    event('MergeRequested', { ...asked, checks: [], message: 'do it\n', handoff: null }),
  );
  const effect = findEffect(fleet.story.state, 'MergeRequested', 'merge:m1');
  if (effect === undefined) throw new Error('no merge is owed');
  return effect.data;
}

async function merge(effect: Events['MergeRequested']) {
  const [command] = await mergeTask(effect, fleet.alpha.context, new AbortController().signal);
  return command?.kind === 'finish-merge' ? command.command : undefined;
}

/** A person pushes to the main branch of the remote. */
function pushMain(file: string): string {
  const seed = join(fleet.scratch.folder, 'seed');
  fleet.scratch.git(seed, 'pull', '--quiet', '--ff-only', fleet.remote, 'main');
  const sha = fleet.scratch.commit(seed, { [file]: 'x\n' });
  fleet.scratch.git(seed, 'push', '--quiet', fleet.remote, 'main');
  return sha;
}

describe('a merge in a fleet', () => {
  it('updates the main branch of the remote, from a head that only another host has, and both clones follow', async () => {
    const { alpha, beta, scratch } = fleet;
    const base = remoteMain();
    const ended = await merge(await ask());
    expect(ended).toMatchObject({ outcome: 'merged', base, merge_sha: remoteMain() });
    expect(remoteMain()).not.toBe(base);
    expect(scratch.git(alpha.path, 'rev-parse', 'main')).toBe(remoteMain());
    const finished = { merge_id: 'm1', task_id: 'A', head: base, base, files: [], reason: null, output: null } as const;
    const recorded = {
      seq: 1,
      at: '',
      actor: '',
      ...event('MergeFinished', { ...finished, outcome: 'merged', merge_sha: remoteMain() } as never),
    };
    await followMerges([recorded], beta.context);
    expect(scratch.git(beta.path, 'rev-parse', 'main')).toBe(remoteMain());
    expect(scratch.git(beta.path, 'status', '--porcelain')).toBe('');
  });

  inLongLane(() => {
    it('is made again on commits that were pushed since, and found again after a crash', async () => {
      const effect = await ask();
      const pushed = pushMain('theirs.txt');
      const ended = await merge(effect);
      expect(ended).toMatchObject({ outcome: 'merged', base: pushed, merge_sha: remoteMain() });
      pushMain('later.txt');
      expect(await merge(effect)).toMatchObject({ outcome: 'merged', base: pushed, merge_sha: ended?.merge_sha });
    });
  });

  it('is not done twice by the next caretaker', async () => {
    const effect = await ask();
    const ended = await merge(effect);
    const [command] = await mergeTask(effect, fleet.beta.context, new AbortController().signal);
    expect(command?.command).toMatchObject({ outcome: 'merged', merge_sha: ended?.merge_sha });
    expect(fleet.scratch.git(fleet.remote, 'rev-list', '--count', 'main')).toBe('2');
  });

  it("is refused with the remote's message, and moves nothing here", async () => {
    const effect = await ask();
    const before = fleet.scratch.git(fleet.alpha.path, 'rev-parse', 'main');
    fleet.scratch.write(fleet.remote, { 'hooks/update': '#!/bin/sh\necho "protected branch" >&2\nexit 1\n' }, 0o755);
    expect(await merge(effect)).toMatchObject({
      outcome: 'refused',
      reason: expect.stringContaining('protected branch'),
    });
    expect(fleet.scratch.git(fleet.alpha.path, 'rev-parse', 'main')).toBe(before);
  });
});

describe('the main branch of the remote', () => {
  inLongLane(() => {
    it('is recorded without a decision if it moves forward', async () => {
      expect(await fleet.alpha.seeMain()).toBe('known');
      const sha = pushMain('theirs.txt');
      expect(await fleet.alpha.seeMain()).toBe('recorded');
      expect(fleet.story.state.main.get('main')).toMatchObject({ sha, trusted: null });
      // The other caretaker measures from a commit that its clone lacks.
      pushMain('more.txt');
      expect(await fleet.beta.seeMain()).toBe('recorded');
      expect(fleet.story.entries.at(-1)).toMatchObject({
        type: 'MainMoved',
        data: { old: sha, fast_forward: true, commits: 1 },
      });
    });
  });

  it('needs a person if its history was rewritten', async () => {
    pushMain('theirs.txt');
    await fleet.alpha.seeMain();
    const before = fleet.story.state.main.get('main')?.sha;
    const seed = join(fleet.scratch.folder, 'seed');
    fleet.scratch.git(seed, 'commit', '--quiet', '--amend', '--message', 'other');
    fleet.scratch.git(seed, 'push', '--quiet', '--force', fleet.remote, 'main');
    expect(await fleet.alpha.seeMain()).toBe('recorded');
    expect(fleet.story.state.main.get('main')?.trusted).toMatchObject({ sha: before });
  });
});

inLongLane(() => {
  describe('the refs of a task', () => {
    it('are removed from the remote only after its merge and completion', async () => {
      const effect = await ask();
      expect(await removeMergedRefs(fleet.alpha.context)).toBe(0);
      const ended = await merge(effect);
      if (ended === undefined) throw new Error('not merged');
      fleet.say({ kind: 'finish-merge', command: ended }, { kind: 'system', name: 'merge' });
      expect(fleet.task).toMatchObject({ phase: 'COMPLETED', flow: { mergeSha: ended.merge_sha } });
      fleet.scratch.git(fleet.remote, 'update-ref', 'refs/baton/B/1', remoteMain());
      expect(await removeMergedRefs(fleet.alpha.context)).toBe(1);
      expect(Object.keys(fleet.refs())).toEqual(['refs/baton/B/1']);
    });
  });
});
