import { describe, expect, it } from 'vitest';
import { Scene, TOKEN } from '../../src/supervisor/scene.cases.ts';
import { says } from '../models/script.ts';
import { claudeCase } from './claude-under-test.ts';
import { textIn, type ClientCase } from './client.cases.ts';
import { codexCase } from './codex-under-test.ts';
import { blocks } from './door.ts';
import { geminiCase } from './gemini-under-test.ts';
import { answerMcp } from './mcp.ts';
import { environment, prepare } from './run-agent.ts';
import { openWorld, type World } from './world.ts';

/** The same request as `baton emit agent:signal`. */
const SIGNAL = `'${process.execPath}' -e 'fetch(process.env.BATON_URL + "/v1/agent_signal", { method: "POST", headers: {
  authorization: "Bearer " + process.env.BATON_TOKEN, "idempotency-key": "signal-1" }, body: JSON.stringify({ kind: "complete" }) })
  .then((answer) => answer.text()).then(console.log)'`;

describe.each([claudeCase, codexCase, geminiCase])('$run under a supervisor of Baton', (client) => {
  it('is blocked until it has signalled, and ends then; its tools answer through the supervisor', async () => {
    const script = [says('Done.'), ...client.callsTool, client.shell(SIGNAL), says('Now.')];
    await using world = await openWorld(client.startModel, script, blocks(0));
    client.setUp(world);
    await using scene = new Scene({ mcp: ({ input }) => JSON.parse(answerMcp('POST', input).body || '{}') as object });
    await scene.daemon.start();
    const supervised = await scene.start(launchOf(client, world, scene));
    expect(await supervised.exit()).toMatchObject({ code: 0, signal: null, timed_out: false, blocks_used: false });
    expect(textIn(world.model.asked[0])).toContain('Do the task.');
    expect(textIn(world.model.asked[1])).toContain(world.agentId);
    expect(textIn(world.model.asked.at(-1))).toContain('the brief of the task');
    expect(world.model.asked).toHaveLength(script.length);
    expect(scene.daemon.of('agent_signal')).toMatchObject([{ token: TOKEN, input: { kind: 'complete' } }]);
    expect(scene.daemon.reports('exited')).toHaveLength(1);
  });

  it('is blocked while the daemon is away, and its signal is kept', async () => {
    await using world = await openWorld(
      client.startModel,
      [says('Done.'), client.shell(SIGNAL), says('Now.')],
      blocks(0),
    );
    client.setUp(world);
    await using scene = new Scene();
    const supervised = await scene.start(launchOf(client, world, scene));
    expect(await supervised.exit()).toMatchObject({ code: 0, signal: null });
    expect(world.model.asked).toHaveLength(3);
    await scene.daemon.start();
    expect(scene.daemon.of('agent_signal')).toMatchObject([{ token: TOKEN, input: { kind: 'complete' } }]);
  });
});

function launchOf(client: ClientCase, world: World, scene: Scene) {
  const { BATON_URL: _, BATON_TOKEN: __, ...env } = environment(client, world, { prompt: '' });
  const parts = prepare(
    client,
    { ...world, stateDir: scene.stateDir },
    { prompt: 'Do the task.', plan: { model: client.model } },
    env,
  );
  // The supervisor ends a hanging agent before the test times out and leaves it running.
  const limits = { timeout_ms: 30_000, kill_after_ms: 1000 };
  return { ...parts, ...limits, id: world.agentId, cwd: world.project, env: { ...env, ...parts.env } };
}
