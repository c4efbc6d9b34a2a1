import { expect, it } from 'vitest';
import { WorkflowPlay } from '../../engine/workflow.cases.ts';
import { unservedView } from './status.ts';

const CI = { ciGate: true, checks: [{ name: 'unit', run: 'true' }] } as const;

it('names the command that claims a task that no worker serves', () => {
  const merge = new WorkflowPlay(CI).toMerge();
  expect(unservedView(merge.state, merge.rules)).toMatchObject([{ id: merge.id, next: `baton merge ${merge.id}` }]);
  const review = new WorkflowPlay(CI).toReview();
  expect(unservedView(review.state, review.rules)).toMatchObject([
    { id: review.id, next: `baton task claim ${review.id} --as NAME --role reviewer` },
  ]);
});
