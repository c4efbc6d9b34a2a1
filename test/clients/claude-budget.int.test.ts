import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunScene } from '../../src/daemon/runs.cases.ts';
import { until } from '../../src/daemon/running.cases.ts';
import { says } from '../models/script.ts';
import { claudeCase } from './claude-under-test.ts';
import { textIn } from './client.cases.ts';
import { COMPLETE, entryOf, openUser, shellOf } from './with-daemon.ts';

let scene: RunScene;
beforeEach(() => {
  scene = new RunScene();
});
afterEach(async () => scene.end());

const sh = claudeCase.shell;
const RUNBOOK = `
  [agents.coder]
  run = "claude"
  model = "${claudeCase.model}"
  prompt = "Do the task."
  on_stop = "signal"
  on_dead = "fail"
  timeout = "50s"
  budget = { tokens = 200 }`;

/**
 * Each reply is 121 tokens, so the second exceeds the budget. That is noticed before its tool is used, or while it
 * runs.
 */
const SCRIPT = [sh('true'), sh('sleep 2; touch second'), sh('touch third'), sh(COMPLETE), says('Now.')];

const made = (file: string): boolean => existsSync(join(scene.repository, file));

/** Waits until the agent is paused: a tool is held, and the model has received no further request. */
async function paused(asked: { readonly length: number }): Promise<{ readonly id: string; readonly decision: string }> {
  const id = await scene.run('coder');
  const { data } = await entryOf(scene, 'DecisionOpened');
  expect(data).toMatchObject({ source: 'budget', agent_id: id });
  const opened = performance.now();
  const isAtThird = (): boolean => made('second') && asked.length === 3;
  const isAtSecond = (): boolean => !made('second') && performance.now() > opened + 6000;
  await until(() => isAtThird() || isAtSecond(), 'its next tool is held', 30_000);
  expect(asked.length).toBeLessThanOrEqual(3);
  return { id, decision: String(data['decision_id']) };
}

describe('Claude Code, whose budget is used up in the middle of a turn', { timeout: 90_000 }, () => {
  it('is held at its next tool, and continues with it when the budget is raised, over a restart of the daemon', async () => {
    await using user = await openUser(claudeCase, SCRIPT);
    const env = shellOf(claudeCase, user);
    scene.write(RUNBOOK);
    await scene.start(env);
    const { id, decision } = await paused(user.model.asked);
    await scene.stop();
    await scene.start(env);
    expect(made('third')).toBe(false);
    await scene.ask('decision_resolve', { id: decision, option: 1 });
    // The remaining script needs more than the raised budget of 400.
    for (let shown = await scene.agent(id); shown.status === 'escalated'; shown = await scene.agent(id))
      await scene.ask('decision_resolve', { id: shown.decision_id, option: 1 });
    expect(await scene.agent(id)).toMatchObject({ status: 'done', start: 1 });
    expect([made('second'), made('third')]).toEqual([true, true]);
    expect(user.model.asked.some((each) => textIn(each).includes('Continue where you stopped.'))).toBe(false);
  });

  it('exits by itself, without another request to the model, when a person accepts the work as done', async () => {
    await using user = await openUser(claudeCase, SCRIPT);
    scene.write(RUNBOOK);
    await scene.start(shellOf(claudeCase, user));
    const { id, decision } = await paused(user.model.asked);
    expect(made('third')).toBe(false);
    await scene.ask('decision_resolve', { id: decision, option: 2 });
    const { data } = await entryOf(scene, 'AgentExited');
    expect(data).toMatchObject({ agent_id: id, signal: null });
    expect(made('third')).toBe(false);
    expect(user.model.asked.length).toBeLessThanOrEqual(3);
  });
});
