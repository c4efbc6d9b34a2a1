import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunScene } from '../../src/daemon/runs.cases.ts';
import { until } from '../../src/daemon/running.cases.ts';
import { fails, says, uses } from '../models/script.ts';
import { claudeCase } from './claude-under-test.ts';
import { COMPLETE, entryOf, openUser, shellOf } from './with-daemon.ts';

let scene: RunScene;
beforeEach(() => {
  scene = new RunScene();
});
afterEach(async () => scene.end());

const sh = claudeCase.shell;
const agent = (more: string): string => `
  [agents.coder]
  run = "claude"
  model = "${claudeCase.model}"
  prompt = "Do the task."
  on_dead = "fail"
  timeout = "35s"
  ${more}`;

describe('Claude Code, run by Baton', () => {
  it('is blocked more often than it allows by default, with its hooks disabled in its settings, over a restart of the daemon', async () => {
    const wait = sh('touch waits; while [ ! -e go ]; do sleep 0.05; done');
    const tries = Array.from({ length: 11 }, (_, i) => says(`Done ${i}.`));
    await using user = await openUser(claudeCase, []);
    const script = [sh(claudeCase.sabotage(user)), wait, ...tries, sh(COMPLETE), says('Now.')];
    await using other = await user.withModel(script);
    scene.write(agent('on_stop = { action = "signal", attempts = "forever" }'));
    const env = shellOf(claudeCase, other);
    await scene.start(env);
    const id = await scene.run('coder');
    await until(() => existsSync(join(scene.repository, 'waits')), 'it is at work', 30_000);
    await scene.stop();
    writeFileSync(join(scene.repository, 'go'), '');
    await until(() => other.model.asked.length > 6, 'it is blocked while the daemon is away', 30_000);
    await scene.start(env);
    expect(await scene.agent(id)).toMatchObject({ status: 'done', start: 1 });
    expect(other.model.asked).toHaveLength(script.length);
    expect(existsSync(join(scene.repository, 'sabotaged'))).toBe(false);
  });

  it('ends through the MCP tools instead of its shell', async () => {
    const signal = uses('mcp__baton__agent_signal', { kind: 'complete', message: 'by a tool' });
    await using user = await openUser(claudeCase, [says('Done.'), signal, says('Now.')]);
    scene.write(agent('on_stop = "signal"'));
    await scene.start(shellOf(claudeCase, user));
    expect((await scene.agent(await scene.run('coder'))).status).toBe('done');
    expect((await entryOf(scene, 'AgentSignalled')).data).toMatchObject({ kind: 'complete', message: 'by a tool' });
  });

  it('ends its session on a task through the MCP tools, without its shell', async () => {
    const exit = {
      protocol: 'apm2_agent_exit',
      version: '1.0.0',
      phase_completed: 'IMPLEMENTATION',
      exit_reason: 'completed',
    };
    const signal = uses('mcp__baton__exit_signal', exit);
    await using user = await openUser(claudeCase, [says('Done.'), signal, says('Now.')]);
    scene.write(`
      exit_protocol = true
      ${agent('requires = ["exit"]')}
      [workers.w]
      phases = ["IMPLEMENTATION"]
      run = { agent = "coder" }`);
    await scene.start(shellOf(claudeCase, user));
    await scene.ask('task_create', { task_id: 'T001', title: 'Say hello' });
    expect((await entryOf(scene, 'AgentExited')).data).toMatchObject({ code: 0, blocks_used: false });
    expect((await entryOf(scene, 'AgentSessionCompleted')).data).toMatchObject({ next_phase: 'CI_PENDING' });
    expect(user.model.asked).toHaveLength(3);
  });

  it('asks a person for permission, and continues with their decision', async () => {
    const write = uses('Write', { file_path: join(scene.repository, '.claude/settings.json'), content: '{}' });
    await using user = await openUser(claudeCase, [write, sh(COMPLETE), says('Now.')]);
    scene.write(agent('on_stop = "signal"'));
    await scene.start(shellOf(claudeCase, user));
    const id = await scene.run('coder');
    expect((await entryOf(scene, 'AgentPrompted')).data).toMatchObject({ prompt: expect.stringContaining('Write') });
    const { decision_id } = await scene.agent(id);
    const shown = await scene.ask<{ options: { n: number; action: string }[] }>('decision_show', { id: decision_id });
    const option = shown.options.find(({ action }) => action === 'approve')?.n;
    await scene.ask('decision_resolve', { id: decision_id, option, message: 'Yes, do.' });
    expect((await scene.agent(id)).status).toBe('done');
    expect(existsSync(join(scene.repository, '.claude/settings.json'))).toBe(true);
  });

  it('that meets an API error gets its kind from fields, not from text that resembles one', async () => {
    const looksLike = says('The server said 429 rate limit, 401 unauthorized.');
    await using user = await openUser(claudeCase, [looksLike, fails(403, 'permission_error', 'no 429 here')]);
    scene.write(agent('on_stop = "signal"\n  on_error = "escalate"'));
    await scene.start(shellOf(claudeCase, user));
    const id = await scene.run('coder');
    expect((await entryOf(scene, 'AgentErrored')).data).toMatchObject({ error: 'unauthorized', reset_at: null });
    expect((await scene.agent(id)).status).toBe('escalated');
    expect((await scene.types()).filter((type) => type === 'AgentErrored')).toHaveLength(1);
  });
});
