import { describe, expect, it } from 'vitest';
import type { TaskOverview } from '../../api/operations/task-view.ts';
import { widthOf } from '../table.ts';
import { renderTree, type TreeOptions } from './render-tree.ts';
import { afterMs } from './stage-pieces.ts';
import { NO_TIMES, openDecision, stage, taskOverview } from './view.cases.ts';

const running = taskOverview({
  id: 'W-00001',
  title: 'Read durations back',
  mode: 'autonomous',
  activity: 'running',
  rounds: 1,
  times: { ...NO_TIMES, running_ms: 20_000, queued_ms: 3000, checks_ms: 2000 },
  stages: [
    stage('implementer', 'done', { running_ms: 8000, queued_ms: 3000 }),
    stage('ci', 'failed', { visits: 2, checks_ms: 2000, outcome: 'failed' }),
    stage('fixer', 'now', { activity: 'running', running_ms: 12_000 }),
    stage('validator', 'ahead'),
  ],
  checks: {
    head: 'a'.repeat(40),
    outcome: 'failed',
    checks: [
      { name: 'lint', outcome: 'passed', exit_code: 0, output: null, sandbox: null },
      { name: 'test', outcome: 'failed', exit_code: 1, output: 'not ok', sandbox: null },
    ],
  },
  claim: {
    epoch: 4,
    holder: 'fixers',
    principal: 'agent:fixers',
    role: 'fixer',
    session_id: 's4',
    since: 'T',
    expires_at: 'T',
  },
  cost: { ...taskOverview().cost, input_tokens: 1234, cost_millicents: 42_000 },
});

const story = ['fixer: claimed by fixers', '  handoff: ci-gate → fixer-agent'];
const draw = (view: TaskOverview, more: Partial<TreeOptions> = {}): string[] =>
  renderTree(view, { columns: 80, rows: 24, colors: false, story, ...more });

describe('the live tree', () => {
  it('shows stages with times, the checks that failed, the agent with its last line, and the story', () => {
    expect(draw(running, { agentLine: 'I read what was found.' })).toEqual([
      'W-00001 Read durations back  25s, $0.42, 1,234 tokens, round 1',
      '  ✓ implementer   8s  3s queued',
      '  ✗ ci ×2         2s  failed',
      '      ✓ lint  passed',
      '      ✗ test  failed, exit code 1',
      '  ● fixer        12s  running',
      '      fixers: I read what was found.',
      '  · validator',
      '',
      'fixer: claimed by fixers',
      '  handoff: ci-gate → fixer-agent',
    ]);
  });

  it('shows what waits for a person, and the command to type', () => {
    const stages = [stage('reviewer', 'now', { activity: 'waiting', waiting_ms: 61_000 })];
    const waiting = { ...running, claim: null, activity: 'waiting', stages, decisions: [openDecision()] } as const;
    expect(draw(waiting, { story: [] }).slice(1)).toEqual([
      '  ! reviewer  waiting for a person 1m 1s',
      '  ! Task needs attention: W-00001 (ready for review)',
      '    Read durations back',
      '    baton decision show 9b2d4c10',
    ]);
  });

  it('shows why a task is blocked without a decision', () => {
    const blocked = { ...running, claim: null, activity: 'blocked', blocked_because: 'no disk', stages: [] } as const;
    expect(draw(blocked, { story: [] }).slice(1)).toEqual(['  no disk', '    baton task unblock W-00001 --reason "…"']);
  });

  it('shows that the daemon is unavailable, and since when', () => {
    const since = new Date('2026-01-01T10:00:00');
    const why = { code: 'daemon-away', message: 'no daemon', hint: 'baton up' };
    expect(draw(running, { away: { since, why } })[0]).toBe(
      'The daemon cannot be reached since 10:00:00. Agents continue meanwhile.',
    );
  });

  it.each([1, 2, 3, 5, 8, 11, 40])('fits %i rows', (rows) => {
    const many = Array.from({ length: 50 }, (_, i) => `line ${i}`);
    const lines = draw(running, { rows, story: many, agentLine: 'busy' });
    expect(lines.length).toBeLessThanOrEqual(rows);
    expect(lines.some((line) => line.includes('● fixer'))).toBe(rows >= 2);
  });

  it.each([1, 2, 3, 6])('keeps the question in a terminal of %i rows', (rows) => {
    const lines = draw({ ...running, decisions: [openDecision({ context: '' })] }, { rows, columns: 40, story: [] });
    expect(lines.length).toBeLessThanOrEqual(rows);
    expect(lines.at(-1)).toBe('    baton decision show 9b2d4c10');
  });

  it.each([20, 40, 79])('fits %i columns, whatever the script', (columns) => {
    const title = '語'.repeat(60);
    const lines = draw({ ...running, title }, { columns, agentLine: '👍'.repeat(80), story: ['x'.repeat(200)] });
    expect(lines.filter((line) => widthOf(line) > columns)).toEqual([]);
  });

  it('passes no terminal codes of agents', () => {
    const evil = '\u001B[2J\u0007gone\nnew line';
    const lines = draw({ ...running, title: evil }, { agentLine: evil, story: [evil] });
    for (const control of ['\u001B', '\u0007']) expect(lines.join('\n')).not.toContain(control);
    expect(lines.filter((line) => line.startsWith('new line'))).toEqual([]);
  });
});

describe('between two answers of the daemon', () => {
  it('the time of the current stage grows', () => {
    const [, , , , , fixer] = draw(afterMs(running, 3500));
    expect(fixer).toBe('  ● fixer        15s  running');
    expect(draw(afterMs(running, 3500))[0]).toContain('28s');
    expect(draw(afterMs({ ...running, activity: 'done' }, 3500))[0]).toContain('25s');
  });
});
