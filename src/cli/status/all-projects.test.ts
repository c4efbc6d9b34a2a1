import { expect, it } from 'vitest';
import { runCli } from '../../../test/run-cli.ts';
import { renderAllStatuses } from './all-projects.ts';

const LOOK = { columns: 80, colors: false };
const CLEAR = {
  at: '2026-03-01T12:00:00Z',
  all_clear: true,
  importing: null,
  summary: 'All clear',
  needs: 0,
  needs_you: [],
  answered: [],
  attention: [],
  workflows: [],
  pipelines: [],
  agents: [],
  tasks: { todo: 0, in_progress: 0, blocked: 0, done: 0, cancelled: 0 },
};

it('shows each repository below its name, and why one cannot be read', () => {
  const error = { code: 'no-such-project', message: 'there is no repository', hint: '' };
  const shown = renderAllStatuses(
    [
      { project: { name: 'shop', path: '/home/ada/shop' }, answer: { ok: true, result: CLEAR } },
      { project: { name: 'gone\u001B', path: '/home/ada/gone' }, answer: { ok: false, error } },
    ],
    LOOK,
  );
  expect(shown).toMatch(/^shop {2}\/home\/ada\/shop\n {2}All clear/);
  expect(shown).toContain('\n\ngone\\u001b  /home/ada/gone\n  There is no status: there is no repository\n');
  expect(renderAllStatuses([], LOOK)).toBe('No projects.\n');
});

it.each(['--watch', '--fleet', '--project=x'])('cannot be combined with %s', async (other) => {
  const name = other.replace(/=.*/, '');
  const { code, err } = await runCli(['status', '--all', other]);
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(`--all and ${name} exclude each other`) });
});
