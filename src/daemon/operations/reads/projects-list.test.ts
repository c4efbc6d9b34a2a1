import { expect, it } from 'vitest';
import type { ListedState } from '../../project/projects.ts';
import { listProjects } from './projects-list.ts';

const ERROR = { code: 'store-unavailable', message: 'the database does not answer', hint: 'Start it.' };

it.each<[string, ListedState, string]>([
  ['cannot be opened', { id: 'p', path: '/home/ann/shop', error: ERROR }, 'the database does not answer'],
  ['was not opened yet', { id: 'p', path: import.meta.dirname }, 'the daemon has not opened it yet'],
  ['has no folder', { id: 'p', path: '/nowhere/shop' }, 'its folder is missing: /nowhere/shop'],
])('a project that %s is listed with the reason, and needs a person', async (_, listed, reason) => {
  const [project] = await listProjects({ listed: () => [listed] });
  expect(project).toMatchObject({
    is_open: false,
    all_clear: false,
    needs: 1,
    seq: null,
    summary: `Unknown: ${reason}`,
  });
  expect(project?.store).toMatchObject({ writable: false, reason });
});
