import { expect, it } from 'vitest';
import type { WaitedRun } from '../../api/operations/run-wait.ts';
import { exitCodeOfWaits, renderWaits } from './render-waits.ts';

it.each([
  [['done', 'done'], { all: 0, any: 0 }],
  [['done', 'cancelled'], { all: 1, any: 0 }],
  [['failed', 'done'], { all: 1, any: 1 }],
  [['done', 'going'], { all: 1, any: 0 }],
  [['going', 'done'], { all: 1, any: 0 }],
  [['going', 'waiting', 'done'], { all: 3, any: 3 }],
  [['cancelled', 'waiting', 'going'], { all: 3, any: 1 }],
  [['going'], { all: 1, any: 1 }],
] as const)('runs that are %j exit with %j', (states, { all, any }) => {
  const waits = states.map((state) => ({ state }));
  expect({ all: exitCodeOfWaits(waits, false), any: exitCodeOfWaits(waits, true) }).toEqual({ all, any });
});

it('names the decision of a run that waits', () => {
  const task: WaitedRun = {
    kind: 'task',
    id: 'T1',
    name: 'x',
    state: 'waiting',
    at: 'REVIEW',
    reason: 'Merge it?',
    decision_ids: ['d12345678'],
  };
  const pipeline: WaitedRun = {
    kind: 'pipeline',
    id: '3f1c9a2e-0000',
    name: 'ship',
    state: 'done',
    at: null,
    reason: null,
    decision_ids: [],
  };
  expect(renderWaits([task, pipeline])).toBe(
    'ID        KIND      STATE               AT      NEXT\n' +
      'T1        task      waits for a person  REVIEW  Merge it?; baton decision show d1234567\n' +
      '3f1c9a2e  pipeline  done                -\n',
  );
});
