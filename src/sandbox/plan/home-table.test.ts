import { expect, it } from 'vitest';
import { HOME_TABLE } from './home-table.ts';
import { isInside } from './paths.ts';

it('has each path once, relative to HOME', () => {
  const all = HOME_TABLE.flatMap(({ paths }) => paths);
  expect(all.filter((path, i) => all.indexOf(path) !== i)).toEqual([]);
  expect(all.filter((path) => !/^[\w.][\w./@-]*$/.test(path) || path.endsWith('/'))).toEqual([]);
});

it('has a filter for every filtered copy', () => {
  const odd = HOME_TABLE.filter(({ treatment, filter }) => (treatment === 'filtered copy') !== (filter !== undefined));
  expect(odd).toEqual([]);
});

it('shows nothing inside of a folder with credentials', () => {
  const hidden = HOME_TABLE.filter(({ treatment }) => treatment === 'hidden').flatMap(({ paths }) => paths);
  const shown = HOME_TABLE.filter(({ treatment }) => treatment === 'read').flatMap(({ paths }) => paths);
  expect(shown.filter((path) => hidden.some((folder) => isInside(path, folder)))).toEqual([]);
});

it.each(['.ssh', '.netrc', '.config/gh', '.aws', '.git-credentials', '.gnupg', '.kube', '.docker', '.vault-token'])(
  'hides %s',
  (path) => {
    expect(HOME_TABLE.find(({ paths }) => paths.includes(path))?.treatment).toBe('hidden');
  },
);
