import { describe, expect, it } from 'vitest';
import type { SessionView, TaskOverview } from '../../api/operations/task-view.ts';
import { widthOf } from '../table.ts';
import { renderTaskView } from './render-task-view.ts';
import { NO_TIMES, openDecision, stage, taskOverview, visit } from './view.cases.ts';

const PLAIN = { columns: Infinity, colors: false };
const linesOf = (more: Partial<TaskOverview>, look = PLAIN): string[] => renderTaskView(taskOverview(more), look);

const session: SessionView = {
  epoch: 1,
  session_id: 's1',
  agent_id: null,
  agent: null,
  run: null,
  status: null,
  role: null,
  holder: 'ada',
  principal: 'operator:ada',
  model: null,
  sandbox: null,
  started_at: '2026-01-01T00:00:00.000Z',
  ended_at: '2026-01-01T00:00:05.000Z',
  how: 'released',
  reason: null,
  processes: 0,
  blocks: 0,
  resumes: 0,
  tokens: null,
  cost_millicents: null,
  turns: 0,
};

describe('a task', () => {
  it('shows only a few facts if no session has worked on it', () => {
    expect(linesOf({ claimable: true })).toEqual([
      'D2 (number 2)  second',
      '  author     operator:ann',
      '  status     todo',
      '  phase      IMPLEMENTATION',
      '  claimable  yes',
      '  now        queued since 2026-01-01T00:00:00.000Z',
    ]);
  });

  it('names the status of the tasks that it waits for', () => {
    const waits_for: TaskOverview['waits_for'] = [
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

  it('ends with the description, and names the issue at GitHub', () => {
    const github_issue = 'https://github.com/owner/name/issues/12';
    const lines = linesOf({ github_issue, description: 'With a flag.\n\n- one\n\u001B[31mtwo' });
    expect(lines).toContain(`  github     ${github_issue}`);
    expect(lines.slice(-5)).toEqual(['', '  With a flag.', '', '  - one', '  \\u001b[31mtwo']);
  });

  it('shows each session and how it ended', () => {
    const agent = {
      ...session,
      epoch: 2,
      agent_id: '5d0e7b41-2',
      agent: 'coder',
      role: 'implementer',
      holder: 'coder',
    };
    const used = {
      tokens: 12_345,
      cost_millicents: 42_000,
      model: 'opus',
      sandbox: 'no sandbox',
      blocks: 1,
      processes: 2,
    };
    expect(
      linesOf({
        sessions: [
          { ...session, reason: 'too hard\nfor me' },
          { ...agent, ...used, how: null, ended_at: null, status: 'running' },
        ],
      }).slice(-4),
    ).toEqual([
      '  sessions',
      '    1  ada                           released  5s  2026-01-01T00:00:05.000Z',
      '       too hard · for me',
      '    2  coder (implementer) 5d0e7b41  running  opus  (no sandbox)  12,345 tokens  $0.42  1 blocked stop  2 processes  2026-01-01T00:00:00.000Z',
    ]);
  });
});

const workflow = taskOverview({
  id: 'W-00001',
  n: 1,
  title: 'Read durations back',
  status: 'in_progress',
  mode: 'semi',
  activity: 'waiting',
  rounds: 1,
  head: 'a'.repeat(40),
  commits: 2,
  times: { ...NO_TIMES, running_ms: 65_000, checks_ms: 4000, waiting_ms: 60_000 },
  issue: {
    title: 'Durations can be read back',
    type: 'feature',
    priority: 'high',
    summary: 'What formatDuration writes is read back.',
    requirements: ['parseDuration("1h") is 3600000'],
  },
  visits: [
    visit('implementer', { running_ms: 65_000, holder: 'coder' }),
    visit('ci', { checks_ms: 4000, outcome: 'failed', holder: null }),
    visit('fixer', { to: null, outcome: null, activity: 'waiting', round: 1, waiting_ms: 60_000 }),
  ],
  stages: [stage('implementer', 'done'), stage('fixer', 'now'), stage('validator', 'ahead'), stage('merge', 'ahead')],
  findings: [{ text: 'test not ok 1\n  expected 3600000', rounds: 2 }],
  checks: {
    head: 'a'.repeat(40),
    outcome: 'failed',
    checks: [
      { name: 'test', outcome: 'failed', exit_code: 1, output: 'not ok 1\nexpected 3600000', sandbox: null },
      { name: 'lint', outcome: 'passed', exit_code: 0, output: null, sandbox: 'container' },
    ],
  },
  decisions: [
    openDecision(),
    openDecision({
      id: '11112222',
      title: 'ready for work',
      result: { kind: 'resolved', at: 'T', option: 1, action: 'approve', by: 'operator:ann', message: 'go on' },
    }),
  ],
  cost: { ...taskOverview().cost, input_tokens: 1200, cost_millicents: 42_000, unpriced_tokens: 5 },
  diff_command: 'baton task diff W-00001',
});

describe('a workflow', () => {
  it('shows the issue, stages with times, findings, checks and decisions', () => {
    expect(renderTaskView(workflow, PLAIN).slice(5)).toEqual([
      '  mode       semi',
      '  now        waiting for a person since 2026-01-01T00:00:00.000Z',
      '  rounds     1',
      '  time       1m 5s running, 4s checks, 1m for a person',
      '  cost       $0.42+, 1,200 tokens',
      `  head       ${'a'.repeat(40)}, 2 commits`,
      '  diff       baton task diff W-00001',
      '  issue      Durations can be read back (feature, high)',
      '             What formatDuration writes is read back.',
      '             - parseDuration("1h") is 3600000',
      '  stages',
      '    ✓ implementer  1m 5s running  completed  coder',
      '    ✗ ci           4s checks  failed',
      '    ! fixer        waiting for a person 1m  round 1',
      '    · validator  · merge',
      '  findings of round 1',
      '    - test not ok 1 (found in 2 rounds in a row)',
      '        expected 3600000',
      '  checks of aaaaaaaaaaaa',
      '    ✗ test  failed, exit code 1',
      '      not ok 1',
      '      expected 3600000',
      '    ✓ lint  passed  (container)',
      '  decisions',
      '    ! 9b2d4c10 Task needs attention: W-00001 (ready for review) 1m',
      '      baton decision show 9b2d4c10',
      '    ✓ 11112222 ready for work  Continue by operator:ann',
      '      go on',
    ]);
  });

  it('fits a narrow terminal', () => {
    const wide = renderTaskView(workflow, { columns: 40, colors: false }).filter(
      // The output of a check is shown unchanged.
      (line) => widthOf(line) > 40 && !line.includes('expected'),
    );
    expect(wide).toEqual([]);
  });

  it('passes no terminal codes of agents', () => {
    const evil = '\u001B[2Jgone';
    const view: TaskOverview = {
      ...workflow,
      title: evil,
      findings: [{ text: evil, rounds: 1 }],
      sessions: [{ ...session, holder: evil, reason: evil, sandbox: evil }],
      visits: [visit('fixer', { holder: evil })],
      decisions: [openDecision({ title: evil })],
      issue: { title: evil, type: evil, priority: null, summary: evil, requirements: [evil] },
      checks: {
        head: 'a',
        outcome: 'failed',
        checks: [{ name: evil, outcome: 'failed', exit_code: 1, output: evil, sandbox: evil }],
      },
    };
    expect(renderTaskView(view, PLAIN).join('\n')).not.toContain('\u001B');
  });
});
