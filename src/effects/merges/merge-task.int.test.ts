import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OwnRepositoryImporter } from '../../git/own/transfer-commits.ts';
import { Scratch } from '../../git/scratch.cases.ts';
import { decide, type Command } from '../../state/decide.ts';
import { event, type Event, type Events } from '../../state/event.ts';
import { createStory, type Story } from '../../state/given.cases.ts';
import { findEffect } from '../../state/runs/effect.ts';
import { create, operator, record, system } from '../../state/say.cases.ts';
import type { State } from '../../state/state.ts';
import { mergeTask } from './merge-task.ts';
import type { EffectContext } from '../context.ts';
import { inLongLane } from '../../../test/lanes.ts';

let scratch: Scratch;
let repo: string;
const RULES = { ciGate: true, mergeGate: true };
let story: Story;
let state: State;
let recorded: Event['type'][];
beforeEach(() => {
  scratch = new Scratch();
  repo = scratch.repository();
  scratch.git(repo, 'switch', '--quiet', '--create', 'feature/a');
  scratch.commit(repo, { mine: '1' });
  story = createStory(RULES);
  ({ state } = story);
  recorded = [];
});
afterEach(() => scratch.remove());

const main = (): string => scratch.git(repo, 'rev-parse', 'main');

function fold(...events: readonly Event[]): void {
  recorded.push(...events.map(({ type }) => type));
  story.record(events, 'operator:ann');
}

function say(command: Command, caller = operator): string | undefined {
  const outcome = decide(state, command, caller, RULES, undefined);
  if (!outcome.ok) return outcome.refusal.message;
  fold(...outcome.events);
  return undefined;
}

type Merge = Events['MergeRequested'];

/** The merge request of a task that is ready. `checks` are GitHub's, so that the merge starts no process but git. */
function request(head = scratch.git(repo, 'rev-parse', 'feature/a'), checks: Merge['checks'] = []): Merge {
  const from = state.tasks.get('A')?.phase;
  if (from === undefined) say(create('A'));
  say(record({ task_id: 'A', commit_sha: head }));
  const { phase } = state.tasks.get('A') ?? { phase: 'NEW' };
  const asked = { merge_id: 'm1', task_id: 'A', head, branch: 'feature/a', into: 'main', method: 'squash' } as const;
  fold(
    event('PhaseMoved', {
      task_id: 'A',
      from: phase,
      to: 'READY_FOR_MERGE',
      reason: 'ready',
      next_role: null,
    } as never),
    event('MergeRequested', { ...asked, checks, message: `do it\n\nBaton-Head: ${head}\n`, handoff: null }),
  );
  const effect = findEffect(state, 'MergeRequested', 'merge:m1');
  if (effect === undefined) throw new Error('no merge is owed');
  return effect.data;
}

/** Performs the merge as a restarted daemon does. */
async function merge(effect: Merge, onTell: (command: Command) => void = () => undefined) {
  const part = {
    path: repo,
    stateDir: join(scratch.folder, 'state'),
    ownRepository: new OwnRepositoryImporter({ stateDir: join(scratch.folder, 'state'), projectId: 'p', path: repo }),
    readState: async (look: (of: State) => unknown) => look(state),
    submit: async (command: Command) => {
      onTell(command);
      const refused = say(command, system);
      return refused === undefined ? {} : { refused };
    },
    settingsFor: () => ({ protection: { patterns: [], inUse: [], programs: [] }, filters: [] }),
    recordMainMoves: async () => undefined,
    mergeSemaphore: { run: async <T>(work: () => Promise<T>) => work() },
  };
  const world = part as unknown as EffectContext; // oxlint-disable-line typescript/no-unsafe-type-assertion
  const [command] = await mergeTask(effect, world, new AbortController().signal);
  return command?.kind === 'finish-merge' ? command.command : undefined;
}

describe('a merge whose checks run only at GitHub', () => {
  it('is made as it was checked', async () => {
    const ended = await merge(request(undefined, [{ name: 'build' }]));
    expect(ended).toMatchObject({ outcome: 'merged', merge_sha: main() });
  });

  it('is returned if main has moved, because the combination was not checked', async () => {
    scratch.git(repo, 'switch', '--quiet', 'main');
    const moved = scratch.commit(repo, { theirs: '1' });
    scratch.git(repo, 'switch', '--quiet', 'feature/a');
    const effect = request(undefined, [{ name: 'build' }]);
    expect(await merge(effect)).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('(build)') });
    expect(main()).toBe(moved);
    scratch.git(repo, 'merge', '--quiet', '--no-edit', 'main');
    const again = request(scratch.git(repo, 'rev-parse', 'feature/a'), [{ name: 'build' }]);
    expect(await merge(again)).toMatchObject({ outcome: 'merged', base: moved });
  });
});

describe('the recorded commit of a merge', () => {
  it('is recorded before the branch moves, and found again after a daemon ended in between', async () => {
    const effect = request();
    const before = main();
    const ended = await merge(effect, () => expect(main()).toBe(before));
    expect(recorded.at(-1)).toBe('MergePrepared');
    expect(await merge(effect)).toMatchObject({ outcome: 'merged', merge_sha: ended?.merge_sha, base: before });
    scratch.git(repo, 'switch', '--quiet', 'main');
    scratch.commit(repo, { later: '1' });
    expect(await merge(effect), 'also below later commits').toMatchObject({
      merge_sha: ended?.merge_sha,
      base: before,
    });
    expect(recorded.filter((type) => type === 'MergePrepared')).toHaveLength(1);
  });

  it('is moved to if the branch has not moved', async () => {
    const effect = request();
    const lost = await merge(effect, () => {
      throw new Error('killed');
    }).catch(() => undefined);
    expect(lost).toBeUndefined();
    const ended = await merge(effect);
    scratch.git(repo, 'update-ref', 'refs/heads/main', ended?.base ?? '');
    expect(await merge(effect)).toMatchObject({ outcome: 'merged', merge_sha: ended?.merge_sha });
    expect(recorded.filter((type) => type === 'MergePrepared')).toHaveLength(1);
  });

  inLongLane(() => {
    it.each([
      ['on main', () => scratch.git(repo, 'switch', '--quiet', 'main')],
      ['on another branch that was merged', () => scratch.git(repo, 'switch', '--quiet', '--create', 'aside', 'main')],
    ])('is not taken from the words of a commit %s', async (_, where) => {
      const head = scratch.git(repo, 'rev-parse', 'feature/a');
      where();
      scratch.commit(repo, { other: '1' }, `chore: other\n\nBaton-Task: A\nBaton-Head: ${head}`);
      if (scratch.git(repo, 'branch', '--show-current') === 'aside') {
        scratch.git(repo, 'switch', '--quiet', 'main');
        scratch.git(repo, 'merge', '--quiet', '--no-ff', '--no-edit', 'aside');
      }
      const ended = await merge(request(head));
      expect(ended).toMatchObject({ outcome: 'merged', merge_sha: main() });
      expect(scratch.git(repo, 'show', 'main:mine')).toBe('1');
    });
  });

  it('is not a commit that looks alike, with its message and author but without the work', async () => {
    const effect = request();
    const [ended, alike] = await landAlike(effect, () => {
      scratch.git(repo, 'switch', '--quiet', 'main');
      scratch.commit(repo, { other: '1' });
      return scratch.git(repo, 'rev-parse', 'HEAD^{tree}');
    });
    const next = await merge(effect);
    expect(next).toMatchObject({ outcome: 'merged', base: alike, merge_sha: main() });
    expect(next?.merge_sha).not.toBe(ended);
    expect(scratch.git(repo, 'show', 'main:mine')).toBe('1');
    expect(recorded.filter((type) => type === 'MergePrepared')).toHaveLength(2);
  });

  it('is not a commit that looks alike and has its tree: then nothing is left to merge', async () => {
    const effect = request();
    const [ended, alike] = await landAlike(effect, (merged) => scratch.git(repo, 'rev-parse', `${merged}^{tree}`));
    expect(alike).not.toBe(ended);
    // The branch did not move: the reported merge is the branch's position, not the recorded commit.
    expect(await merge(effect)).toMatchObject({ outcome: 'merged', base: alike, merge_sha: alike });
    expect([main(), recorded.filter((type) => type === 'MergePrepared').length]).toEqual([alike, 1]);
  });

  inLongLane(() => {
    it('is not a commit on a second parent', async () => {
      const effect = request();
      const ended = await merge(effect);
      scratch.git(repo, 'update-ref', 'refs/heads/main', ended?.base ?? '');
      scratch.git(repo, 'switch', '--quiet', 'main');
      scratch.commit(repo, { theirs: '1' });
      // The strategy discards the change: the commit is in the history, but its files are not.
      scratch.git(repo, 'merge', '--quiet', '--no-edit', '--strategy=ours', ended?.merge_sha ?? '');
      const next = await merge(effect);
      expect(next).toMatchObject({ outcome: 'merged', merge_sha: main() });
      expect(scratch.git(repo, 'show', 'main:mine')).toBe('1');
    });
  });

  it('is not merged if the merge was cancelled', async () => {
    const effect = request();
    const before = main();
    const ended = await merge(effect, () => {
      const ended = { base: null, merge_sha: null, reason: 'called off', files: [], output: null };
      fold(event('MergeFinished', { merge_id: 'm1', task_id: 'A', head: effect.head, outcome: 'refused', ...ended }));
    });
    expect(ended).toBeUndefined();
    expect(main()).toBe(before);
  });
});

/**
 * Moves the branch from its position before the merge to a commit that looks like the merge. Returns the recorded merge
 * and that commit.
 */
async function landAlike(effect: Merge, treeFor: (merged: string) => string): Promise<readonly [string, string]> {
  const ended = await merge(effect);
  const [merged, base] = [ended?.merge_sha ?? '', ended?.base ?? ''];
  scratch.git(repo, 'update-ref', 'refs/heads/main', base);
  const tree = treeFor(merged);
  const format = '%an%x00%ae%x00%ad%x00%cn%x00%ce%x00%cd%x00%B';
  const [name, email, date, committer, from, , message = ''] = scratch
    .git(repo, 'log', '-1', `--format=${format}`, '--date=raw', merged)
    .split('\0');
  const { stdout } = spawnSync('git', ['commit-tree', '-p', base, '-m', message, tree], {
    cwd: repo,
    encoding: 'utf8',
    env: {
      ...process.env,
      GIT_AUTHOR_NAME: name,
      GIT_AUTHOR_EMAIL: email,
      GIT_AUTHOR_DATE: date,
      GIT_COMMITTER_NAME: committer,
      GIT_COMMITTER_EMAIL: from,
      // With the same date it would be the same commit.
      GIT_COMMITTER_DATE: '2000000000 +0000',
    },
  });
  scratch.git(repo, 'update-ref', 'refs/heads/main', stdout.trim());
  return [merged, stdout.trim()];
}

describe('content that the repository shows differently', () => {
  it('is merged as reviewed, even if git has pruned it since', async () => {
    const effect = request();
    const own = new OwnRepositoryImporter({ stateDir: join(scratch.folder, 'state'), projectId: 'p', path: repo });
    expect((await own.with(effect.head)).ok).toBe(true);
    scratch.git(repo, 'switch', '--quiet', 'main');
    scratch.git(repo, 'branch', '--quiet', '-D', 'feature/a');
    scratch.git(repo, 'reflog', 'expire', '--expire=now', '--all');
    scratch.git(repo, 'prune', '--expire=now');
    expect(scratch.try(repo, ['cat-file', '-e', effect.head]).code).not.toBe(0);
    expect(await merge(effect)).toMatchObject({ outcome: 'merged' });
    expect(scratch.git(repo, 'show', 'main:mine')).toBe('1');
    expect(readFileSync(join(repo, 'mine'), 'utf8')).toBe('1');
    expect(scratch.try(repo, ['fsck', '--strict']).code).toBe(0);
  });

  it('is refused by name if an object was overwritten', async () => {
    const effect = request();
    const evil = scratch.git(repo, 'hash-object', '-w', 'README.md');
    const blob = scratch.git(repo, 'rev-parse', 'feature/a:mine');
    const path = (sha: string): string => join(repo, '.git', 'objects', sha.slice(0, 2), sha.slice(2));
    chmodSync(path(blob), 0o644);
    copyFileSync(path(evil), path(blob));
    expect(await merge(effect)).toMatchObject({ outcome: 'refused', reason: expect.stringContaining(blob) });
  });

  it('does not affect the merge: attributes, drivers, filters, hooks, identity', async () => {
    const mark = join(scratch.folder, 'ran');
    const program = join(scratch.folder, 'program');
    writeFileSync(program, `#!/bin/sh\necho "$0 $*" >>'${mark}'\nexit 1\n`, { mode: 0o755 });
    scratch.git(repo, 'switch', '--quiet', 'main');
    const attributes = '* filter=evil merge=evil diff=evil\n';
    scratch.commit(repo, { '.gitattributes': attributes, both: '1\n2\n3\n' });
    scratch.git(repo, 'switch', '--quiet', 'feature/a');
    scratch.git(repo, 'merge', '--quiet', '--no-edit', 'main');
    const head = scratch.commit(repo, { both: '1\n2\n3\nmine\n' });
    scratch.git(repo, 'switch', '--quiet', 'main');
    scratch.commit(repo, { both: 'theirs\n1\n2\n3\n' });
    const settings = ['filter.evil.smudge', 'filter.evil.clean', 'filter.evil.process', 'merge.evil.driver'];
    const others = ['diff.evil.textconv', 'diff.evil.command', 'core.fsmonitor', 'gpg.program'];
    for (const name of [...settings, ...others]) scratch.git(repo, 'config', name, program);
    scratch.git(repo, 'config', 'commit.gpgsign', 'true');
    scratch.git(repo, 'config', 'user.name', 'Mallory');
    scratch.git(repo, 'config', 'core.hooksPath', scratch.folder);
    for (const hook of ['reference-transaction', 'post-index-change', 'post-merge', 'post-checkout'])
      copyFileSync(program, join(scratch.folder, hook));
    const effect = request(head);
    const ended = await merge(effect);
    expect(existsSync(mark) ? readFileSync(mark, 'utf8') : '').toBe('');
    expect(ended).toMatchObject({ outcome: 'merged' });
    expect(readFileSync(join(repo, 'both'), 'utf8')).toBe('theirs\n1\n2\n3\nmine\n');
    const show = ['-c', 'core.fsmonitor=false', 'log', '-1', '--format=%cn %G?', 'main'];
    expect(scratch.git(repo, ...show)).toBe('Ada N');
  });
});
