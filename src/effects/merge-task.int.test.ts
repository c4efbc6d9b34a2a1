import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Scratch } from '../git/scratch.cases.ts';
import { decide, type Command } from '../state/decide.ts';
import { create, operator, record } from '../state/say.cases.ts';
import { emptyState, evolve } from '../state/state.ts';
import { mergeTask } from './merge-task.ts';
import type { World } from './world.ts';

let scratch: Scratch;
let repo: string;
beforeEach(() => {
  scratch = new Scratch();
  repo = scratch.repository();
  scratch.git(repo, 'switch', '--quiet', '--create', 'feature/a');
  scratch.commit(repo, { mine: '1' });
});
afterEach(() => scratch.remove());

/** Merges the branch as it is now, with a check that only GitHub can run. */
async function merge() {
  const head = scratch.git(repo, 'rev-parse', 'feature/a').trim();
  const state = emptyState();
  const said: readonly Command[] = [create('A'), record({ task_id: 'A', commit_sha: head })];
  for (const command of said) {
    const outcome = decide(state, command, operator, { ciGate: true, mergeGate: true });
    for (const each of outcome.ok ? outcome.events : [])
      evolve(state, { ...each, seq: state.seq + 1, at: '', actor: 'operator:ann' });
  }
  const words = {
    message: `do it\n\nBaton-Head: ${head}\n`,
    into: 'main',
    branch: 'feature/a',
    method: 'squash',
  } as const;
  const effect = {
    kind: 'merge',
    key: 'merge:m1',
    mergeId: 'm1',
    taskId: 'A',
    head,
    checks: [{ name: 'build' }],
    ...words,
  } as const;
  // Without checks of its own, a merge touches nothing else of the daemon.
  const part = {
    path: repo,
    stateDir: scratch.folder,
    read: async (look: (of: typeof state) => unknown) => look(state),
  };
  const world = { ...part, merges: { pass: async <T>(work: () => Promise<T>) => work() } } as unknown as World; // oxlint-disable-line typescript/no-unsafe-type-assertion
  const [command] = await mergeTask(effect, world, new AbortController().signal);
  return command?.kind === 'finish-merge' ? command.command : undefined;
}

describe('a merge whose checks run at GitHub alone', () => {
  it('lands as it was checked', async () => {
    const ended = await merge();
    expect(ended).toMatchObject({ outcome: 'merged' });
    expect(scratch.git(repo, 'rev-parse', 'main').trim()).toBe(ended?.merge_sha);
    // Whoever asks a second time, because nobody heard the answer, hears the same.
    expect(await merge()).toMatchObject({ outcome: 'merged', merge_sha: ended?.merge_sha, base: ended?.base });
  });

  it('goes back where main has moved on: nobody has checked the two together', async () => {
    scratch.git(repo, 'switch', '--quiet', 'main');
    const moved = scratch.commit(repo, { theirs: '1' });
    scratch.git(repo, 'switch', '--quiet', 'feature/a');
    expect(await merge()).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('(build)') });
    expect(scratch.git(repo, 'rev-parse', 'main').trim()).toBe(moved.trim());
    scratch.git(repo, 'merge', '--quiet', '--no-edit', 'main');
    expect(await merge()).toMatchObject({ outcome: 'merged', base: moved.trim() });
  });
});
