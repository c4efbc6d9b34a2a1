import { operationCommand } from './operation-command.ts';
import { printable } from './text.ts';

export const worktreeListCommand = operationCommand({
  name: 'worktree list',
  summary: 'List the worktrees, their agents and their uncommitted or unmerged work',
  examples: ['baton worktree list'],
  operation: 'worktree_list',
  input: () => ({ value: {} }),
  show: (result) => linesOf(result, 'worktrees', 'No worktrees.\n'),
});

export const worktreePruneCommand = operationCommand({
  name: 'worktree prune',
  summary: 'Remove the worktrees of completed tasks; those with unmerged work are kept',
  examples: ['baton worktree prune --dry-run', 'baton worktree prune'],
  options: [{ name: 'dry-run', about: 'Say what would be removed, and remove nothing' }],
  operation: 'worktree_prune',
  input: ({ options }) => ({ value: options.has('dry-run') ? { dry_run: true } : {} }),
  show: (result, { options }) => {
    const removed = listOf(result, 'removed').map((path) => `${printable(String(path))}\n`);
    const word = options.has('dry-run') ? 'Would remove' : 'Removed';
    const first = removed.length === 0 ? 'Nothing to remove.\n' : `${word}:\n${removed.join('')}`;
    const kept = linesOf(result, 'kept', '');
    return kept === '' ? first : `${first}Kept:\n${kept}`;
  },
});

function linesOf(result: unknown, field: string, nothing: string): string {
  return listOf(result, field).map(renderWorktree).join('') || nothing;
}

function listOf(result: unknown, field: string): readonly unknown[] {
  const fields: Readonly<Record<string, unknown>> = typeof result === 'object' && result !== null ? { ...result } : {};
  const list = fields[field];
  return Array.isArray(list) ? list : [];
}

/** Path, branch and task, then why it stays. */
function renderWorktree(worktree: unknown): string {
  const fields: Readonly<Record<string, unknown>> =
    typeof worktree === 'object' && worktree !== null ? { ...worktree } : {};
  const { path, branch, needed, holds } = fields;
  const why = [needed, ...(Array.isArray(holds) ? holds : [])].filter((each) => typeof each === 'string');
  const words = why.length === 0 ? 'nothing to lose' : why.join(', ');
  return `${printable(String(path))}  ${printable(typeof branch === 'string' ? branch : '(detached)')}  ${printable(words)}\n`;
}

export const reconcileCommand = operationCommand({
  name: 'reconcile',
  summary: 'Compare the tasks with git and with running processes',
  examples: ['baton reconcile', 'baton reconcile --apply'],
  options: [{ name: 'apply', about: 'Do what is safe to do, and make decisions of the rest' }],
  operation: 'reconcile',
  input: ({ options }) => ({ value: options.has('apply') ? { apply: true } : {} }),
  show: (result) => {
    const [findings, applied] = [listField(result, 'findings'), listField(result, 'applied')];
    if (findings.length === 0) return 'Everything fits.\n';
    const done = applied.map((deed) => `Done: ${printable(String(deed))}\n`);
    return [...findings.map((finding) => `${describeFinding(finding)}\n`), ...done].join('');
  },
});

function listField(result: unknown, name: string): readonly unknown[] {
  const found: unknown = typeof result === 'object' && result !== null ? Reflect.get(result, name) : undefined;
  return Array.isArray(found) ? found : [];
}

function describeFinding(finding: unknown): string {
  if (typeof finding !== 'object' || finding === null) return '';
  const text = (name: string): string =>
    printable(String(Object.entries(finding).find(([key]) => key === name)?.[1] ?? ''));
  return `${text('task_id')}: ${text('message')}\n  hint: ${text('hint')}`;
}
