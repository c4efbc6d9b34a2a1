import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Scratch, valueOf } from '../../git/scratch.cases.ts';
import { createWorktree } from '../../git/worktree/create.ts';
import { emptyTask } from '../../state/say.cases.ts';
import type { EffectContext } from '../context.ts';
import { clearPlace } from './session-place.ts';

let scratch: Scratch;
beforeEach(() => {
  scratch = new Scratch();
});
afterEach(() => scratch.remove());

it.each([
  ['removed', 'whose work Baton squashed beside a line that others changed'],
  ['kept', 'with a commit after the one that Baton merged'],
])('is %s: the worktree of a completed task %s', async (outcome) => {
  const [path, stateDir, branch] = [scratch.repository(), join(scratch.folder, 'state'), 'feature/t1'];
  scratch.commit(path, { list: 'one\n' });
  const worktree = valueOf(await createWorktree(path, { stateDir, branch, base: 'main' })).path;
  const head = scratch.commit(worktree, { list: 'one\nfrom the task\n' });
  const mergeSha = scratch.commit(path, { list: 'changed by others\nfrom the task\n' });
  if (outcome === 'kept') scratch.commit(worktree, { more: '1' });
  const task = { ...emptyTask, phase: 'COMPLETED', flow: { ...emptyTask.flow, head, mergeSha } };
  const part = {
    path,
    stateDir,
    placeMutex: { run: async (_: string, act: () => Promise<unknown>) => act() },
    readState: async (look: (state: unknown) => unknown) => look({ tasks: new Map([[task.id, task]]) }),
    ownRepository: { with: async () => ({ ok: true }) },
    settingsFor: () => ({ workspace: { copy: [], link: [] }, into: 'main' }),
  };
  const context = part as unknown as EffectContext; // oxlint-disable-line typescript/no-unsafe-type-assertion
  const [cleared] = await clearPlace({ task_id: task.id, branch }, context);
  expect(cleared?.command).toMatchObject({ task_id: task.id, outcome });
  expect(existsSync(worktree)).toBe(outcome === 'kept');
});
