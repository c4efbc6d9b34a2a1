import type { AdoptRunbook, AskAdoption } from '../adopt-runbook.ts';
import type { Command } from '../decide.ts';
import type { ObservedMove, ObserveMain } from '../main/observe-main.ts';
import type { ObserveBranch } from './branch-moves.ts';

/** Short forms of the workflow's commands for tests. */
export const prepare = (task_id: string, epoch: number, main?: string): Command => ({
  kind: 'prepare-session',
  command: {
    agent_id: 'a1',
    task_id,
    epoch,
    workspace: '/repo/.worktrees/a',
    branch: 'feature/a',
    base: '0'.repeat(40),
    port: 3100,
    ...(main === undefined ? {} : { main }),
    mission: {
      version: '1',
      task_id: 'T001',
      epic_id: 'E000',
      prd_id: 'PRD-000',
      instruction: 'do it',
      context: { epic_file: 'epic.md', task_file: 'task.md' },
    },
  },
});

/** A branch found at another commit than the recorded head. */
export const observeBranch = (task_id: string, head: string, more: Partial<ObserveBranch> = {}): Command => ({
  kind: 'observe-branch',
  command: { task_id, branch: 'feature/a', old: null, new: head, main: null, imports: [], ...more },
});

export const nameBranch = (id: string, epoch: number, branch: string): Command => ({
  kind: 'name-branch',
  command: { id, epoch, branch },
});

export const finishCheck = (checks_id: string, name: string, outcome: 'passed' | 'failed' | 'cancelled'): Command => ({
  kind: 'finish-check',
  command: {
    checks_id,
    name,
    outcome,
    exit_code: outcome === 'passed' ? 0 : 1,
    log: null,
    output: `${name} said so`,
    handoffId: 'h-ci',
  },
});

export const askMerge = (id: string): Command => ({ kind: 'request-merge', command: { id, mergeId: 'm1' } });

export const MAIN = '1'.repeat(40);

/** An observation of the main branch, by its differences from a fast-forward of one commit. */
export const seeMain = (
  sha: string,
  more: Partial<ObserveMain> & { readonly by?: Partial<ObservedMove> | null } = {},
): Command => {
  const { by = {}, ...seen } = more;
  const usual = { old: MAIN, fastForward: true, commits: 1, onUpstream: null, authors: ['Ada <a@example.org> (1)'] };
  const move = by === null ? null : { ...usual, stat: ' a.ts | 1 +', ...by };
  const command = {
    branch: 'main',
    sha,
    upstream: null,
    isConfigured: false,
    seenAt: '2026-01-01T00:00:00.000Z',
    move,
  };
  return { kind: 'see-main', command: { ...command, ...seen } };
};

export const prepareMerge = (merge_id: string, merge_sha: string): Command => ({
  kind: 'prepare-merge',
  command: { merge_id, branch: 'main', base: MAIN, merge_sha },
});

export const finishMerge = (
  merge_id: string,
  outcome: 'merged' | 'conflict' | 'failed' | 'refused',
  merge_sha: string | null = null,
): Command => ({
  kind: 'finish-merge',
  command: {
    merge_id,
    method: 'squash',
    outcome,
    base: MAIN,
    merge_sha,
    reason: outcome === 'merged' ? null : outcome,
    files: outcome === 'conflict' ? ['a.ts'] : [],
    output: null,
    newId: 'h-merge',
  },
});

export const publishPull = (pull_id: string, number = 7): Command => ({
  kind: 'publish-pull',
  command: { pull_id, number, url: `https://github.com/owner/name/pull/${number}`, how: 'opened' },
});

export const failPull = (pull_id: string, reason = 'no network'): Command => ({
  kind: 'fail-pull',
  command: { pull_id, reason },
});

export const closePull = (pull_id: string, number: number): Command => ({
  kind: 'close-pull',
  command: { pull_id, number, outcome: 'closed', reason: null },
});

export const closeIssue = (
  close_id: string,
  outcome: 'closed' | 'was-closed' | 'failed' = 'closed',
  reason = outcome === 'failed' ? 'no network' : null,
): Command => ({ kind: 'close-github-issue', command: { close_id, outcome, reason } });

export const startWorkflow = (title: string, mode: 'autonomous' | 'semi' | 'supervised' = 'autonomous'): Command => ({
  kind: 'start-workflow',
  command: { title, mode },
});

/** The measurement of a session. */
export const measuredAt = (head: string) => ({
  base: '0'.repeat(40),
  head,
  commits: 1,
  file_count: 1,
  files: [{ path: 'a.ts', action: 'modified' }],
  new_dependencies: [],
  broken: [],
});

/** A reviewer's finding, as the fixer receives it. */
export const changesRequested = (text = 'it is wrong', location = 'a.ts:1'): string =>
  `<handoff><from>reviewer-agent</from><to>fixer-agent</to><issue_number>1</issue_number><pr_number>1</pr_number>` +
  `<pr_url>https://example.org/pull/1</pr_url><review_status>changes_requested</review_status><critical_count>1</critical_count>` +
  `<blocking_issues><issue location="${location}" severity="critical">${text}</issue></blocking_issues></handoff>`;

/** The validator's handoff to the closer. */
export const validated =
  `<handoff><from>validator-agent</from><to>closer-agent</to><issue_number>1</issue_number><pr_number>1</pr_number>` +
  `<pr_url>https://example.org/pull/1</pr_url><validation_summary><tests>passed</tests><coverage>n/a</coverage><lint>passed</lint>` +
  `<type_check>passed</type_check><security>none</security></validation_summary></handoff>`;

export const failure = (recoverable: boolean): string =>
  `<handoff><from>implementer-agent</from><to>orchestrator</to><status>failure</status><error><type>NetworkError</type>` +
  `<message>no answer</message><details></details><recoverable>${recoverable}</recoverable>` +
  `<suggested_action>wait</suggested_action></error></handoff>`;

export function adopt(sha256: string, more: Partial<AdoptRunbook> = {}): Command {
  const command = { sha256, commit: null, committed: null, by: 'operator:ada', ...more };
  return { kind: 'adopt-runbook', command };
}

export function askAdoption(sha256: string, more: Partial<AskAdoption> = {}): Command {
  const command = {
    decisionId: `d-${sha256.slice(0, 4)}`,
    sha256,
    former: sha256,
    commit: 'c'.repeat(40),
    differences: 'x',
    ...more,
  };
  return { kind: 'ask-adoption', command };
}

export function measureProtected(
  taskId: string,
  paths: readonly string[],
  { head = 'a'.repeat(40), mergeId = null }: { head?: string; mergeId?: string | null } = {},
): Command {
  return {
    kind: 'measure-protected',
    command: { task_id: taskId, merge_id: mergeId, head, base: 'b'.repeat(40), paths },
  };
}
