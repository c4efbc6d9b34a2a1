import type { PageKeyView } from '../../api/operations/pages.ts';
import { operationCommand } from '../operation-command.ts';
import { renderTable } from '../table.ts';

export const webKeysCommand = operationCommand({
  examples: ['baton web keys', 'baton web keys --json'],
  operation: 'page_keys',
  input: () => ({ value: {} }),
  show: ({ keys }) =>
    keys.length === 0
      ? 'No page or editor has a key. Open a page: baton web\n'
      : renderTable([HEADINGS, ...keys.map(rowOf)]),
});

const HEADINGS = ['KEY', 'CREATED', 'LAST USED', 'ORIGIN'];

function rowOf({ name, created_at, last_used_at, origin }: PageKeyView): readonly string[] {
  return [name, created_at, last_used_at ?? 'never', origin];
}

export const webKeysRevokeCommand = operationCommand({
  examples: ['baton web keys revoke page-3', 'baton web keys revoke --all'],
  args: [{ name: 'NAME', about: 'The key, as `baton web keys` names it', optional: true }],
  options: [{ name: 'all', about: 'Revoke every key' }],
  operation: 'page_key_revoke',
  input: ({ args: [name], options }) => {
    if ((name === undefined) !== options.has('all')) return { usage: 'name one key, or use --all' };
    return { value: name === undefined ? { all: true } : { name } };
  },
  show: ({ revoked }) =>
    revoked.length === 0
      ? 'No page or editor has a key.\n'
      : `Revoked: ${revoked.map(({ name }) => name).join(', ')}\n`,
});
