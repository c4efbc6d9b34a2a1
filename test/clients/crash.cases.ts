import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunScene } from '../../src/daemon/runs.cases.ts';
import { until } from '../../src/daemon/running.cases.ts';
import { says } from '../models/script.ts';
import { textIn, unless, type ClientCase } from './client.cases.ts';
import { COMPLETE, openUser, shellOf } from './with-daemon.ts';

let scene: RunScene;

/** A conversation that cannot be loaded restarts with the prompt and the message. */
export function describeCrashes(clients: readonly ClientCase[]): void {
  beforeEach(() => {
    scene = new RunScene();
  });
  afterEach(async () => scene.end());

  describe.each(clients)('$run, after SIGKILL of client, supervisor and daemon at once', (client) => {
    const SCRIPT = [
      says('The first words.'),
      client.shell('touch waits; while [ ! -e go ]; do sleep 0.05; done'),
      client.shell(COMPLETE),
      says('Now.'),
    ];
    const agent = (onDead: string): string => `
      [agents.coder]
      run = "${client.run}"
      model = "${client.model}"
      prompt = "Do the task."
      on_stop = "signal"
      on_dead = ${onDead}
      timeout = "35s"
      [pipelines.p]
      steps = [{ name = "work", run = { agent = "coder" } }]`;

    it('the conversation is resumed by its handler', async () => {
      await using user = await openUser(client, SCRIPT);
      scene.write(agent('{ action = "resume", message = "Go on, please." }'));
      const env = shellOf(client, user);
      const id = await killAll(env, async () => scene.run('coder'));
      await scene.start(env);
      expect(await scene.agent(id, 30_000)).toMatchObject({ status: 'done', start: 2 });
      const resumed = user.model.asked.map(textIn).find((text) => text.includes('Go on, please.'));
      expect(resumed?.includes('The first words.')).toBe(unless(client, 'resume') === '');
      expect(resumed).toContain('Do the task.');
    });

    it('the conversation is resumed by a person', async () => {
      await using user = await openUser(client, SCRIPT);
      scene.write(agent('"escalate"'));
      const env = shellOf(client, user);
      let run = '';
      const id = await killAll(env, async () => {
        run = await scene.run('p');
        return scene.agentIn(run, 'work');
      });
      await scene.start(env);
      expect(await scene.pipeline(run, 30_000)).toMatchObject({ status: 'waiting' });
      await scene.ask('pipeline_resume', { id: run, message: 'Where were you?' });
      expect(await scene.pipeline(run, 30_000)).toMatchObject({ status: 'done' });
      expect(await scene.agent(id)).toMatchObject({ status: 'done', start: 2 });
      const resumed = user.model.asked.map(textIn).find((text) => text.includes('Where were you?'));
      expect(resumed?.includes('The first words.')).toBe(unless(client, 'resume') === '');
      expect(resumed).toContain('Do the task.');
    });
  });
}

/** Starts an agent, waits until it is working, and kills everything. */
async function killAll(env: Record<string, string>, begin: () => Promise<string>): Promise<string> {
  const daemon = await scene.scene.spawnDaemon({ ...env, BATON_TICK_MS: '50' });
  scene.connect(env);
  const id = await begin();
  await until(() => existsSync(join(scene.repository, 'waits')), 'it is at work', 30_000);
  const pids = execFileSync('pgrep', ['-f', id], { encoding: 'utf8' }).trim().split('\n').map(Number);
  const { pid } = await scene.ask('agent_show', { id });
  for (const each of [...pids, pid ?? 0, daemon.child.pid ?? 0].filter((n) => n > 1)) {
    try {
      process.kill(each, 'SIGKILL');
    } catch {
      // The process exited together with another one.
    }
  }
  await daemon.exited;
  return id;
}
