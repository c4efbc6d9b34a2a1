import { describe, expect, it } from 'vitest';
import type { AgentView, AttentionView, DecisionView, PipelineView, StepView } from '../../api/run-views.ts';
import { widthOf } from '../table.ts';
import { stage } from '../view/view.cases.ts';
import { describeFault, renderStatus, type RenderStatusOptions, type ShownStatus } from './render-status.ts';

const now = new Date('2026-03-01T12:00:00Z');
const options: RenderStatusOptions = { columns: 80, rows: 24, now, colors: false };
const NO_TASKS = { todo: 0, in_progress: 0, blocked: 0, done: 0, cancelled: 0 };
const NOTHING: ShownStatus = {
  all_clear: true,
  importing: null,
  summary: 'the verdict of the daemon',
  needs: 0,
  needs_you: [],
  answered: [],
  attention: [],
  workflows: [],
  pipelines: [],
  agents: [],
  tasks: NO_TASKS,
};

const agent = (id: string, more: Partial<AgentView> = {}): AgentView => ({
  id,
  name: 'fixer',
  status: 'running',
  run: 'scripted',
  role: null,
  outcome: null,
  pipeline_id: null,
  step: null,
  task_id: null,
  worker: null,
  on_stop: 'signal',
  start: 1,
  requested_at: '2026-03-01T11:57:00Z',
  reason: null,
  decision_id: null,
  process: 'running',
  pid: null,
  signal: null,
  exit: null,
  usage: null,
  folder: '',
  log: '',
  interactive: false,
  attached: null,
  sandbox: null,
  ...more,
});

const step = (name: string, status: StepView['status'], more: Partial<StepView> = {}): StepView => ({
  name,
  kind: 'agent',
  status,
  since: '2026-03-01T11:59:55Z',
  reason: null,
  agent_id: null,
  agent_status: null,
  command_id: null,
  pipeline_id: null,
  visits: 1,
  output: null,
  exit_code: null,
  log: null,
  ...more,
});

const pipeline = (id: string, steps: readonly StepView[], more: Partial<PipelineView> = {}): PipelineView => ({
  id,
  name: 'ship',
  status: 'running',
  step: null,
  vars: {},
  parent: null,
  task_id: null,
  worker: null,
  started_at: '2026-03-01T10:00:00Z',
  ended_at: null,
  reason: null,
  decision_id: null,
  workspace: null,
  steps,
  ...more,
});

const decision = (id: string, more: Partial<DecisionView> = {}): DecisionView => ({
  id,
  status: 'open',
  source: 'stop',
  title: 'Pipeline needs attention: ship',
  context: 'Agent tried to stop without signaling completion',
  options: [],
  agent_id: null,
  pipeline_id: null,
  task_id: null,
  opened_at: '2026-02-27T12:00:00Z',
  answer: null,
  lapsed: null,
  result: null,
  ...more,
});

const blocked = (id: string, more: Partial<AttentionView> = {}): AttentionView => ({
  kind: 'blocked',
  count: 1,
  task_id: id,
  title: `Task is blocked: ${id} do it`,
  context: 'on_dead: fail',
  next: `baton task unblock ${id} --reason "…"`,
  ...more,
});

const busy: ShownStatus = {
  all_clear: false,
  importing: null,
  summary: 'the summary of the daemon',
  needs: 1,
  needs_you: [decision('d1d1d1d1-0000')],
  answered: [],
  attention: [],
  workflows: [],
  pipelines: [
    pipeline(
      'p1p1p1p1-0000',
      [
        step('build', 'done'),
        step('review', 'waiting', { reason: 'on_stop: escalate', visits: 2 }),
        step('checks', 'running'),
        step('deploy', 'pending', { visits: 0 }),
      ],
      { status: 'waiting', task_id: 'P0.1' },
    ),
    pipeline('p2p2p2p2-0000', [step('lint', 'running')], {
      name: 'checks',
      parent: { pipeline_id: 'p1p1p1p1-0000', step: 'checks' },
    }),
  ],
  agents: [
    agent('a1a1a1a1-0000', {
      name: 'reviewer',
      status: 'escalated',
      pipeline_id: 'p1p1p1p1-0000',
      step: 'review',
    }),
    agent('a2a2a2a2-0000', { task_id: 'P0.2' }),
  ],
  tasks: { ...NO_TASKS, todo: 4, in_progress: 2, done: 9 },
};

it('shows the progress of the first copy of the repository', () => {
  const importing = 'Receiving objects: 45% (9/20)';
  const lines = renderStatus({ ...NOTHING, importing }, options);
  expect(lines.slice(0, 2)).toEqual(['the verdict of the daemon', `Copying the repository: ${importing}`]);
});

it('reports a daemon that does not answer once, and the cause of other errors', () => {
  const hung = { code: 'no-answer', message: 'the daemon does not answer (pid 7)', hint: 'kill -CONT 7' };
  const away = { code: 'daemon-away', message: 'nobody answers', hint: 'baton up' };
  expect(describeFault(hung)).toBe('The daemon does not answer (pid 7)');
  expect(describeFault(away)).toBe('The daemon cannot be reached: nobody answers');
});

describe('renderTree', () => {
  it('shows what needs a person, what runs, and the tasks', () => {
    expect(renderStatus(busy, options)).toEqual([
      'the summary of the daemon',
      'needs you',
      '  ! d1d1d1d1 Pipeline needs attention: ship 2d',
      '             Agent tried to stop without signaling completion',
      '             baton decision show d1d1d1d1',
      'pipelines (1 waiting)',
      '  ! ship p1p1p1p1 waiting 2h task P0.1',
      '    ├ ✓ build',
      '    ├ ! review (try 2) waiting 5s on_stop: escalate',
      '    │ ! reviewer a1a1a1a1 escalated 3m',
      '    ├ ● checks running 5s',
      '    │ ● checks p2p2p2p2 running 2h',
      '    │   └ ● lint running 5s',
      '    └ · deploy',
      'agents (1 running)',
      '  ● fixer a2a2a2a2 running 3m task P0.2',
      'tasks 4 todo, 2 in_progress, 9 done',
    ]);
  });

  it('names the sandbox of each agent, and those that have none', () => {
    const box = { kind: 'bubblewrap', network: 'full', limits: 'rlimits', notes: [], summary: '' };
    const boxed = agent('a3a3a3a3-0000', { sandbox: box });
    const open = agent('a4a4a4a4-0000', { sandbox: { ...box, kind: 'none' }, task_id: 'P0.1' });
    expect(renderStatus({ ...NOTHING, agents: [boxed, open] }, options).slice(-2)).toEqual([
      '  ● fixer a3a3a3a3 running 3m (bubblewrap)',
      '  ● fixer a4a4a4a4 running 3m (no sandbox) task P0.1',
    ]);
  });

  it("shows the daemon's verdict unchanged, and makes none of its own", () => {
    expect(renderStatus(NOTHING, options)).toEqual(['the verdict of the daemon']);
    const painted = renderStatus({ ...NOTHING, all_clear: false, needs: 1 }, { ...options, colors: true });
    expect(painted[0]).toBe('\u001B[1;33mthe verdict of the daemon\u001B[0m');
  });

  const since = new Date('2026-03-01T11:59:00Z');

  it.each([
    ['daemon-away', 'nobody answers', 'Run: baton up', 'The daemon cannot be reached'],
    [
      'no-answer',
      'the daemon closed the connection before it answered',
      'Start the daemon, or see that it runs: baton up',
      'The daemon cannot be reached',
    ],
    ['no-answer', 'the daemon does not answer (pid 7)', 'kill -CONT 7', 'The daemon does not answer'],
    ['project-busy', 'its ledger is locked', 'Wait', 'There is no status'],
  ])('shows no verdict without an answer: %s, %s', (code, message, hint, title) => {
    const away = { since, why: { code, message, hint } };
    const lines = renderStatus(NOTHING, { ...options, columns: Infinity, away });
    expect(lines[0]?.replace(/\d\d:\d\d:00/, '12:00')).toBe(`${title} since 12:00. ${hint}`);
    expect(lines[1]).toBe(`This status is 1m old. The agents continue. (${message})`);
    expect(lines.join('\n')).not.toContain('verdict');
  });

  it('keeps the lines of what a decision asks, up to a limit', () => {
    const found = Array.from({ length: 12 }, (_, i) => `  finding: number ${i}`);
    const context = ['T1', 'A session approves it, but its client cannot prove it.', 'What it found:', ...found].join(
      '\n',
    );
    const lines = renderStatus(
      { ...NOTHING, needs_you: [decision('9b2d4c10', { context })] },
      { ...options, rows: 60 },
    );
    const under = ' '.repeat(13);
    expect(lines).toContain(`${under}What it found:`);
    expect(lines).toContain(`${under}  finding: number 4`);
    expect(lines).not.toContain(`${under}  finding: number 5`);
    expect(lines).toContain(`${under}… 7 more lines`);
    expect(lines).toContain(`${under}baton decision show 9b2d4c10`);
  });

  it('shows answers that are not in effect yet, with the command that undoes them', () => {
    const answer = {
      option: 2,
      action: 'retry',
      label: 'Restart',
      by: 'operator:ann',
      at: '',
      message: null,
      agent: null,
      effective_at: new Date(options.now.getTime() + 3400).toISOString(),
      seq: 7,
    };
    const answered = [decision('d1d1d1d1-0000', { answer })];
    const wide = { ...options, columns: Infinity };
    expect(renderStatus({ ...NOTHING, all_clear: false, answered }, wide)).toEqual([
      'the verdict of the daemon',
      'answered',
      '  ○ d1d1d1d1 Pipeline needs attention: ship  2 (Restart) by operator:ann, takes effect in 4s',
      '             baton decision undo d1d1d1d1',
    ]);
  });

  it('shows what needs a person besides decisions, with the command to type', () => {
    const attention = [blocked('K1')];
    expect(renderStatus({ ...NOTHING, attention, tasks: { ...NO_TASKS, blocked: 1 } }, options)).toEqual([
      'the verdict of the daemon',
      'needs you',
      '  ! Task is blocked: K1 do it',
      '    on_dead: fail',
      '    baton task unblock K1 --reason "…"',
      'tasks 1 blocked',
    ]);
    const short = renderStatus({ ...busy, attention }, { ...options, columns: Infinity, rows: 12 });
    expect(short).toContain('  ! Task is blocked: K1 do it  baton task unblock K1 --reason "…"');
  });

  it('leaves out what is not in progress if there is little room', () => {
    expect(renderStatus(busy, { ...options, rows: 14 })).toEqual([
      'the summary of the daemon',
      'needs you',
      '  ! d1d1d1d1 Pipeline needs attention: ship 2d',
      'pipelines (1 waiting)',
      '  ! ship p1p1p1p1 waiting 2h task P0.1',
      '    ├ ! review (try 2) waiting 5s on_stop: escalate',
      '    │ ! reviewer a1a1a1a1 escalated 3m',
      '    └ ● checks running 5s',
      '      ● checks p2p2p2p2 running 2h',
      '        └ ● lint running 5s',
      'agents (1 running)',
      '  ● fixer a2a2a2a2 running 3m task P0.2',
      'tasks 4 todo, 2 in_progress, 9 done',
    ]);
  });

  it('keeps to its height with a thousand agents, and counts the rest', () => {
    const agents = Array.from({ length: 1000 }, (_, i) => agent(`agent${i}`));
    const lines = renderStatus({ ...busy, agents }, { ...options, rows: 20 });
    expect(lines).toHaveLength(20);
    const shown = lines.filter((line) => line.includes('● fixer')).length;
    expect(shown).toBeGreaterThan(2);
    expect(lines.at(-2)).toBe(`  … ${1000 - shown} more: baton agent list`);
    expect(lines.at(-1)).toContain('tasks');
  });

  it('gives every section some lines, and most to what needs a person', () => {
    const needs_you = Array.from({ length: 50 }, (_, i) => decision(`decision${i}`));
    const agents = Array.from({ length: 1000 }, (_, i) => agent(`agent${i}`));
    const pipelines = Array.from({ length: 30 }, (_, i) => pipeline(`pipeline${i}`, []));
    const lines = renderStatus({ ...NOTHING, needs_you, agents, pipelines }, options);
    expect(lines).toHaveLength(24);
    expect(lines.filter((line) => line.includes('  ! decision')).length).toBe(15);
    expect(lines.slice(-7)).toEqual([
      '  … 35 more: baton decision list',
      'pipelines (30 running)',
      '  ● ship pipeline running 2h',
      '  … 29 more: baton pipeline list',
      'agents (1000 running)',
      '  ● fixer agent0 running 3m',
      '  … 999 more: baton agent list',
    ]);
  });

  it.each([1, 2, 3, 5, 8])('keeps to %i rows', (rows) => {
    expect(renderStatus(busy, { ...options, rows }).length).toBeLessThanOrEqual(rows);
  });

  it.each([1, 7, 20, 41])('keeps to %i columns, wide characters counted twice', (columns) => {
    const wide = { ...busy, agents: [agent('a3', { name: '修正する人👩‍🚀', reason: '語'.repeat(100) })] };
    for (const line of renderStatus(wide, { ...options, columns })) expect(widthOf(line)).toBeLessThanOrEqual(columns);
  });

  it('colours without changing the text', () => {
    const painted = renderStatus(busy, { ...options, colors: true });
    // oxlint-disable-next-line no-control-regex
    expect(painted.map((line) => line.replaceAll(/\u001B\[[\d;]*m/g, ''))).toEqual(renderStatus(busy, options));
    expect(painted.join('')).toContain('\u001B[1;33m!\u001B[0m');
  });

  it('passes no terminal codes of agents', () => {
    const hostile = { ...NOTHING, agents: [agent('x', { name: '\u001B[2J\u0007\u202Ename\nnew line' })] };
    const [, , line] = renderStatus(hostile, options);
    expect(line).toBe('  ● \\u001b[2J\\u0007\\u202ename · new line x running 3m');
  });

  it('stops at a pipeline that is its own parent', () => {
    const ring = pipeline('p', [step('again', 'running')], { parent: { pipeline_id: 'p', step: 'again' } });
    expect(renderStatus({ ...NOTHING, pipelines: [ring] }, options).length).toBeLessThan(24);
  });
});

describe('a workflow', () => {
  const workflow = (task_id: string, more: Partial<ShownStatus['workflows'][number]> = {}) => ({
    task_id,
    title: 'Read durations back',
    activity: 'running' as const,
    since: '2026-03-01T11:59:30Z',
    rounds: 1,
    stages: [
      stage('implementer', 'done'),
      stage('ci', 'failed', { visits: 2 }),
      stage('fixer', 'now', { activity: 'running' }),
      stage('validator', 'ahead'),
    ],
    ...more,
  });

  it('shows its stages, with the agent that has the task', () => {
    const agents = [agent('a1a1a1a1-0000', { task_id: 'W-1' }), agent('a2a2a2a2-0000', { task_id: 'T-2' })];
    expect(renderStatus({ ...NOTHING, workflows: [workflow('W-1')], agents }, options).slice(1)).toEqual([
      'workflows (1 running)',
      '  ● W-1 Read durations back  fixer running 30s  round 1',
      '    ✓ implementer  ✗ ci ×2  ● fixer  · validator',
      '    ● fixer a1a1a1a1 running 3m',
      'agents (1 running)',
      '  ● fixer a2a2a2a2 running 3m task T-2',
    ]);
  });

  it('is one line if there are many', () => {
    const workflows = Array.from({ length: 12 }, (_, i) => workflow(`W-${i}`, { activity: 'waiting' }));
    const lines = renderStatus({ ...NOTHING, workflows }, { ...options, rows: 10, columns: 40 });
    expect(lines).toHaveLength(10);
    expect(lines.at(-1)).toContain('more: baton task list');
    expect(lines.filter((line) => widthOf(line) > 40)).toEqual([]);
  });
});
