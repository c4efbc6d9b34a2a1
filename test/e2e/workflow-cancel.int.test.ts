import { existsSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { until } from '../../src/daemon/running.cases.ts';
import { exitSignal } from '../processes/messages.ts';
import { WorkflowScene } from '../processes/workflow-scene.ts';

const HANDOFF = "handOn('prep-agent', 'Written.', {}, false)";

let scene: WorkflowScene;
beforeEach(async () => {
  scene = new WorkflowScene((toml) =>
    toml.replace('exit_protocol = true\n', '').replace('run = "scripted agents/implementer.yaml"', 'run = "sleep 60"'),
  );
  // The issue-manager sends its handoff by a command, and prints its exit signal.
  scene.edit('agents/hand-on.mjs', (text) =>
    text
      .replace('summary, values)', 'summary, values, exits = true)')
      .replace("  baton('emit', 'exit'", "  if (exits) baton('emit', 'exit'"),
  );
  scene.edit('agents/play.mjs', (text) =>
    text.replace("const [role = '']", `roles.written = () => ${HANDOFF};\nconst [role = '']`),
  );
  const exit = JSON.stringify(JSON.stringify(exitSignal('DRAFT')));
  scene.put('agents/issue-manager.yaml', `- run: node agents/play.mjs written\n- say: ${exit}\n- stop\n`);
  scene.git('add', '--all');
  scene.git('commit', '--quiet', '--message', 'agents of this test');
  await scene.start({ AGENT_EXIT_PROTOCOL_ENABLED: 'false' });
});
afterEach(async () => scene.end());

it(
  'its sessions end by exit signals although the flag is off; if cancelled, nothing of it is left',
  { timeout: 60_000 },
  async () => {
    const id = await scene.run('issue', 'Add a thing');
    const agents = async () =>
      (
        await scene.ask<{ agents: { id: string; name: string; process: string; outcome: string | null }[] }>(
          'agent_list',
          { all: true },
        )
      ).agents;
    const implementer = async () => (await agents()).find(({ name }) => name === 'implementer');
    await until(async () => (await implementer())?.process === 'running', 'the implementer runs', 40_000);
    const exits = (await scene.story(id)).filter(({ type }) => type === 'AgentSessionCompleted');
    expect(exits.map(({ data }) => data['exit_reason'])).toEqual(['completed', 'completed']);

    // Another task, claimed by hand, follows the flag.
    await scene.ask('task_create', { task_id: 'A', title: 'by hand' });
    const { token } = await scene.ask<{ token: string }>('task_claim', { task_id: 'A', as: 'ada' });
    const refused = await scene.call('exit_signal', exitSignal('IMPLEMENTATION'), token);
    expect(refused).toMatchObject({ ok: false, error: { code: 'exit-protocol-disabled' } });

    const { workspace, branch } = (await scene.standing(id)).view;
    expect(existsSync(workspace ?? '')).toBe(true);
    await scene.ask('task_cancel', { task_id: id, reason: 'not wanted' });
    const cleared = async () => (await scene.story(id)).find(({ type }) => type === 'PlaceCleared');
    await until(async () => (await cleared()) !== undefined, 'its place is cleared', 20_000);
    expect((await cleared())?.data).toMatchObject({ branch, outcome: 'removed', reason: null });
    expect(existsSync(workspace ?? '')).toBe(false);
    expect(scene.git('branch', '--list', branch ?? '')).toBe('');
    expect(await implementer()).toMatchObject({ process: 'gone', outcome: 'cancelled' });
    expect(await scene.ask('task_get', { task_id: id })).toMatchObject({ status: 'cancelled', claim: null });
    expect(await scene.ask('status_get')).toMatchObject({ needs_you: [], tasks: { cancelled: 1 } });
  },
);
