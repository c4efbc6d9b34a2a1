import { operationCommand } from './operation-command.ts';
import { printable } from './text.ts';

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
