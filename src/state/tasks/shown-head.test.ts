import { expect, it } from 'vitest';
import { WorkflowPlay } from '../../engine/workflow.cases.ts';
import { exit, SHA } from '../say.cases.ts';
import { shownHead } from './judging.ts';

const MOVED = 'f'.repeat(40);

it('shows people the commit that is checked, reviewed and merged, wherever the branch is moved', () => {
  const play = new WorkflowPlay().turn('issue-manager').turn('prep').turn('implementer', { head: SHA });
  const seen = (): readonly unknown[] => [play.task.phase, shownHead(play.task, MOVED)];
  expect(seen()).toEqual(['CI_PENDING', SHA]);
  play.check();
  expect(seen()).toEqual(['READY_FOR_REVIEW', SHA]);
  play.say(exit('REVIEW', 'blocked', { eventId: 'e9', notes: 'no key' }), play.claim('reviewer'));
  expect(seen()).toEqual(['BLOCKED', SHA]);
});

it('shows the branch while the task is worked on', () => {
  const play = new WorkflowPlay().turn('issue-manager').turn('prep').turn('implementer', { head: SHA }).check('failed');
  expect([play.task.phase, shownHead(play.task, MOVED), shownHead(play.task, null)]).toEqual([
    'IMPLEMENTATION',
    MOVED,
    SHA,
  ]);
});
