import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunScene } from '../../src/daemon/runs.cases.ts';
import { until } from '../../src/daemon/running.cases.ts';
import { says } from '../models/script.ts';
import { claudeCase } from './claude-under-test.ts';
import { textIn } from './client.cases.ts';
import { codexCase } from './codex-under-test.ts';
import { geminiCase } from './gemini-under-test.ts';
import { COMPLETE, openUser, shellOf } from './with-daemon.ts';

let scene: RunScene;
beforeEach(() => {
  scene = new RunScene();
});
afterEach(async () => scene.end());

describe.each([claudeCase, codexCase, geminiCase])(
  '$run, after SIGKILL of client, supervisor and daemon at once',
  (client) => {
    it('the conversation is resumed', async () => {
      const wait = client.shell('touch waits; while [ ! -e go ]; do sleep 0.05; done');
      await using user = await openUser(client, [says('The first words.'), wait, client.shell(COMPLETE), says('Now.')]);
      scene.write(`
      [agents.coder]
      run = "${client.run}"
      model = "${client.model}"
      prompt = "Do the task."
      on_stop = "signal"
      on_dead = { action = "resume", message = "Go on, please." }
      timeout = "35s"`);
      const env = { ...shellOf(client, user), BATON_TICK_MS: '50' };
      const daemon = await scene.scene.spawnDaemon(env);
      scene.connect(env);
      const id = await scene.run('coder');
      await until(() => existsSync(join(scene.repository, 'waits')), 'it is at work', 30_000);
      const pids = execFileSync('pgrep', ['-f', id], { encoding: 'utf8' }).trim().split('\n').map(Number);
      const { pid } = await scene.ask('agent_show', { id });
      for (const each of [...pids, pid ?? 0, daemon.child.pid ?? 0].filter((n) => n > 1)) {
        try {
          process.kill(each, 'SIGKILL');
        } catch {
          // It went with another.
        }
      }
      await daemon.exited;
      await scene.start(env);
      expect(await scene.agent(id, 30_000)).toMatchObject({ status: 'done', start: 2 });
      const resumed = user.model.asked.map(textIn).find((text) => text.includes('Go on, please.'));
      expect(resumed).toContain('The first words.');
      expect(resumed).toContain('Do the task.');
    });
  },
);
