import { expect, it } from 'vitest';
import { Terminal } from '../processes/terminal.ts';
import { until } from '../processes/until.ts';
import { World } from '../processes/world.ts';
import { BATON } from '../package/where.ts';
import { inLongLane } from '../lanes.ts';

const RUNBOOK = `
[notify]
desktop = false

[agents.patient]
run = "while [ ! -e go ]; do sleep 0.05; done"

[agents.silent]
run = "true"

[pipelines.slow]
steps = [{ name = "first", run = "true" }, { name = "work", run = { agent = "patient" } }, { name = "last", run = "true" }]

[pipelines.careful]
steps = [{ name = "review", run = { agent = "silent" } }]
`;

it('shows a live tree, notifies when a person is needed, and never shows the all-clear without the daemon', async () => {
  await using world = new World();
  world.commit(world.repository, { 'baton.toml': RUNBOOK }, 'a runbook');
  await world.startDaemon();
  await using screen = new Terminal([process.execPath, BATON, 'status', '--watch'], {
    cwd: world.repository,
    env: world.env,
    columns: 70,
    rows: 16,
  });
  await screen.shows('Nothing needs you, nothing runs.');

  expect(world.baton(['run', 'slow', '--detach']).code).toBe(0);
  await screen.shows(/● slow [0-9a-f]{8} running/);
  await screen.shows(/├ ✓ first\n *├ ● work running .*\n *│ ● patient [0-9a-f]{8} running .*\n *└ · last/);
  expect(screen.written).not.toContain('\u0007');

  expect(world.baton(['run', 'careful']).code).toBe(3);
  await screen.shows('1 decision needs you');
  await screen.shows('! careful');
  await until('it rings', () => screen.written.includes('\u001B]9;Baton: Pipeline needs attention: careful'));

  screen.resize(40, 8);
  await screen.shows(/^1 decision needs you/);
  await screen.shows('…');
  expect(screen.picture.length).toBeLessThanOrEqual(8);
  screen.resize(70, 16);

  await world.endDaemon('SIGKILL');
  await screen.shows('The daemon cannot be reached since');
  await screen.shows('baton up');
  expect(screen.picture[0]).not.toContain('needs you');
  await world.startDaemon();
  await screen.shows(/^1 decision needs you/);

  screen.type('q');
  expect(await screen.exit()).toBe(0);
  expect(screen.written.endsWith('\u001B[?7h\u001B[?25h\u001B[?1049l')).toBe(true);

  world.write(world.repository, { go: '' });
});

inLongLane(() => {
  it('exits with Ctrl-C, and does not restart a stopped daemon', async () => {
    await using world = new World();
    await world.startDaemon();
    await using screen = new Terminal([process.execPath, BATON, 'status', '--watch'], {
      cwd: world.repository,
      env: world.env,
    });
    await screen.shows('Nothing needs you');
    // A broken runbook records no entry, but is still shown.
    world.write(world.repository, { 'baton.toml': '[agent.a]\nrun = "true"\n' });
    await screen.shows('1 broken runbook needs you, nothing runs.');
    await screen.shows('baton.toml has errors');
    world.write(world.repository, { 'baton.toml': '' });
    await screen.shows('Nothing needs you');
    expect(world.baton(['down']).out).toBe('Baton is down.\n');
    await screen.shows('The daemon cannot be reached');
    screen.type('\u0003');
    expect(await screen.exit()).toBe(130);
    expect(world.baton(['down']).out).toBe('Baton was not running.\n');
  });
});

it('prints lines without a terminal, and NDJSON for programs', async () => {
  await using world = new World();
  await world.startDaemon();
  const { spawn } = await import('node:child_process');
  const { once } = await import('node:events');
  for (const [option, first] of [
    ['--watch', 'Nothing needs you, nothing runs.'],
    ['--watch --json', '{'],
  ] as const) {
    const child = spawn(process.execPath, [BATON, 'status', ...option.split(' ')], {
      cwd: world.repository,
      env: world.env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [said] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
    expect(said.startsWith(first)).toBe(true);
    child.kill('SIGINT');
    expect(await once(child, 'exit')).toEqual([130, null]);
  }
});
