import { expect, it } from 'vitest';
import { WorkflowPlay } from '../../engine/workflow.cases.ts';
import * as say from '../say.cases.ts';
import { countGates } from './effect.ts';

it('counts checks and merges as work until each has its outcome', () => {
  const play = new WorkflowPlay();
  const count = (): number => countGates(play.state);
  play.turn('issue-manager').turn('prep');
  expect(count()).toBe(0);
  play.turn('implementer', { head: say.SHA });
  expect([play.stands()[0], count()]).toEqual(['CI_PENDING', 1]);
  play.check();
  expect(count()).toBe(0);
  play.turn('reviewer').turn('validator');
  expect([play.types().includes('MergeRequested'), count()]).toEqual([true, 1]);
  play.merge('merged', 'f'.repeat(40));
  expect(count()).toBe(0);
});
