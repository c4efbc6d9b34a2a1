import type { WorktreeView } from '../api/operations/project.ts';
import { operationCommand } from './operation-command.ts';
import { renderTable } from './table.ts';
import { printable } from './text.ts';

export const worktreeListCommand = operationCommand({
  examples: ['baton worktree list'],
  operation: 'worktree_list',
  input: () => ({ value: {} }),
  show: ({ worktrees }) => (worktrees.length === 0 ? 'No worktrees.\n' : renderWorktrees(worktrees)),
});

export const worktreePruneCommand = operationCommand({
  examples: ['baton worktree prune --dry-run', 'baton worktree prune'],
  options: [{ name: 'dry-run', about: 'Show what would be removed without removing it' }],
  operation: 'worktree_prune',
  input: ({ options }) => ({ value: options.has('dry-run') ? { dry_run: true } : {} }),
  show: ({ removed, kept, dry_run }) => {
    const paths = removed.map((path) => `${printable(path)}\n`).join('');
    const first = paths === '' ? 'Nothing to remove.\n' : `${dry_run ? 'Would remove' : 'Removed'}:\n${paths}`;
    return kept.length === 0 ? first : `${first}Kept:\n${renderWorktrees(kept)}`;
  },
});

function renderWorktrees(worktrees: readonly WorktreeView[]): string {
  const rows = worktrees.map(({ path, branch, needed, holds }) => {
    const why = [...(needed === null ? [] : [needed]), ...holds];
    return [path, branch ?? '(detached)', why.length === 0 ? 'no unmerged work' : why.join(', ')];
  });
  return renderTable([['PATH', 'BRANCH', 'WORK'], ...rows]);
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
