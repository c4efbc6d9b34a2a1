import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createClient } from '../api/client/connect.ts';
import { agentFiles, type Launch } from '../supervisor/contract.ts';
import { RunScene } from './runs.cases.ts';
import { AccessTokens } from './tokens.ts';

const EXIT = { code: 0, signal: null, timed_out: false, blocks_used: false, output: null } as const;

describe('the tokens of runs', () => {
  const open = (): AccessTokens => {
    const folder = mkdtempSync(join(tmpdir(), 'baton-tokens-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    return new AccessTokens(folder);
  };
  const run = { project: 'p', id: 'a1' };

  it('name their bearer', () => {
    const tokens = open();
    expect(tokens.identify(tokens.issueAgent(run))).toEqual({ caller: { kind: 'agent', agentId: 'a1' }, project: 'p' });
    expect(tokens.identify(tokens.issueSupervisor(run))).toMatchObject({
      caller: { kind: 'supervisor', agentId: 'a1' },
    });
  });

  it('cannot be turned into another kind, nor used in another state folder', () => {
    const tokens = open();
    const token = tokens.issueAgent(run);
    const session = tokens.issueSession({ project: 'p', sessionId: 'a1', taskId: 'T1', epoch: 1 });
    for (const kind of ['v', 's', 'o', 'w']) expect(tokens.identify(`${kind}${token.slice(1)}`)).toBeUndefined();
    for (const kind of ['a', 'v']) expect(tokens.identify(`${kind}${session.slice(1)}`)).toBeUndefined();
    for (const broken of ['a.', 'v..', `${token}x`, `${token}.x`, token.slice(0, -2)])
      expect(tokens.identify(broken)).toBeUndefined();
    expect(open().identify(token)).toBeUndefined();
  });
});

describe('an agent and its supervisor', () => {
  let world: RunScene;
  beforeEach(async () => {
    world = new RunScene();
    world.write('[agents.a]\nrun = "sleep 300"\n[limits]\nkill_after = "100ms"\n');
    await world.start();
  });
  afterEach(async () => world.end());

  async function launchOf(id: string): Promise<Launch> {
    await world.untilRunning(id);
    return JSON.parse(readFileSync(agentFiles(world.stateDir, id).launch(1), 'utf8'));
  }

  async function as(token: string, operation: string, input: unknown) {
    const client = createClient({ stateDir: world.stateDir, env: {}, token, autostart: false });
    try {
      const answer = await client.forward(operation, input);
      return answer.ok ? 'ok' : answer.error.code;
    } finally {
      client.close();
    }
  }

  it('act only for their own run', async () => {
    const [mine, other] = [await world.run('a'), await world.run('a')];
    const launch = await launchOf(mine);
    await launchOf(other);
    for (const [operation, input, answer] of [
      ['task_list', {}, 'ok'],
      ['task_create', { task_id: 'T1', title: 'x' }, 'forbidden'],
      ['task_claim', { as: 'x' }, 'forbidden'],
      ['run_start', { name: 'a' }, 'forbidden'],
      ['agent_kill', { id: other }, 'forbidden'],
      ['decision_list', {}, 'forbidden'],
      ['agent_report', { kind: 'exited', start: 1 }, 'forbidden'],
      ['agent_signal', { kind: 'complete', agent_id: other }, 'not-your-agent'],
      ['agent_signal', { kind: 'continue' }, 'ok'],
    ] as const)
      expect([operation, await as(launch.agent_token, operation, input)]).toEqual([operation, answer]);
    for (const [operation, input, answer] of [
      ['agent_standing', {}, 'ok'],
      ['agent_report', { kind: 'started', start: 1, supervisor: 'x', process: 'y' }, 'ok'],
      ['agent_report', { kind: 'started' }, 'bad-request'],
      ['agent_report', { kind: 'exited', ...EXIT, start: 7 }, 'unknown-start'],
      ['agent_report', { kind: 'exited', start: 7 }, 'bad-request'],
      ['agent_idle', { agent_id: other }, 'not-your-agent'],
      ['task_list', {}, 'forbidden'],
      ['run_start', { name: 'a' }, 'forbidden'],
    ] as const)
      expect([operation, await as(launch.token, operation, input)]).toEqual([operation, answer]);
    expect(await world.ask('agent_show', { id: other })).toMatchObject({ status: 'running' });
  });
});
