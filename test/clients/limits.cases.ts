import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunScene } from '../../src/daemon/runs.cases.ts';
import { until } from '../../src/daemon/running.cases.ts';
import { findProcessesByMark } from '../../src/effects/processes/supervised.ts';
import { says, type Reply, type Turn } from '../models/script.ts';
import type { ClientCase } from './client.cases.ts';
import { COMPLETE, entryOf, EXIT, openUser, shellOf } from './with-daemon.ts';

let scene: RunScene;

/** External ends of a session: its mission's limits, a person, its budget. */
export function describeLimits(clients: readonly ClientCase[]): void {
  beforeEach(() => {
    scene = new RunScene();
  });
  afterEach(async () => scene.end());

  describe.each(clients)('$run', (client) => {
    it('fails if its session breaks its mission and reports success', async () => {
      const breaks = `echo '{"dependencies":{"fresh":"1.0.0"}}' > package.json; touch a.txt`;
      const script = [client.shell(breaks), client.shell(EXIT('IMPLEMENTATION')), says('All is well.')];
      await using user = await openUser(client, script);
      scene.write(`
        exit_protocol = true
        limits = { max_files = 1, no_new_deps = true }
        ${agentOf(client, 'requires = ["exit"]\n on_dead = "fail"')}
        [workers.w]
        phases = ["IMPLEMENTATION"]
        run = { agent = "coder" }`);
      await scene.start(shellOf(client, user));
      await scene.ask('task_create', { task_id: 'T001', title: 'Say hello' });
      const { data } = await entryOf(scene, 'SessionMeasured', 60_000);
      expect(data['violations']).toEqual([
        expect.stringMatching(/^max_files: 2 files differ from the base, 1 allowed$/),
        expect.stringMatching(/^no_new_deps: npm fresh/),
      ]);
      expect((await entryOf(scene, 'AgentSessionCompleted')).data).toMatchObject({
        exit_reason: 'error',
        claimed_exit_reason: 'completed',
        next_phase: 'BLOCKED',
      });
    });

    it('ends with all its processes when a person cancels it', async () => {
      await using user = await openUser(client, [client.shell('touch waits; sleep 300'), says('Done.')]);
      scene.write(agentOf(client, 'on_stop = "signal"\n on_dead = "fail"'));
      await scene.start(shellOf(client, user));
      const id = await scene.run('coder');
      await until(() => existsSync(join(scene.repository, 'waits')), 'it is at work', 60_000);
      await scene.ask('agent_kill', { id, reason: 'enough' });
      expect(await scene.agent(id)).toMatchObject({ status: 'cancelled', process: 'gone' });
      const isGone = (): boolean => findProcessesByMark({ name: 'BATON_AGENT_ID', value: id }).length === 0;
      await until(isGone, 'nothing of it is left', 20_000);
      expect(user.model.asked).toHaveLength(1);
    });

    it('is held when its turns have used up its budget, and continues when it is raised', async () => {
      // Each turn takes a moment, like real turns. Only the last request has a cost.
      const free = (command: string): Turn => ({ ...client.shell(command), usage: NOTHING }) as Reply;
      const turn = (n: number): Turn[] => [free('sleep 0.3'), says(`Turn ${n}.`, REQUEST)];
      const script = [...[1, 2, 3, 4, 5, 6].flatMap(turn), free(COMPLETE), says('Now.')];
      await using user = await openUser(client, script);
      const budget = `budget = { tokens = ${tokensOf(client) * 4.5} }`;
      scene.write(agentOf(client, `on_stop = { action = "signal", attempts = 20 }\n on_dead = "resume"\n ${budget}`));
      await scene.start(shellOf(client, user));
      const id = await scene.run('coder');
      const { data } = await entryOf(scene, 'DecisionOpened', 60_000);
      expect(data).toMatchObject({ source: 'budget', agent_id: id });
      // Four turns fit. The fifth is counted at its end, when the sixth may have begun.
      expect(user.model.asked.length).toBeLessThanOrEqual(11);
      const { decision_id } = await scene.agent(id);
      await scene.ask('decision_resolve', { id: decision_id, option: 1 });
      expect(await scene.agent(id, 60_000)).toMatchObject({ status: 'done' });
    });
  });
}

/** Nine thousand tokens of input, two thousand of them cached, and a thousand of output. */
const REQUEST = { input: 9000, cached: 2000, output: 1000 };
const NOTHING = { input: 0, cached: 0, output: 0 };

/** Anthropic counts cached tokens separately from the input. */
function tokensOf({ run }: ClientCase): number {
  return run.startsWith('claude') ? 12_000 : 10_000;
}

function agentOf({ run, model }: ClientCase, more: string): string {
  return `
    [agents.coder]
    run = "${run}"
    model = "${model}"
    prompt = "Do the task."
    timeout = "80s"
    ${more}`;
}
