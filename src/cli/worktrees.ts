import type { WorktreeView } from '../api/operations/project.ts';
import { operationCommand } from './operation-command.ts';
import { printable } from './text.ts';

export const worktreeListCommand = operationCommand({
  examples: ['baton worktree list'],
  operation: 'worktree_list',
  input: () => ({ value: {} }),
  show: ({ worktrees }) => worktrees.map(renderWorktree).join('') || 'No worktrees.\n',
});

export const worktreePruneCommand = operationCommand({
  examples: ['baton worktree prune --dry-run', 'baton worktree prune'],
  options: [{ name: 'dry-run', about: 'Say what would be removed, and remove nothing' }],
  operation: 'worktree_prune',
  input: ({ options }) => ({ value: options.has('dry-run') ? { dry_run: true } : {} }),
  show: ({ removed, kept, dry_run }) => {
    const paths = removed.map((path) => `${printable(path)}\n`).join('');
    const first = paths === '' ? 'Nothing to remove.\n' : `${dry_run ? 'Would remove' : 'Removed'}:\n${paths}`;
    return kept.length === 0 ? first : `${first}Kept:\n${kept.map(renderWorktree).join('')}`;
  },
});

/** Path, branch and task, then why it stays. */
function renderWorktree({ path, branch, needed, holds }: WorktreeView): string {
  const why = [...(needed === null ? [] : [needed]), ...holds];
  const words = why.length === 0 ? 'nothing to lose' : why.join(', ');
  return `${printable(path)}  ${printable(branch ?? '(detached)')}  ${printable(words)}\n`;
}

export const reconcileCommand = operationCommand({
  examples: ['baton reconcile', 'baton reconcile --apply'],
  options: [{ name: 'apply', about: 'Do what is safe to do, and make decisions of the rest' }],
  operation: 'reconcile',
  input: ({ options }) => ({ value: options.has('apply') ? { apply: true } : {} }),
  show: ({ findings, applied }) => {
    if (findings.length === 0) return 'Everything fits.\n';
    const lines = findings.flatMap(({ task_id, message, hint }) => [`${task_id}: ${message}`, `  hint: ${hint}`]);
    return [...lines, ...applied.map((deed) => `Done: ${deed}`)].map((line) => `${printable(line)}\n`).join('');
  },
});
