import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunScene } from '../../src/daemon/runs.cases.ts';
import { until } from '../../src/daemon/running.cases.ts';
import { says, uses, type Turn } from '../models/script.ts';
import { claudeCase } from './claude-under-test.ts';
import type { ClientCase } from './client.cases.ts';
import { codexCase } from './codex-under-test.ts';
import { geminiCase } from './gemini-under-test.ts';
import { COMPLETE, entryOf, openUser, shellOf } from './with-daemon.ts';

let scene: RunScene;
beforeEach(() => {
  scene = new RunScene();
});
afterEach(async () => scene.end());

const runbook = ({ run, model }: ClientCase, budget: string): string => `
  [agents.coder]
  run = "${run}"
  model = "${model}"
  prompt = "Do the task."
  on_stop = "signal"
  on_dead = "fail"
  timeout = "50s"
  budget = { ${budget} }`;

const made = (file: string): boolean => existsSync(join(scene.repository, file));

/** Twenty requests of 10,000 tokens each, all in one turn. Each tool takes a moment, like real tools. */
const REQUEST = { input: 9000, cached: 2000, output: 1000 };
const script = ({ shell }: ClientCase): readonly Turn[] => [
  ...Array.from({ length: 20 }, (_, i) => ({ ...shell(`touch step-${i + 1}`), usage: REQUEST })),
  { ...shell(COMPLETE), usage: REQUEST },
  says('Done.', REQUEST),
];

/** The tokens per request, as each client counts them. */
const TOKENS_PER_REQUEST: Readonly<Record<string, number>> = { claude: 12_000, codex: 10_000, gemini: 10_000 };

/** The cost of five and a half requests to claude-sonnet-5, gpt-5.5 and gemini-2.5-pro. */
const COST: Readonly<Record<string, string>> = { claude: '0.15', codex: '0.36', gemini: '0.10' };

describe.each([claudeCase, codexCase, geminiCase])('$run in one long turn', { timeout: 90_000 }, (client) => {
  const each = TOKENS_PER_REQUEST[client.run] ?? 0;

  it.each([
    ['tokens', `tokens = ${each * 5.5}`],
    ['cost, by the prices that Baton ships', `cost = "$${COST[client.run]}"`],
  ])('is held when its budget of %s is used up, overspent by less than a request', async (_, budget) => {
    await using user = await openUser(client, script(client));
    scene.write(runbook(client, budget));
    await scene.start(shellOf(client, user));
    const id = await scene.run('coder');
    const { data } = await entryOf(scene, 'DecisionOpened', 60_000);
    expect(data).toMatchObject({ source: 'budget', agent_id: id });
    await until(() => user.model.asked.length >= 5, 'the request under way has ended', 20_000);
    // Five requests fit. The sixth may already be in progress when the budget is exhausted.
    expect(user.model.asked.length).toBeLessThanOrEqual(6);
    const shown = await scene.agent(id);
    expect(shown).toMatchObject({ status: 'escalated', start: 1 });
    expect(made('step-7')).toBe(false);
    // After the raise it continues in the same process with the held tool.
    const asked = user.model.asked.length;
    await scene.ask('decision_resolve', { id: shown.decision_id, option: 1 });
    await until(() => user.model.asked.length > asked, 'it goes on', 20_000);
    expect(await scene.agent(id)).toMatchObject({ start: 1 });
  });
});

/** A subagent has its own conversation; its tools are held too. */
const SUBAGENT: Readonly<Record<string, Turn>> = {
  claude: uses('Agent', { subagent_type: 'general-purpose', description: 'part', prompt: 'Do a part.' }, REQUEST),
  gemini: uses('invoke_agent', { agent_name: 'generalist', prompt: 'Do a part.' }, REQUEST),
};

describe.each([claudeCase, geminiCase])('$run with a subagent', { timeout: 90_000 }, (client) => {
  it('overspends by at most one request per conversation', async () => {
    const [, ...tools] = script(client);
    await using user = await openUser(client, [SUBAGENT[client.run] ?? says(''), ...tools]);
    scene.write(runbook(client, `tokens = ${(TOKENS_PER_REQUEST[client.run] ?? 0) * 5.5}`));
    await scene.start(shellOf(client, user));
    const id = await scene.run('coder');
    const { data } = await entryOf(scene, 'DecisionOpened', 60_000);
    expect(data).toMatchObject({ source: 'budget', agent_id: id });
    // The sixth request exhausted the budget; the other conversation may have one in progress.
    expect(user.model.asked.length).toBeLessThanOrEqual(7);
    const shown = await scene.agent(id);
    await scene.ask('decision_resolve', { id: shown.decision_id, option: 3 });
    await entryOf(scene, 'AgentExited');
    expect(user.model.asked.length).toBeLessThanOrEqual(7);
  });
});
