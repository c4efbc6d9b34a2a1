import { expect, it } from 'vitest';
import { BATON } from '../package/where.ts';
import { Terminal } from '../processes/terminal.ts';
import { World } from '../processes/world.ts';

const RUNBOOK = `
ci.required = []
[notify]
desktop = false
terminal = false
[agents.issue-manager]
run = "echo I read the request; while :; do sleep 0.05; done"
`;

it('shows a workflow as a live tree, while the daemon restarts and in a small terminal, and follows it again', async () => {
  await using world = new World();
  world.commit(world.repository, { 'baton.toml': RUNBOOK }, 'a runbook');
  await world.startDaemon();
  const open = (...args: string[]): Terminal =>
    new Terminal([process.execPath, BATON, 'run', ...args], {
      cwd: world.repository,
      env: world.env,
      columns: 80,
      rows: 20,
    });
  await using screen = open('issue', 'Add a thing');
  await screen.shows(/^W-00001 Add a thing {2}\S+\n {2}● issue-manager +\S+ {2}running\n +issue-manager [0-9a-f]{8}: /);
  await screen.shows(': I read the request');
  await screen.shows(/ {2}· prep\n {2}· implementer\n {2}· reviewer\n {2}· validator\n {2}· merge\n {2}· closer\n\n/);
  await screen.shows('issue-manager: claimed by issue-manager');

  await world.endDaemon('SIGKILL');
  await screen.shows(/^The daemon cannot be reached since/);
  expect(screen.picture[1]).toContain('W-00001 Add a thing');
  await world.startDaemon();
  await screen.shows(/^W-00001 Add a thing/);

  screen.resize(40, 6);
  await screen.shows(/^W-00001 Add a thing .*\n {2}● issue-manager {2}· prep .*\n {2}● issue-manager/);
  expect(screen.picture.filter((line) => line.length > 40)).toEqual([]);
  expect(screen.picture.length).toBeLessThan(6);
  screen.resize(80, 20);
  await screen.shows(/ {2}· merge\n {2}· closer/);

  // Enter does nothing; Ctrl-C ends the screen, and the workflow continues.
  screen.type('\r\r');
  screen.type('\u0003');
  expect(await screen.exit()).toBe(130);
  expect(screen.picture.filter((line) => line.startsWith('W-00001 Add a thing  '))).toHaveLength(1);
  expect(screen.written).toContain('\u001B[?7h\u001B[?25h');
  expect(screen.picture.join(' ')).toContain(
    'The run continues in the background. Show it again: baton run --follow W-00001',
  );

  await using again = open('--follow', 'W-00001');
  await again.shows(/^W-00001 Add a thing {2}\S+\n {2}● issue-manager +\S+ {2}running/);
  expect(world.baton(['task', 'cancel', 'W-00001', '--reason', 'not now']).code).toBe(0);
  expect(await again.exit()).toBe(1);
  await again.shows('BLOCKED: cancelled: not now');
  expect(world.baton(['run', '--follow', 'W-00001']).code).toBe(1);
});
