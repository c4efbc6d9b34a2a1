import type { TaskOverview, VisitView } from '../../api/operations/task-view.ts';
import type { StageView } from '../../api/stage-views.ts';
import type { DecisionView } from '../../api/run-views.ts';

export const NO_TIMES: TaskOverview['times'] = {
  pending_ms: 0,
  queued_ms: 0,
  running_ms: 0,
  checks_ms: 0,
  merging_ms: 0,
  waiting_ms: 0,
  blocked_ms: 0,
};

/** A task without any work, plus the fields that a test sets. */
export function taskOverview(more: Partial<TaskOverview> = {}): TaskOverview {
  return {
    id: 'D2',
    n: 2,
    title: 'second',
    author: 'operator:ann',
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
    seq: 1,
    at: '2026-01-01T00:10:00.000Z',
    mode: null,
    activity: 'queued',
    since: '2026-01-01T00:00:00.000Z',
    times: NO_TIMES,
    stages: [],
    visits: [],
    issue: null,
    rounds: 0,
    reviews: 0,
    commits: 0,
    findings: [],
    checks: null,
    sessions: [],
    decisions: [],
    cost: {
      input_tokens: 0,
      output_tokens: 0,
      cached_tokens: 0,
      cost_millicents: 0,
      unpriced_tokens: 0,
      turns: 0,
      work_ms: 0,
      wait_ms: 0,
    },
    taken_by: null,
    branch: null,
    workspace: null,
    head: null,
    approval: null,
    pull_request: null,
    merge_sha: null,
    diff_command: null,
    log_command: null,
    ...more,
  };
}

export function stage(name: string, status: StageView['status'], more: Partial<StageView> = {}): StageView {
  return { name, status, visits: status === 'ahead' ? 0 : 1, activity: null, outcome: null, ...NO_TIMES, ...more };
}

export function visit(name: string, more: Partial<VisitView> = {}): VisitView {
  const times = { from: '2026-01-01T00:00:00.000Z', to: '2026-01-01T00:01:00.000Z' };
  const who = { role: name, phase: 'IMPLEMENTATION', round: 0, holder: name, epoch: 1 } as const;
  return { stage: name, ...who, ...times, activity: 'running', outcome: 'completed', ...NO_TIMES, ...more };
}

export function openDecision(more: Partial<DecisionView> = {}): DecisionView {
  return {
    id: '9b2d4c10-1111',
    status: 'open',
    source: 'review',
    title: 'Task needs attention: W-00001 (ready for review)',
    context: 'Read durations back',
    options: [{ n: 1, label: 'Continue', action: 'approve', recommended: true }],
    agent_id: null,
    pipeline_id: null,
    task_id: 'W-00001',
    opened_at: '2026-01-01T00:09:00.000Z',
    answer: null,
    lapsed: null,
    result: null,
    ...more,
  };
}
