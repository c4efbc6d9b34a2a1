import { expect, it } from 'vitest';
import { emptyState } from '../../state/state.ts';
import { toStateJson } from '../../state/json-form.ts';
import * as folding from './folding.ts';
import { ProjectModel } from './project-model.ts';

function entry(seq: number, type = 'Unknown') {
  const recorded = {
    actor: 'operator:ann',
    at: '2026-01-01T00:00:00.000Z',
    cause: null,
    data: {},
    prev: '0'.repeat(64),
    project: 'p',
    seq,
    type,
    v: 1,
  };
  return { project: 'p', seq, entry: recorded, hash: '' };
}

function modelAt(seq: number): { readonly model: ProjectModel; readonly reads: () => number } {
  let reads = 0;
  const read = async () => {
    reads += 1;
    const state = { ...emptyState(), seq: model.seq };
    return { ok: true, result: { seq: model.seq, state: toStateJson(state) } } as const;
  };
  const model: ProjectModel = new ProjectModel(seq, read, async () => folding);
  return { model, reads: () => reads };
}

it('reads the snapshot once, and folds what follows', async () => {
  const { model, reads } = modelAt(3);
  await Promise.all([model.load(), model.load()]);
  model.add(entry(4));
  model.add(entry(5));
  expect([model.state?.seq, model.seq, reads()]).toEqual([5, 5, 1]);
});

it('folds entries that came while the snapshot was read', async () => {
  const { model } = modelAt(3);
  const loading = model.load();
  model.add(entry(4));
  await loading;
  expect(model.state?.seq).toBe(4);
});

it.each([
  ['an entry is missing', (model: ProjectModel) => model.add(entry(6))],
  ['an entry is none', (model: ProjectModel) => model.add(entry(4, 'not a type'))],
])('reads the snapshot again after %s', async (_, disturb) => {
  const { model, reads } = modelAt(3);
  await model.load();
  disturb(model);
  expect(model.state).toBeUndefined();
  await model.load();
  expect([model.state?.seq, reads()]).toEqual([model.seq, 2]);
});

it('goes back with a ledger that has fewer entries', async () => {
  const { model } = modelAt(9);
  await model.load();
  model.goBack(2);
  await model.load();
  expect([model.seq, model.state?.seq]).toEqual([2, 2]);
});
