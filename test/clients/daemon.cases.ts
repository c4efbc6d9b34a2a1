import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunScene } from '../../src/daemon/runs.cases.ts';
import { until } from '../../src/daemon/running.cases.ts';
import { says } from '../models/script.ts';
import { textIn, unless, type ClientCase } from './client.cases.ts';
import { COMPLETE, entryOf, EXIT, openUser, shellOf } from './with-daemon.ts';
import type { World } from './world.ts';

let scene: RunScene;

/** Opens one scene per file. */
function openScenes(): void {
  beforeEach(() => {
    scene = new RunScene();
  });
  afterEach(async () => scene.end());
}

/** The agent. A client gets its API's variables by default; another command needs them in `env_pass`. */
type Agent = Pick<ClientCase, 'run' | 'model'> & { readonly envPass?: readonly string[] };

function agentOf({ run, model, envPass }: Agent, user: World, more = ''): string {
  const own = `env_pass = ${JSON.stringify(envPass)}\n    network = { local = [${new URL(user.model.url).port}] }`;
  return `
    [agents.coder]
    run = "${run}"
    model = "${model}"
    prompt = "Do the task."
    requires = ["exit"]
    on_dead = "fail"
    timeout = "35s"
    ${envPass === undefined ? '' : own}
    ${more}`;
}

/** Works until the test creates the file `go`. */
const WAIT = 'touch waits; while [ ! -e go ]; do sleep 0.05; done';

/** Runs the agent, sends it a message while it works, and lets it continue. Returns its id. */
async function runAndTell(text: string): Promise<string> {
  const id = await scene.run('coder');
  await until(() => existsSync(join(scene.repository, 'waits')), 'it is at work', 30_000);
  await scene.ask('agent_send', { id, text });
  await until(async () => (await scene.types()).includes('MessageDelivered'), 'it was told');
  writeFileSync(join(scene.repository, 'go'), '');
  return id;
}

/** A client, or any other command, whose usage is unknown. */
type RunCase = Pick<
  ClientCase,
  'run' | 'model' | 'startModel' | 'env' | 'shell' | 'setUp' | 'conversation' | 'reportedModel' | 'cannot'
> & { readonly usage: ClientCase['usage'] | null; readonly envPass?: readonly string[] };

export function describeRuns(clients: readonly RunCase[]): void {
  openScenes();
  describe.each(clients)('$run, run by Baton', (client) => {
    const agent = (user: World, more?: string): string => agentOf(client, user, more);

    it('works on a task: is blocked with the reason, signals through its shell, exits, and is recorded', async () => {
      await using user = await openUser(client, [says('Done.'), client.shell(EXIT('IMPLEMENTATION')), says('Now.')]);
      scene.write(`
      exit_protocol = true
      ${agent(user)}
      [workers.w]
      phases = ["IMPLEMENTATION"]
      run = { agent = "coder" }`);
      await scene.start(shellOf(client, user));
      await scene.ask('task_create', { task_id: 'T001', title: 'Say hello' });
      const { data } = await entryOf(scene, 'AgentExited');
      expect(data).toMatchObject({ code: 0, blocks_used: false });
      expect(textIn(user.model.asked[0])).toContain('Do the task.');
      expect(textIn(user.model.asked[1])).toContain('You must explicitly signal completion');
      expect((await entryOf(scene, 'AgentSessionCompleted')).data).toMatchObject({
        exit_reason: 'completed',
        next_phase: 'CI_PENDING',
      });
      const used = (await scene.entries()).findLast(({ type }) => type === 'SessionUsed')?.data;
      const shown = await scene.agent(String(data['agent_id']));
      expect(shown).toMatchObject({ status: 'done', usage: used === undefined ? null : { turns: used['turns'] } });
      // The usage of any other command is unknown.
      const { input = 0 } = client.usage ?? {};
      const said = expect.objectContaining({
        model: expect.stringMatching(client.reportedModel ?? new RegExp(`^${client.model}$`)),
        waiting_tokens: 0,
      });
      expect(used).toEqual(client.usage === null ? undefined : said);
      const named = unless(client, 'resume') === '' ? (client.conversation ?? /^[\w-]{36}$/) : /^null$/;
      expect(String(used?.['conversation_id'])).toMatch(client.usage === null ? 'undefined' : named);
      const requests = unless(client, 'wholeTurns') === '' ? 3 : 2;
      const isCounted =
        Number(used?.['output_tokens']) >= 7 * requests && Number(used?.['input_tokens']) >= input * requests;
      expect(isCounted).toBe(client.usage !== null);
      expect((await scene.types()).filter((type) => type === 'AgentExited')).toHaveLength(1);
    });

    it('receives messages while it works', async () => {
      const wait = client.shell(WAIT);
      await using user = await openUser(client, [wait, says('Done.'), client.shell(COMPLETE), says('Now.')]);
      scene.write(agent(user, 'on_stop = "signal"'));
      await scene.start(shellOf(client, user));
      const id = await runAndTell('Mind the gap.');
      expect((await scene.agent(id)).status).toBe('done');
      const heard = user.model.asked.map(textIn).find((text) => text.includes('Mind the gap.'));
      expect(heard).toContain('Do the task.');
      expect((await scene.entries()).find(({ type }) => type === 'MessageDelivered')?.data).toMatchObject({ ok: true });
    });

    it('completes the step of its pipeline when it has signalled, and not before', async () => {
      const look = client.shell('test ! -e after && touch looked');
      await using user = await openUser(client, [says('Done.'), look, client.shell(COMPLETE), says('Now.')]);
      scene.write(`${agent(user, 'on_stop = "signal"')}
      [pipelines.p]
      steps = [{ name = "work", run = { agent = "coder" }, on_done = "next" }, { name = "next", run = "touch after" }]`);
      await scene.start(shellOf(client, user));
      const shown = await scene.pipeline(await scene.run('p'), 35_000);
      expect(shown).toMatchObject({ status: 'done', steps: [{ name: 'work' }, { name: 'next', status: 'done' }] });
      expect(['looked', 'after'].map((file) => existsSync(join(scene.repository, file)))).toEqual([true, true]);
      expect(textIn(user.model.asked[1])).toContain('You must explicitly signal completion');
    });

    it("continues its conversation after a person's answer, in a new process", async () => {
      const script = [says('I am stuck.'), says('I wait.'), client.shell(COMPLETE), says('Now.')];
      await using user = await openUser(client, script);
      scene.write(agent(user, 'on_stop = "escalate"'));
      await scene.start(shellOf(client, user));
      const id = await scene.run('coder');
      const { decision_id } = await scene.agent(id);
      await until(
        async () => (await scene.ask('agent_show', { id })).process === 'gone',
        'its process has gone',
        30_000,
      );
      expect(user.model.asked).toHaveLength(2);
      await scene.ask('decision_resolve', { id: decision_id, option: 1, message: 'Take the other road.' });
      expect(await scene.agent(id)).toMatchObject({ status: 'done', start: 2 });
      const last = textIn(user.model.asked[2]);
      expect(last).toContain('Do the task.');
      expect(last.includes('I am stuck.')).toBe(unless(client, 'resume') === '');
      expect(last).toContain('Take the other road.');
      // The model received no request while the agent waited: the usage is that of four turns, none for waiting.
      const used = (await scene.entries()).findLast(({ type }) => type === 'SessionUsed')?.data;
      expect(used?.['waiting_tokens']).toBe(client.usage === null ? undefined : 0);
      expect(user.model.asked).toHaveLength(4);
    });
  });
}

export function describeFailures(clients: readonly ClientCase[]): void {
  describe.each(clients)('$run, whose API fails', (client) => {
    const agent = (user: World, more?: string): string => agentOf(client, user, more);

    it.skipIf(unless(client, 'errorKinds') !== '')(
      `hears once, after a resume, what it was told before it failed${unless(client, 'errorKinds')}`,
      async () => {
        const wait = client.shell(WAIT);
        const script = [says('The first words.'), wait, client.unauthorized, client.shell(COMPLETE), says('Now.')];
        await using user = await openUser(client, script);
        scene.write(agent(user, 'on_stop = "signal"\n    on_error = "escalate"'));
        await scene.start(shellOf(client, user));
        const id = await runAndTell('Mind the gap.');
        await entryOf(scene, 'AgentErrored');
        const { decision_id } = await scene.agent(id);
        await scene.ask('decision_resolve', { id: decision_id, option: 1, message: 'Go on, please.' });
        expect(await scene.agent(id, 30_000)).toMatchObject({ status: 'done' });
        const last = textIn(user.model.asked.at(-1));
        for (const text of ['Do the task.', 'Go on, please.']) expect(last).toContain(text);
        expect(last.includes('The first words.')).toBe(unless(client, 'resume') === '');
        expect(last.split('Mind the gap.')).toHaveLength(2);
      },
    );

    it.skipIf(unless(client, 'limits') !== '')(
      `that is told to wait by its API waits until the limit ends, and goes on${unless(client, 'limits')}`,
      async () => {
        const reset = Math.ceil(Date.now() / 1000) + 6;
        await using user = await openUser(client, [client.rateLimited(reset), client.shell(COMPLETE), says('Now.')]);
        scene.write(agent(user, 'on_error = "wait"'));
        await scene.start(shellOf(client, user));
        const id = await scene.run('coder');
        const { data } = await entryOf(scene, 'AgentErrored');
        expect(data).toMatchObject({ error: 'rate_limited' });
        // Gemini CLI receives the length of the wait instead of its end, and reports it late.
        const toleranceMs = client.run === 'gemini' ? 30_000 : 0;
        expect(Math.abs(Date.parse(String(data['reset_at'])) - reset * 1000)).toBeLessThanOrEqual(toleranceMs);
        expect((await scene.agent(id, 39_000)).status).toBe('done');
        expect((await scene.types()).filter((type) => type === 'AgentErrored')).toHaveLength(1);
      },
    );
  });
}
