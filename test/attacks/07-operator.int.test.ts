import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunWorld } from '../processes/run-world.ts';

const ROOT = join(import.meta.dirname, '../..');

/** The environment after `env -i`: enough to find Baton and its state folder. */
const BARE = 'env -i PATH="$PATH" BATON_STATE_DIR="$BATON_STATE_DIR"';
const GONE = 'env -u BATON_TOKEN -u BATON_URL -u BATON_AGENT_ID -u BATON_SESSION';
const OPERATOR = '-H "authorization: Bearer $(cat "$BATON_STATE_DIR/operator.token")"';
const WORKER = '-H "authorization: Bearer $(cat "$BATON_STATE_DIR/worker.token")"';
const CREATE = `-H "baton-project-path: $PWD" -d '{"task_id":"stolen","title":"x"}'`;
const ADD = 'task add stolen --title x';

/** Commands that the agent's shell runs. Each must be refused. */
const ATTACKS: Readonly<Record<string, string>> = {
  'all variables unset': `${GONE} baton ${ADD}`,
  'an empty environment': `${BARE} baton ${ADD}`,
  'a session of its own': `setsid -w ${BARE} baton ${ADD}`,
  'a session of its own, with the mark only': `setsid -w env -u BATON_TOKEN baton ${ADD}`,
  'without a hangup': `nohup ${BARE} baton ${ADD}`,
  'a shell script': `printf '%s\\n' '#!/bin/sh' 'exec baton "$@"' > mine.sh; ${BARE} sh mine.sh ${ADD}`,
  'a copied shim': `cp "$(command -v baton)" ./mine; chmod +x mine; ${BARE} ./mine ${ADD}`,
  'the program itself': `${BARE} '${process.execPath}' '${ROOT}/bin/baton.cjs' ${ADD}`,
  'a left process that keeps the group': `(${BARE} sh -c 'sleep 0.2; baton ${ADD} > left 2>&1; mv left left.done' &); until test -e left.done; do sleep 0.05; done; cat left.done`,
  'a forged mark': `BATON_AGENT_ID=nobody ${BARE} BATON_AGENT_ID=nobody baton ${ADD}`,
  'the operator’s token in its variable': `BATON_TOKEN=$(cat "$BATON_STATE_DIR/operator.token") baton ${ADD}`,
  'the operator’s token as an option': `baton ${ADD} --token "$(cat "$BATON_STATE_DIR/operator.token")"`,
  'the worker’s token': `BATON_TOKEN=$(cat "$BATON_STATE_DIR/worker.token") baton task claim honest --as me`,
  'the address of the page': 'baton web',
  'the address of the page, all variables unset': `${GONE} baton web --json`,
  'another name of the state folder': `ln -s "$BATON_STATE_DIR" state-2; env -i PATH="$PATH" BATON_STATE_DIR="$PWD/state-2" baton ${ADD}`,
  'the end of the daemon': `${BARE} baton down`,
  'a seal': `${BARE} baton ledger seal`,
  'a worker token of a name of its own': `${BARE} baton mcp --principal thief`,
  'the hooks of a client': `env -i PATH="$PATH" HOME="$PWD" BATON_STATE_DIR="$BATON_STATE_DIR" baton hooks install claude`,
  'a self-approval': `${BARE} baton merge honest --self-approve 'it is fine'`,
  'other rules': `${BARE} baton runbook adopt`,
  'the answer to a decision': `${BARE} baton decision resolve x 1`,
  'a program between the two': `timeout 20 nice ${BARE} perl -e 'setpgrp(0, 0); exec @ARGV' baton ${ADD}`,
  'a pipe and a subshell': `echo "${ADD}" | ( ${BARE} xargs baton )`,
  'MCP over HTTP with the worker’s token': `${BARE} curl -s http://127.0.0.1:$PORT/mcp ${WORKER} -H "content-type: application/json" -H "accept: application/json, text/event-stream" -d '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"0"}}}'`,
  'a program with batonctl/client': `${BARE} '${process.execPath}' --disable-warning=ExperimentalWarning client.mjs`,
  'loopback with the operator’s token': `${BARE} curl -s http://127.0.0.1:$PORT/v1/task_create ${OPERATOR} ${CREATE}`,
  'loopback with the worker’s token': `curl -s http://127.0.0.1:$PORT/v1/task_list ${WORKER} -H "baton-project-path: $PWD" -d '{}'`,
  'the Unix socket with the operator’s token': `curl -s --unix-socket "$BATON_STATE_DIR/daemon.sock" http://localhost/v1/task_create ${OPERATOR} ${CREATE}`,
  'its supervisor with the operator’s token': `curl -s $BATON_URL/v1/task_create ${OPERATOR} ${CREATE}`,
  'its supervisor with the operator’s token and a pass': `curl -s $BATON_URL/v1/task_create -H "baton-pass: 00000000-0000-4000-8000-000000000000" ${OPERATOR} ${CREATE}`,
};

const CLIENT = `
import { connect } from '${ROOT}/src/api/index.ts';
const client = await connect({ projectPath: process.cwd() });
console.log(JSON.stringify(await client.call('task_create', { task_id: 'stolen', title: 'x' })));
client.close();
`;

const THIEF = `
PORT=$(sed 's/.*"port":\\([0-9]*\\).*/\\1/' "$BATON_STATE_DIR/daemon.json")
${Object.values(ATTACKS)
  .map((attack, i) => `( ${attack} ) > said-${i} 2>&1 < /dev/null`)
  .join('\n')}
baton emit agent:signal '{"kind":"complete"}'
`;

const STARTER = `
touch waits
until test -e down; do sleep 0.05; done
( ${BARE} baton up; baton up; ${BARE} baton up --foreground ) > said-up 2>&1
touch tried
`;

/** In a sandbox the state folder would not be visible. */
const RUNBOOK = `
sandbox = "none"
[agents.thief]
run = "sh thief.sh"
[agents.starter]
run = "sh starter.sh"
`;

let world: RunWorld;
beforeAll(async () => {
  world = await RunWorld.open({
    runbook: RUNBOOK,
    scripts: { 'thief.sh': THIEF, 'starter.sh': STARTER, 'client.mjs': CLIENT },
  });
  await world.ask('task_create', { task_id: 'honest', title: 'x' });
  await world.agent(await world.run('thief'));
});
afterAll(async () => world[Symbol.asyncDispose]());

describe('inside a session', () => {
  it.each(Object.keys(ATTACKS).map((name, i) => [name, i] as const))('%s gives no more rights', (_, i) => {
    const said = readFileSync(join(world.repository, `said-${i}`), 'utf8');
    expect(said).toMatch(/cannot act as|may not (?:call|stop)|only an operator|needs a pass|not made by a living/);
    expect(said).not.toMatch(/unset/i);
    expect(said).not.toMatch(/\b[ow]\.[\w-]{43}/);
  });

  it('no attack has an effect', async () => {
    expect(await world.ask('task_list')).toMatchObject({ tasks: [{ id: 'honest', claim: null }] });
  });

  it('no daemon is started with the environment of an agent', async () => {
    const isThere = (name: string): boolean => existsSync(join(world.repository, name));
    await world.run('starter');
    await world.until('the agent runs', () => isThere('waits'));
    await world.world.endDaemon('SIGTERM');
    world.world.write(world.repository, { down: '' });
    await world.until('the agent has tried', () => isThere('tried'));
    const said = readFileSync(join(world.repository, 'said-up'), 'utf8');
    expect(said).not.toContain('is up');
    expect(said).toContain('inside the session of agent');
    await world.world.startDaemon();
  });
});
