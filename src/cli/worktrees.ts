import type { WorktreeView } from '../api/operations/project.ts';
import type { Io } from './command.ts';
import { operationCommand } from './operation-command.ts';
import { columnsOf } from './status/paint.ts';
import { renderTable } from './table.ts';
import { printable } from './text.ts';

export const worktreeListCommand = operationCommand({
  examples: ['baton worktree list'],
  operation: 'worktree_list',
  input: () => ({ value: {} }),
  show: ({ worktrees }, _given, io) => (worktrees.length === 0 ? 'No worktrees.\n' : renderWorktrees(worktrees, io)),
});

export const worktreePruneCommand = operationCommand({
  examples: ['baton worktree prune --dry-run', 'baton worktree prune'],
  options: [{ name: 'dry-run', about: 'Show what would be removed without removing it' }],
  operation: 'worktree_prune',
  input: ({ options }) => ({ value: options.has('dry-run') ? { dry_run: true } : {} }),
  show: ({ removed, kept, dry_run }, _given, io) => {
    const paths = removed.map((path) => `${printable(path)}\n`).join('');
    const first = paths === '' ? 'Nothing to remove.\n' : `${dry_run ? 'Would remove' : 'Removed'}:\n${paths}`;
    return kept.length === 0 ? first : `${first}Kept:\n${renderWorktrees(kept, io)}`;
  },
});

function renderWorktrees(worktrees: readonly WorktreeView[], io: Io): string {
  const rows = worktrees.map(({ path, branch, needed, holds }) => {
    const why = [...(needed === null ? [] : [needed]), ...holds];
    return [path, branch ?? '(detached)', why.length === 0 ? 'no unmerged work' : why.join(', ')];
  });
  return renderTable([['PATH', 'BRANCH', 'WORK'], ...rows], columnsOf(io));
}

export const reconcileCommand = operationCommand({
  examples: ['baton reconcile', 'baton reconcile --apply'],
  options: [{ name: 'apply', about: 'Repair what is safe, and open a decision for everything else' }],
  operation: 'reconcile',
  input: ({ options }) => ({ value: options.has('apply') ? { apply: true } : {} }),
  show: ({ findings, applied }) => {
    if (findings.length === 0) return 'No differences.\n';
    const lines = findings.flatMap(({ task_id, message, hint }) => [`${task_id}: ${message}`, `  hint: ${hint}`]);
    return [...lines, ...applied.map((repair) => `Done: ${repair}`)].map((line) => `${printable(line)}\n`).join('');
  },
});
