import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ResultOf } from '../../../api/operations/registry.ts';
import { restoreState } from '../../../state/json-form.ts';
import { RunScene } from '../../runs.cases.ts';

/** One daemon for all: these operations change nothing. */
let world: RunScene;
beforeAll(async () => {
  world = new RunScene();
  await world.start();
  for (const task_id of ['A', 'B']) await world.ask('task_create', { task_id, title: `do ${task_id}` });
});
afterAll(async () => world.end());

describe('state_snapshot', () => {
  it('returns the state of the newest entry, with its hash', async () => {
    const { seq, hash, state } = await world.ask<ResultOf<'state_snapshot'>>('state_snapshot');
    expect({ size: seq, hash }).toEqual(await world.ask('ledger_head'));
    expect([...restoreState(state).tasks.keys()]).toEqual(['A', 'B']);
  });
});
