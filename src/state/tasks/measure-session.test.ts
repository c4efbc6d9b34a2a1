import { describe, it } from 'vitest';
import { event } from '../event.ts';
import { given, type Step } from '../given.cases.ts';
import {
  claim,
  create,
  expire,
  measure,
  operator,
  session,
  SHA,
  system,
  thought,
  update,
  worker,
} from '../say.cases.ts';
import { prepare } from '../workflow/say.cases.ts';

const started: Step[] = [
  [create(), operator],
  [claim(), worker],
  [prepare('A', 1), system],
];
const over: Step[] = [...started, [expire(), system]];
const measured = event('SessionMeasured', {
  task_id: 'A',
  epoch: 1,
  session_id: 's1',
  base: SHA,
  head: SHA,
  commits: 0,
  file_count: 0,
  files: [],
  new_dependencies: [],
  broken: [],
  violations: ['max_files: 2'],
});

describe('a session that ended without an exit signal', () => {
  it('is measured once', () => {
    given(over)
      .when(measure('s1', ['max_files: 2']), system)
      .then([measured]);
    given([...over, [measure('s1'), system]])
      .when(measure('s1', ['max_files: 2']), system)
      .then([]);
  });

  it.each<[string, readonly Step[]]>([
    ['while it goes on', started],
    ['once somebody else has the task', [...over, [claim('A', 's2'), worker]]],
    [
      'where Baton did not start it',
      [
        [create(), operator],
        [claim(), worker],
        [expire(), system],
      ],
    ],
  ])('is not measured %s', (_, steps) => {
    given(steps).when(measure('s1'), system).then([]);
  });
});

describe('a session that Baton started', () => {
  it.each([
    ['update', update('done')],
    ['complete', { kind: 'complete-task', command: { recordId: 'r1', record: thought() } } as const],
  ])('completes its task by its exit signal alone, not by %s', (_, command) => {
    given(started).when(command, session()).thenRefused('cannot complete: missing exit signal');
  });
});
