import { expect, it } from 'vitest';
import type { TaskDetails } from '../../api/operations/tasks.ts';
import { renderTask } from './read.ts';

const task: TaskDetails = {
  id: 'D2',
  n: 2,
  title: 'second',
  status: 'todo',
  phase: 'IMPLEMENTATION',
  claimable: false,
  next_role: null,
  after: [],
  priority: 0,
  progress: null,
  notes: null,
  blocked_because: null,
  github_issue: null,
  description: null,
  claim: null,
  protected_paths: [],
  waits_for: [],
  decision_ids: [],
  endings: [],
  latest_record: null,
  authors: [],
  self_approval: null,
};

const linesOf = (more: Partial<TaskDetails>): string[] => renderTask({ ...task, ...more }).split('\n');

it('says how the tasks stand that another one waits for', () => {
  const waits_for: TaskDetails['waits_for'] = [
    { task_id: 'D1', status: 'blocked', blocked_because: 'no disk' },
    { task_id: 'D3', status: 'in_progress', blocked_because: null },
  ];
  expect(linesOf({ after: ['D0', 'D1', 'D3'], waits_for })).toContain(
    '  after      D0, D1 (blocked: no disk), D3 (in_progress)',
  );
});

it('names the decisions that are open about it', () => {
  expect(linesOf({ decision_ids: ['0123456789abcdef'] })).toContain('  decide     baton decision show 01234567');
  expect(linesOf({ decision_ids: [] }).join('\n')).not.toContain('decide');
});

it('says how a claim ended once', () => {
  const who = { epoch: 1, sessionId: 's', holder: 'ada', principal: 'ada', at: 'T' };
  const ending = (how: TaskDetails['endings'][number]['how'], reason: string | null) => ({ ...who, how, reason });
  expect(linesOf({ endings: [ending('revoked', 'revoked by an operator')] })).toContain(
    '  ended      T ada: revoked by an operator',
  );
  expect(linesOf({ endings: [ending('released', 'too hard')] })).toContain('  ended      T ada: released too hard');
  expect(linesOf({ endings: [ending('completed', null)] })).toContain('  ended      T ada: completed');
});

it('ends with the description, and names the issue at GitHub', () => {
  const github_issue = 'https://github.com/owner/name/issues/12';
  const lines = linesOf({ github_issue, description: 'With a flag.\n\n- one\n\u001B[31mtwo' });
  expect(lines).toContain(`  issue      ${github_issue}`);
  expect(lines.slice(-6, -2)).toEqual(['', '  With a flag.', '', '  - one']);
  expect(lines.at(-2)).not.toContain('\u001B');
});
