import { describe, expect, it } from 'vitest';
import { type LogPart, TaskLogStory } from './log-story.ts';
import { jsonOf, renderPart } from './render-log-part.ts';

type Entry = readonly [type: string, data: object];

const AT = '2026-01-01T00:00:00.000Z';
const task = { task_id: 'T1', epoch: 1, session_id: 's1' };
const claimed: Entry = ['TaskClaimed', { ...task, holder: 'coder', role: 'implementer' }];
const requested = (agent_id = 'a1111111-2', of: object | null = task): Entry => [
  'AgentRequested',
  { agent_id, plan: { name: 'coder', run: 'claude' }, task: of },
];
const about = (type: string, more: object = {}): Entry => [type, { agent_id: 'a1111111-2', ...more }];
const ended = about('AgentEnded', { outcome: 'done', reason: null });
const exited = about('AgentExited', { code: 0 });

function tell(entries: readonly Entry[], story = new TaskLogStory('T1')): LogPart[] {
  return entries.flatMap(([type, data]) => {
    // Like the command: an entry that cannot concern the task is not parsed.
    if (!story.mayConcern(JSON.stringify({ type, data }))) return [];
    return story.note({ type, at: AT, data: { ...data } });
  });
}

const lines = (entries: readonly Entry[]): string[] =>
  tell(entries)
    .filter(({ kind }) => kind !== 'session-end')
    .flatMap(renderPart)
    .map(([text]) => text);

describe('a session', () => {
  it('has its role, agent, start and end in its heading', () => {
    expect(lines([claimed, requested(), about('AgentStarted'), ended, exited])).toEqual([
      '',
      '━━ implementer: coder a1111111, 2026-01-01 00:00:00Z, done',
    ]);
    const other: Entry = ['TaskClaimed', { ...task, holder: 'worker:night', role: null }];
    const failed = about('AgentEnded', { outcome: 'failed', reason: 'no signal\nat all' });
    expect(lines([other, requested(), failed])).toEqual([
      '',
      '━━ coder a1111111, held by worker:night, 2026-01-01 00:00:00Z, failed: no signal · at all',
    ]);
  });

  it('is over when the run has its outcome and its last process has exited', () => {
    const story = new TaskLogStory('T1');
    tell([claimed, requested(), about('AgentStarted'), exited, about('AgentStarted')], story);
    expect(story.working).toHaveLength(1);
    expect(tell([ended], story)).toEqual([]);
    expect(tell([exited], story)).toMatchObject([{ kind: 'session-end', ended: 'done' }]);
    expect(story.working).toEqual([]);
  });

  it('of another task is not shown', () => {
    expect(tell([requested('b1', { ...task, task_id: 'T2' }), requested('c1', null)])).toEqual([]);
    expect(tell([['PhaseMoved', { task_id: 'T2', from: 'REVIEW', to: 'COMPLETED', reason: '' }]])).toEqual([]);
  });

  it('has no log if the claim is manual, and is named when it ends', () => {
    const ada: Entry = ['TaskClaimed', { ...task, holder: 'ada', role: null }];
    expect(lines([ada, ['ClaimReleased', { ...task, reason: 'too hard' }]])).toEqual([
      '━ 2026-01-01 00:00:00Z ada worked by hand: released: too hard',
    ]);
    expect(lines([claimed, requested(), ['ClaimCompleted', { ...task, reason: null }]])).toHaveLength(2);
  });
});

describe('between sessions', () => {
  it('shows why a check failed, or only that it passed', () => {
    const check = { checks_id: 'c', task_id: 'T1', head: 'abcdef0123456789', log: null };
    expect(
      lines([
        ['CheckFinished', { ...check, name: 'lint', outcome: 'passed', exit_code: 0, output: 'fine' }],
        ['CheckFinished', { ...check, name: 'test', outcome: 'failed', exit_code: 1, output: '1 failed\nTypeError' }],
      ]),
    ).toEqual([
      '━━ check lint: passed, of abcdef012345, 2026-01-01 00:00:00Z',
      '━━ check test: failed, exit code 1, of abcdef012345, 2026-01-01 00:00:00Z',
      '    1 failed',
      '    TypeError',
    ]);
  });

  it('shows why a merge failed', () => {
    const merge = { task_id: 'T1', outcome: 'conflict', reason: 'it conflicts', files: ['a.ts'], output: null };
    expect(lines([['MergeFinished', { ...merge, merge_sha: null }]])).toEqual([
      '━━ merge: conflict: it conflicts, 2026-01-01 00:00:00Z',
      '    conflict in a.ts',
    ]);
  });

  it('shows phases, questions and answers', () => {
    const asked = { decision_id: 'd1234567-8', title: 'Merge it?', task_id: 'T1' };
    expect(
      lines([
        ['PhaseMoved', { task_id: 'T1', from: 'REVIEW', to: 'IMPLEMENTATION', reason: 'changes requested' }],
        ['NoteAdded', { task_id: 'T1', text: 'too long', path: 'src/a.ts', line: 12 }],
        ['NoteAdded', { task_id: 'T1', text: 'well done' }],
        ['DecisionOpened', asked],
        ['DecisionAnswered', { decision_id: 'd1234567-8', action: 'deny', message: null, effective_at: '12:00' }],
        ['DecisionAnswerWithdrawn', { decision_id: 'd1234567-8', reason: null }],
        ['DecisionAnswerWithdrawn', { decision_id: 'd1234567-8', reason: 'it has changed' }],
        ['DecisionResolved', { decision_id: 'd1234567-8', option: 1, action: 'approve', message: 'fine' }],
        ['DecisionResolved', { decision_id: 'other', option: 1, action: 'deny', message: null }],
      ]).map((line) => line.slice('━ 2026-01-01 00:00:00Z '.length)),
    ).toEqual([
      'REVIEW → IMPLEMENTATION: changes requested',
      'a person noted on src/a.ts:12: too long',
      'a person noted: well done',
      'waits for a person: Merge it? (baton decision show d1234567)',
      'a person answered: deny, in effect at 12:00',
      'the answer was withdrawn',
      'the answer lapsed: it has changed',
      'a person decided: approve: fine',
    ]);
  });
});

it('is JSON with the names of the API', () => {
  expect(tell([claimed, requested()]).map(jsonOf)).toEqual([
    {
      kind: 'session',
      agent_id: 'a1111111-2',
      name: 'coder',
      role: 'implementer',
      holder: 'coder',
      at: AT,
      run: 'claude',
      ended: null,
    },
  ]);
});
