import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RunScene } from '../../src/daemon/runs.cases.ts';
import { git } from '../../src/git/run-git.ts';
import { says } from '../models/script.ts';
import { blocks } from './door.ts';
import { geminiCase } from './gemini-under-test.ts';
import { runAgent } from './run-agent.ts';
import { EXIT, entryOf, openUser, shellOf } from './with-daemon.ts';
import { openWorld } from './world.ts';

describe('Gemini CLI alone', () => {
  it('logs in as the user has set it up, through links in its own home', async () => {
    await using world = await openWorld(geminiCase.startModel, [says('Done.')], blocks(0));
    geminiCase.setUp(world);
    writeFileSync(join(world.home, '.gemini/.env'), 'GEMINI_API_KEY=dummy-key-of-the-user\n');
    mkdirSync(join(world.home, '.gemini/extensions'));
    const ended = await runAgent(geminiCase, world, { prompt: 'Go.', env: { GEMINI_API_KEY: '' } });
    expect(ended).toMatchObject({ code: 0 });
    expect(world.model.asked[0]?.headers['x-goog-api-key']).toBe('dummy-key-of-the-user');
  });

  it('commits as the operator in its shell, and not after its claim has ended', async () => {
    const late = 'git commit --quiet --allow-empty -m late';
    const blocked = EXIT('IMPLEMENTATION').replace('"completed"', '"blocked"');
    const work = `trap '' TERM; git commit --quiet --allow-empty -m first; ${blocked}; ${late} || touch refused`;
    await using user = await openUser(geminiCase, [geminiCase.shell(work), says('Done.')]);
    writeFileSync(join(user.home, '.gitconfig'), '[user]\n\tname = Grace\n\temail = grace@example.org\n');
    const scene = new RunScene();
    try {
      // In a sandbox the late commit would stay in the session's own git directory and need no fence.
      scene.write(`
        exit_protocol = true
        [agents.coder]
        sandbox = "none"
        run = "gemini"
        model = "${geminiCase.model}"
        prompt = "Do the task."
        requires = ["exit"]
        [workers.w]
        phases = ["IMPLEMENTATION"]
        run = { agent = "coder" }`);
      await scene.start(shellOf(geminiCase, user));
      await scene.ask('task_create', { task_id: 'T001', title: 'Say hello' });
      const { data } = await entryOf(scene, 'SessionPrepared');
      await entryOf(scene, 'AgentExited', 60_000);
      const log = await git(['log', '--format=%an %ae %s', String(data['branch'])], { cwd: scene.repository });
      expect(log.ok && log.value.stdout.split('\n')[0]).toBe('Grace grace@example.org first');
      expect(existsSync(join(String(data['workspace']), 'refused'))).toBe(true);
    } finally {
      await scene.end();
    }
  });
});
