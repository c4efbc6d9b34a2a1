import { describe, expect, it } from 'vitest';
import { taskOverview } from '../../view/view.cases.ts';
import { judge, StageProgress } from './verdict.ts';

const check = (outcome: 'passed' | 'failed', output: string | null = null) => ({
  head: 'f'.repeat(40),
  outcome,
  checks: [{ name: 'test', outcome, exit_code: 1, output, sandbox: null }],
});

describe('a dry run', () => {
  it('continues while there is no problem', () => {
    expect(judge(taskOverview({ activity: 'running', checks: check('passed') }))).toBeUndefined();
  });

  it('passes when the workflow is done', () => {
    expect(judge(taskOverview({ activity: 'done' }))).toEqual({ outcome: 'merged', detail: '' });
  });

  it('ends at the first check that fails', () => {
    expect(judge(taskOverview({ activity: 'queued', checks: check('failed', '1 of 2 failed\n') }))).toEqual({
      outcome: 'check-failed',
      detail: 'check test failed',
      check: { name: 'test', output: '1 of 2 failed' },
    });
  });

  it('ends when the task is blocked', () => {
    const view = taskOverview({ activity: 'blocked', blocked_because: 'install failed: npm ci' });
    expect(judge(view)).toEqual({ outcome: 'stopped', detail: 'install failed: npm ci' });
  });

  it('reports each stage once', () => {
    const progress = new StageProgress();
    const times = { pending_ms: 0, queued_ms: 100, running_ms: 1900, checks_ms: 0, merging_ms: 0 };
    const more = { visits: 1, activity: null, outcome: null, waiting_ms: 0, blocked_ms: 0 };
    const stages = [
      { name: 'prep', status: 'done', ...times, ...more },
      { name: 'ci', status: 'now', ...times, ...more },
    ] as const;
    expect(progress.linesOf({ stages })).toEqual(['  ✓ prep           2.0s']);
    expect(progress.linesOf({ stages })).toEqual([]);
  });
});
