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
      'Error: nothing would be checked before a merge: the runbook does not set ci.required\n' +
      '  hint: List the checks as [[ci.required]] in baton.toml, or write ci.required = [] there to merge without any.\n',
  });

  const { repository: cwd, env } = world;
  await using screen = new Terminal([process.execPath, BATON, ...run], { cwd, env, columns: 120 });
  await screen.shows('Merge without checks from now on? [y/N]');
  screen.type('y\r');
  await screen.shows('Started W-00001.');
  expect(await screen.exit()).toBe(0);

  expect(world.baton(run)).toMatchObject({ code: 0, out: expect.stringContaining('Started W-00002.') });
  expect(world.baton(['run', 'issue', 'Add a thing', '--plan']).out).toContain('an operator chose that');
  const declined = (await readLedger(world)).filter(({ type }) => type === 'ChecksDeclined');
  expect(declined.map(({ data }) => data['by'])).toEqual([expect.stringMatching(/^operator:/)]);
});
