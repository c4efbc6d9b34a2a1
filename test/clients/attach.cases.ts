import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunScene, untilNobodyIs } from '../../src/daemon/runs.cases.ts';
import { until } from '../../src/daemon/running.cases.ts';
import { Terminal } from '../processes/terminal.ts';
import type { Turn } from '../models/script.ts';
import { says } from '../models/script.ts';
import { textIn, type ClientCase } from './client.cases.ts';
import { Person } from './person.ts';
import { CLIENTS } from './run-agent.ts';
import { COMPLETE, openUser } from './with-daemon.ts';
import type { World } from './world.ts';
import { BATON } from '../package/where.ts';

/** The differences between clients when a user attaches to an agent's conversation. */
export interface AttachCase {
  readonly client: ClientCase;
  /** A login that also works in a terminal. */
  readonly env: (world: World) => Readonly<Record<string, string>>;
  /** The client's first questions, already answered. */
  readonly setUp: (world: World, repository: string) => void;
  /** The screen when the client waits for input. */
  readonly ready: RegExp;
  readonly leave: string;
  /** The end of the output when the exit command works; absent if it always does. */
  readonly idle?: RegExp;
  /**
   * Possible output tokens on record when the user leaves, because a client may not have counted an interrupted answer.
   */
  readonly usedOutput: readonly number[];
}

const BUSY = 'touch waits; while [ ! -e go ]; do sleep 0.05; done';
const PATIENCE_MS = 60_000;

export function describeAttach({ client, env, setUp, ready, leave, idle, usedOutput }: AttachCase): void {
  let scene: RunScene;
  beforeEach(() => {
    scene = new RunScene();
  });
  afterEach(async () => scene.end());

  const shell = (world: World): Record<string, string> => ({
    HOME: world.home,
    PATH: [CLIENTS, dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter),
    TMPDIR: world.temporary,
    LANG: 'C.UTF-8',
    ...env(world),
  });

  /** Starts an agent of a pipeline, and waits until its first turn is running. */
  const atWork = async (
    user: World,
    isBusy = (): boolean => existsSync(join(scene.repository, 'waits')),
  ): Promise<{ readonly pipeline: string; readonly id: string }> => {
    setUp(user, scene.repository);
    scene.write(`
      [agents.coder]
      run = "${client.run}"
      model = "${client.model}"
      prompt = "Do the task."
      on_stop = { action = "signal", attempts = "forever" }
      on_dead = "fail"
      [pipelines.work]
      steps = [{ name = "code", run = { agent = "coder" } }, { name = "after", run = "touch after" }]`);
    // The daemon was started by a build server; the user's terminal is a different one.
    await scene.start({ ...shell(user), CI: 'true' });
    const pipeline = await scene.run('work');
    await until(isBusy, 'it is at work', PATIENCE_MS);
    return { pipeline, id: await scene.agentIn(pipeline, 'code') };
  };

  const open = (user: World, id: string): Terminal =>
    new Terminal([process.execPath, BATON, 'agent', 'attach', id], {
      cwd: scene.repository,
      env: { ...shell(user), BATON_STATE_DIR: scene.stateDir },
      columns: 120,
      rows: 40,
    });

  describe(`${client.run}: a person in front of an agent`, () => {
    it('continues its conversation and leaves, and the pipeline continues', async () => {
      const script: Turn[] = [
        says('I begin.'),
        client.shell(BUSY),
        says('As you wish.'),
        client.shell(COMPLETE),
        says('Now.'),
      ];
      await using user = await openUser(client, script);
      const { pipeline, id } = await atWork(user);
      const settings = client.settings(user);
      await using terminal = open(user, id);
      using ada = new Person(terminal, user.model);
      // The earlier conversation is on the screen: a client may wait for input before it has loaded all of it.
      await ada.sees(/Ibegin/);
      await ada.sees(ready);
      // The interrupted turn has sent no further requests.
      expect(turns(user)).toHaveLength(2);
      await ada.asks('Take the other road.');
      await ada.sees(/Asyouwish/);
      // Baton's tools are available: listed, or found by search.
      expect(turns(user)[2]?.tools).toContain(client.run === 'codex' ? 'tool_search' : client.toolName);
      expect(await scene.ask('agent_show', { id })).toMatchObject({ status: 'attached', start: 2 });
      await ada.leaves(leave, idle);
      expect(client.settings(user)).toBe(settings);
      expect(await terminal.exit()).toBe(0);
      expect(await scene.pipeline(pipeline, PATIENCE_MS)).toMatchObject({ status: 'done' });
      const heard = turns(user).map((asked) => textIn(asked));
      // The conversation is the same in the user's terminal and afterwards.
      for (const words of ['Do the task.', 'I begin.', 'Take the other road.']) expect(heard[2]).toContain(words);
      for (const words of ['Do the task.', 'As you wish.', 'has left']) expect(heard[3]).toContain(words);
      const told = await scene.entries();
      const ofAttach = told
        .filter(({ type }) => /^Agent(?:Attach|Detach)/.test(type))
        .map(({ type, data }) => [type, data]);
      expect(ofAttach).toMatchObject([
        ['AgentAttachRequested', { start: 2 }],
        ['AgentAttached', { by: expect.stringContaining('/dev/pts/') }],
        ['AgentDetached', { how: 'left', talked: true }],
      ]);
      // Usage in the terminal was counted too.
      const left = told.findIndex(({ type }) => type === 'AgentDetached');
      const used = told.slice(0, left).findLast(({ type }) => type === 'SessionUsed');
      expect(used?.data).toMatchObject({ waiting_tokens: 0 });
      expect(usedOutput).toContain(used?.data['output_tokens']);
      expect(told.filter(({ type }) => type === 'HandlerTried')).toEqual([]);
      await untilNobodyIs(id);
    }, 240_000);

    it('starts with its prompt if the model had not answered yet, and later messages continue the conversation', async () => {
      const script: Turn[] = [{ kind: 'silence' }, says('Hello to you.'), client.shell(COMPLETE), says('Now.')];
      await using user = await openUser(client, script);
      const { pipeline, id } = await atWork(user, () => turns(user).length > 0);
      await using terminal = open(user, id);
      using ada = new Person(terminal, user.model);
      await ada.sees(/Hellotoyou/);
      expect(textIn(turns(user)[1])).toContain('Do the task.');
      await ada.leaves(leave, idle);
      expect(await scene.pipeline(pipeline, PATIENCE_MS)).toMatchObject({ status: 'done' });
      for (const words of ['Do the task.', 'Hello to you.', 'has left'])
        expect(textIn(turns(user)[2])).toContain(words);
    }, 240_000);

    it('loses nothing by closing the terminal in the middle of a turn: the pipeline continues', async () => {
      const script: Turn[] = [
        says('I begin.'),
        client.shell(BUSY),
        client.shell('touch with-ada; while [ ! -e go ]; do sleep 0.05; done'),
        client.shell(COMPLETE),
        says('Now.'),
      ];
      await using user = await openUser(client, script);
      const { pipeline, id } = await atWork(user);
      await using terminal = open(user, id);
      using ada = new Person(terminal, user.model);
      await ada.sees(/Ibegin/);
      await ada.sees(ready);
      await ada.asks('Take the other road.');
      await until(() => existsSync(join(scene.repository, 'with-ada')), 'it works with her', PATIENCE_MS);
      terminal.hangUp();
      expect(await scene.pipeline(pipeline, PATIENCE_MS)).toMatchObject({ status: 'done' });
      const after = textIn(turns(user)[3]);
      for (const words of ['Do the task.', 'Take the other road.', 'has left']) expect(after).toContain(words);
      const detached = (await scene.entries()).find(({ type }) => type === 'AgentDetached');
      expect(detached?.data).toMatchObject({ how: expect.stringMatching(/^(?:lost|left)$/) });
      expect(existsSync(join(scene.repository, 'after'))).toBe(true);
      await untilNobodyIs(id);
    }, 240_000);
  });
}

/** The turns of the conversation: clients also send other requests, for a title or a summary. */
function turns({ model }: World) {
  return model.asked.filter(({ tools }) => tools.length > 1);
}
