import { operation } from './operation.ts';

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
