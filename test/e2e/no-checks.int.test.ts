import { expect, it } from 'vitest';
import { BATON } from '../package/where.ts';
import { readLedger } from '../processes/ledger.ts';
import { Terminal } from '../processes/terminal.ts';
import { World } from '../processes/world.ts';

const RUNBOOK = `[agents.issue-manager]
run = "true"
[notify]
desktop = false
terminal = false
`;
const PLANNED = '  nothing would be checked before a merge: the runbook does not set ci.required\n';

it('a workflow that nothing would check is refused without a terminal, and asked about once at one', async () => {
  await using world = await World.open();
  world.commit(world.repository, { 'baton.toml': RUNBOOK }, 'a runbook');
  const run = ['run', 'issue', 'Add a thing', '--detach'];
  expect(world.baton(['run', 'issue', 'Add a thing', '--plan'])).toMatchObject({
    code: 0,
    out: expect.stringContaining(PLANNED),
  });
  expect(world.baton(run)).toEqual({
    code: 2,
    out: '',
    err:
      'Error: nothing would be checked before a merge: the runbook does not set ci.required [no-checks]\n' +
      '  hint: List the checks as [[ci.required]] in baton.toml, or write ci.required = [] there to merge without any.\n',
  });

  // The same applies to an existing task, and a task that cannot be taken is refused before any question.
  const taken = ['run', 'issue', '--task', 'A', '--detach'];
  expect(world.baton(taken)).toMatchObject({ code: 1, err: expect.stringContaining('there is no task A') });
  world.baton(['task', 'add', 'A', '--title', 'Write it down']);
  expect(world.baton(taken)).toMatchObject({ code: 2, err: expect.stringContaining('nothing would be checked') });

  const { repository: cwd, env } = world;
  await using screen = new Terminal([process.execPath, BATON, ...run], { cwd, env, columns: 120 });
  await screen.shows('Merge without checks from now on? [y/N]');
  screen.type('y\r');
  await screen.shows('Started W-00002.');
  expect(await screen.exit()).toBe(0);

  expect(world.baton(run)).toMatchObject({ code: 0, out: expect.stringContaining('Started W-00003.') });
  expect(world.baton([...taken, '--plan'])).toMatchObject({ code: 0, out: expect.stringContaining('with task = A\n') });
  expect(world.baton(taken)).toMatchObject({ code: 0, out: 'Started A. See the task: baton task show A\n' });
  expect(world.baton(taken)).toMatchObject({ code: 1, err: expect.stringContaining('A is a workflow already') });
  expect(world.baton(['run', 'issue', 'A title', ...taken.slice(2)]).err).toContain(
    'a title cannot be combined with --task',
  );
  expect(world.baton(['run', 'issue', 'Add a thing', '--plan']).out).toContain('an operator chose that');
  const declined = (await readLedger(world)).filter(({ type }) => type === 'ChecksDeclined');
  expect(declined.map(({ data }) => data['by'])).toEqual([expect.stringMatching(/^operator:/)]);
});
