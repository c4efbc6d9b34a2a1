import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readDaemonRecord } from '../../src/api/state-folder.ts';
import { PATIENCE_MS } from '../processes/run-world.ts';
import { World } from '../processes/world.ts';

const SECRET = 'the-secret-of-the-webhook';
const KEY = 'the-key-of-a-model';

/** Prints the environment of every process from this shell up to the first. */
const LOOK =
  'p=$$; while [ "$p" -gt 1 ]; do tr "\\\\0" "\\\\n" < /proc/$p/environ; p=$(cut -d" " -f4 /proc/$p/stat); done';

const RUNBOOK = `
env_pass = ["FROM_PROJECT"]
[agents.spy]
run = "sh spy.sh agent"
env_pass = ["FROM_AGENT_*"]
on_dead = "done"
[agents.bare]
run = "sh spy.sh bare"
env_pass = ["FROM_AGENT_*"]
on_dead = "done"
sandbox = "none"
[pipelines.spy]
steps = [
  { name = "shell", run = "sh spy.sh shell" },
  { name = "agent", run = { agent = "spy" } },
  { name = "bare", run = { agent = "bare" } },
]
[notify]
desktop = false
terminal = false
`;

/**
 * Attack 8: an agent takes the GitHub webhook's secret from its own or its parents' environment, and forges a check
 * with it.
 */
let world: World;
beforeAll(() => {
  world = new World({
    BATON_GITHUB_WEBHOOK_SECRET: SECRET,
    ANTHROPIC_API_KEY: KEY,
    AWS_SECRET_ACCESS_KEY: 'the-key-of-a-cloud',
    FROM_PROJECT: 'p',
    FROM_AGENT_X: 'a',
  });
  const script = `(env; ${LOOK}) > "seen-$1"\n`;
  world.commit(world.repository, { 'baton.toml': RUNBOOK, 'spy.sh': script }, 'a runbook');
});
afterAll(async () => {
  world.baton(['down']);
  await world[Symbol.asyncDispose]();
});

it('keeps secrets from agents and commands, also in /proc of their parents', { timeout: PATIENCE_MS }, async () => {
  // Started separately, so that no command of the operator, whose environment has everything, is among its parents.
  expect(world.baton(['up']).code).toBe(0);
  expect(world.baton(['run', 'spy']).code).toBe(0);
  const [shell = '', agent = '', bare = ''] = ['shell', 'agent', 'bare'].map((name) =>
    readFileSync(join(world.repository, `seen-${name}`), 'utf8'),
  );
  for (const seen of [shell, agent, bare]) {
    // Not printed on failure, because the text is the environment of a machine.
    expect(seen.includes('\nFROM_PROJECT=p\n')).toBe(true);
    for (const value of [SECRET, KEY, 'the-key-of-a-cloud'])
      expect([value, seen.includes(value)]).toEqual([value, false]);
  }
  expect(agent.includes('\nFROM_AGENT_X=a\n')).toBe(true);
  expect(shell.includes('FROM_AGENT_X')).toBe(false);

  const found = /^BATON_GITHUB_WEBHOOK_SECRET=(.*)$/m.exec(`${shell}${agent}${bare}`)?.[1] ?? 'unknown';
  const { port } = readDaemonRecord(world.stateDir) ?? { port: 0 };
  const deliver = async (secret: string): Promise<number> => {
    const body = JSON.stringify({ action: 'requested' });
    const headers = {
      'x-github-event': 'workflow_run',
      'x-github-delivery': 'delivery-1',
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    };
    return (await fetch(`http://127.0.0.1:${port}/webhooks/github`, { method: 'POST', headers, body })).status;
  };
  expect(await deliver(found)).toBe(403);
  // The daemon itself has the secret.
  expect(await deliver(SECRET)).toBe(200);

  const { agents } = JSON.parse(world.baton(['agent', 'list', '--all', '--json']).out);
  const shown = world.baton(['agent', 'show', agents[0].id]).out;
  expect(shown).toMatch(
    /not passed +ANTHROPIC_API_KEY, AWS_SECRET_ACCESS_KEY, BATON_GITHUB_WEBHOOK_SECRET, BATON_RESTART(?:, BATON_STORE)?\n/,
  );
  expect(shown).not.toContain(SECRET);
});
