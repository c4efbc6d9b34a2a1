import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { stateFiles } from '../../src/api/state-folder.ts';
import { Terminal } from '../processes/terminal.ts';
import { until } from '../processes/until.ts';
import { World } from '../processes/world.ts';
import { BATON } from '../package/where.ts';

const RUNBOOK = `
[notify]
desktop = false
webhook = "\${env.HOOK}"
on = ["attention", "done"]

[agents.silent]
run = "true"

[pipelines.careful]
notify = true
steps = [{ name = "review", run = { agent = "silent" } }]

[pipelines.broken]
notify = true
steps = [{ name = "build", run = "false" }]
`;

it('reaches people by webhook and in the terminal of the daemon, once, without revealing the address', async () => {
  const { heard, url } = await receiver();
  await using world = new World({ HOOK: url });
  world.commit(world.repository, { 'baton.toml': RUNBOOK }, 'a runbook');
  await using daemon = new Terminal([process.execPath, BATON, 'up', '--foreground'], {
    cwd: world.repository,
    env: world.env,
    columns: 500,
  });
  await daemon.shows('ready');

  const { code, out, err } = world.baton(['run', 'careful']);
  expect({ code, err }).toEqual({ code: 3, err: '' });
  await until('the webhook was called', () => heard.length > 0);
  expect(JSON.parse(heard[0]?.body ?? '')).toEqual({
    text: '*Pipeline needs attention: careful*\nAgent ended without signaling completion (exit code 0)',
  });
  await daemon.shows(/^Pipeline needs attention: careful: Agent ended without signaling completion/m);

  // The failure is recorded, and disabled notifications are not sent.
  expect(world.baton(['run', 'broken']).code).toBe(1);
  const decision = /decision resolve ([0-9a-f]{8})/.exec(out)?.[1] ?? '';
  expect(world.baton(['decision', 'resolve', decision, '3']).code).toBe(0);
  await until('the end was told', () => heard.length > 1);
  expect(heard.map(({ headers }) => headers['baton-notification-kind'])).toEqual(['attention', 'done']);
  const sent = await until('all are recorded', () => {
    const entries = world.baton(['ledger', 'log', '--limit', '0', '--json']).out.trim().split('\n');
    const found = entries.map((line) => JSON.parse(line)).filter(({ type }) => type === 'NotificationSent');
    return found.length === 3 && found.map(({ data }) => data);
  });
  const wanted = sent.filter((data) => data.sent.length > 0);
  expect(wanted.map((data) => data.notification_id)).toEqual(
    heard.map(({ headers }) => headers['baton-notification-id']),
  );
  expect(wanted.map((data) => data.sent)).toEqual([
    ['terminal', 'webhook'],
    ['terminal', 'webhook'],
  ]);

  const everything = [
    readFileSync(stateFiles(world.stateDir).log, 'utf8'),
    daemon.written,
    world.baton(['ledger', 'log', '--limit', '0', '--json']).out,
  ];
  expect(everything.join('\n')).not.toContain('T000-secret');
  expect(world.baton(['down']).code).toBe(0);
  expect(await daemon.exit()).toBe(0);
});

interface Heard {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

async function receiver(): Promise<{ heard: Heard[]; url: string }> {
  const heard: Heard[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      heard.push({ headers: request.headers, body });
      response.end('ok');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { heard, url: `http://127.0.0.1:${port}/services/T000-secret` };
}
