import { expect, it } from 'vitest';
import { WorkflowPlay } from '../../engine/workflow.cases.ts';
import { unservedView } from './status.ts';

const CI = { ciGate: true, checks: [{ name: 'unit', run: 'true' }] } as const;

it('names the command that claims a task that no worker serves', () => {
  const merge = new WorkflowPlay(CI).toMerge();
  expect(unservedView(merge.state, merge.rules)).toMatchObject([{ id: merge.id, next: `baton merge ${merge.id}` }]);
  const review = new WorkflowPlay(CI).toReview();
  expect(unservedView(review.state, review.rules)).toMatchObject([
    { id: review.id, next: `baton task claim ${review.id} --as NAME --role reviewer --worktree` },
  ]);
});

it('names the person who took a task over', () => {
  const play = new WorkflowPlay(CI, 'semi').turn('issue-manager').turn('prep');
  const { id, options } = play.decision();
  const option = options.findIndex(({ action }) => action === 'take_over') + 1;
  play.order({ kind: 'resolve-decision', command: { id, option } });
  const next = `baton task claim ${play.id} --as NAME --role implementer --worktree`;
  expect(unservedView(play.state, play.rules)).toMatchObject([{ takenBy: 'operator:ann', next }]);
});
