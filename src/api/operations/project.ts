import { operation } from './operation.ts';

export const projectBrief = operation({
  name: 'project_brief',
  about:
    'Where the work in this repository stands, for a session that begins: what can be claimed, who works on what, and what the last session left.',
  access: ['operator', 'worker', 'session', 'agent'],
  kind: 'read',
  tool: false,
  shape: { kind: 'object', fields: {} },
});

export const COST_KINDS = ['agent', 'pipeline', 'task', 'day', 'model'] as const;

export const costsGet = operation({
  name: 'costs_get',
  about:
    'What was used: tokens, money and time at work and waiting, by agent, pipeline, task, day or model, with the budget of each and how far it is used.',
  access: ['operator'],
  kind: 'read',
  tool: false,
  shape: {
    kind: 'object',
    fields: {
      by: {
        kind: 'choice',
        values: COST_KINDS,
        optional: true,
        about: 'How it is added up; agent where it is left out.',
      },
    },
  },
});

/** Every worktree of the project, what it holds, and who works there. */
export const worktreeList = operation({
  name: 'worktree_list',
  about:
    'List the worktrees of the project: the task and the branch of each, who works there, and what would be lost with it.',
  access: ['operator', 'worker'],
  kind: 'read',
  tool: false,
  shape: { kind: 'object', fields: {} },
});

export const worktreePrune = operation({
  name: 'worktree_prune',
  about:
    'Remove the worktrees of tasks that are done. One that holds anything uncommitted, stashed, unpushed or unmerged, or configured files of its own, is kept, and listed.',
  access: ['operator'],
  kind: 'write',
  tool: false,
  shape: {
    kind: 'object',
    fields: { dry_run: { kind: 'flag', optional: true, about: 'Say what would be removed, and remove nothing.' } },
  },
});
