import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunWorld } from '../processes/run-world.ts';

/** Each line of the script writes Baton's answer to a separate file. */
const THIEF = `#!/bin/sh
tries() { name=$1; shift; "$@" > "said-$name" 2>&1 || true; }
tries unset env -u BATON_TOKEN -u BATON_URL baton task add stolen-1 --title x
tries cleared env -i PATH="$PATH" BATON_STATE_DIR="$BATON_STATE_DIR" baton task add stolen-2 --title x
tries page baton web
port=$(sed 's/.*"port":\\([0-9]*\\).*/\\1/' "$BATON_STATE_DIR/daemon.json")
tries loopback curl -s "http://127.0.0.1:$port/v1/task_create" -H "authorization: Bearer $(cat "$BATON_STATE_DIR/operator.token")" \\
  -H "baton-project-path: $PWD" -d '{"task_id":"stolen-3","title":"x"}'
baton emit agent:signal '{"kind":"complete"}'
`;

/** In a sandbox it would not even see the state folder. */
const RUNBOOK = `
sandbox = "none"
[agents.thief]
run = "sh thief.sh"
[pipelines.steps]
steps = [{ name = "step", run = "baton task add stolen-4 --title x > said-step 2>&1; true" }]
`;

describe('an agent that wants to be the operator', () => {
  let world: RunWorld;
  beforeAll(async () => {
    world = await RunWorld.open({ runbook: RUNBOOK, scripts: { 'thief.sh': THIEF } });
  });
  afterAll(async () => world.leaveEmpty());

  it('keeps the rights of its session, whatever it does with its variables, and gets no token', async () => {
    const [thief, steps] = [await world.run('thief'), await world.run('steps')];
    expect(await world.agent(thief)).toMatchObject({ outcome: 'done' });
    expect(await world.pipeline(steps)).toMatchObject({ status: 'done' });
    const said = (name: string): string => readFileSync(join(world.repository, `said-${name}`), 'utf8');
    // The session's own token is found above, and determines what the session may do.
    for (const name of ['unset', 'cleared']) expect(said(name)).toContain('an agent may not call task_create');
    for (const name of ['page', 'loopback', 'step']) expect(said(name)).toContain('cannot act as the operator');
    for (const name of ['unset', 'cleared', 'page', 'loopback', 'step']) {
      expect(said(name)).toContain('a terminal outside the session');
      expect(said(name)).not.toMatch(/unset|BATON_TOKEN/);
      expect(said(name)).not.toMatch(/[ow]\.[\w-]{43}/);
    }
    expect(await world.ask('task_list')).toMatchObject({ total: 0 });
  });

  it('a person outside is the operator as before', () => {
    const { code, out } = world.world.baton(['task', 'add', 'honest', '--title', 'x']);
    expect([code, out]).toEqual([0, expect.stringContaining('honest')]);
    expect(world.world.baton(['web']).out).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#code=[\w-]{43}&daemon=/);
  });
});
