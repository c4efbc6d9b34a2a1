import type { Command } from '../decide.ts';

/** The commands of the workflow, in a few words each. */
export const prepare = (task_id: string, epoch: number): Command => ({
  kind: 'prepare-session',
  command: {
    agent_id: 'a1',
    task_id,
    epoch,
    workspace: '/repo/.worktrees/a',
    branch: 'feature/a',
    base: '0'.repeat(40),
    port: 3100,
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

export const finishCheck = (checksId: string, name: string, outcome: 'passed' | 'failed' | 'cancelled'): Command => ({
  kind: 'finish-check',
  command: {
    checksId,
    name,
    outcome,
    exitCode: outcome === 'passed' ? 0 : 1,
    log: null,
    output: `${name} said so`,
    handoffId: 'h-ci',
  },
});

export const askMerge = (id: string): Command => ({ kind: 'request-merge', command: { id, mergeId: 'm1' } });

export const finishMerge = (
  mergeId: string,
  outcome: 'merged' | 'conflict' | 'failed' | 'refused',
  merge_sha: string | null = null,
): Command => ({
  kind: 'finish-merge',
  command: {
    mergeId,
    method: 'squash',
    outcome,
    base: '1'.repeat(40),
    merge_sha,
    reason: outcome === 'merged' ? null : outcome,
    files: outcome === 'conflict' ? ['a.ts'] : [],
    output: null,
    newId: 'h-merge',
  },
});

export const startWorkflow = (title: string, mode: 'autonomous' | 'semi' | 'supervised' = 'autonomous'): Command => ({
  kind: 'start-workflow',
  command: { title, mode },
});
