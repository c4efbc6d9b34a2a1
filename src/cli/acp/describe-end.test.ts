import { expect, it } from 'vitest';
import { taskOverview } from '../view/view.cases.ts';
import { describeEnd } from './describe-end.ts';

const { cost } = taskOverview();

it('names the merge, the proof and the cost', () => {
  const done = taskOverview({
    id: 'W-00001',
    activity: 'done',
    merge_sha: 'a'.repeat(40),
    cost: { ...cost, input_tokens: 1000, output_tokens: 234, cost_millicents: 42_000, work_ms: 61_000 },
  });
  expect(describeEnd(done)).toEqual([
    'W-00001 is done: merged as aaaaaaaaaaaa.',
    'Proof: baton ledger prove W-00001',
    'Cost: 1,234 tokens, $0.42, 1m 1s of work',
  ]);
});

it('gives the reason of a cancellation', () => {
  const cancelled = taskOverview({ id: 'W-00001', activity: 'cancelled', blocked_because: 'cancelled: not now' });
  expect(describeEnd(cancelled)[0]).toBe('W-00001 is cancelled: not now.');
});
