import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inLongLane, someOf } from '../lanes.ts';
import { PATIENCE_MS, RunWorld } from '../processes/run-world.ts';

const IDLE = 'Stop hook: on_idle handler invoked. Continue working or signal completion.';
const ESCALATE = 'A human has been notified. Wait for instructions or signal completion.';
const ATTENTION = 'Agent tried to stop without signaling completion';

function mustSignal(agentId: string): string {
  return `You must explicitly signal completion before stopping. Run: baton emit agent:signal --agent ${agentId} '<json>'
where <json> is {"kind":"complete","message":"…"} when the work is done, {"kind":"escalate","message":"…"} when a person is needed, or {"kind":"continue"} while you are still working.`;
}

/** The agents' scripts; every `stop` asks the hook. */
const SCRIPTS = {
  'signals.yaml': '- stop\n- signal: { kind: complete, message: all done }\n- stop\n',
  'signals-first.yaml': '- signal: complete\n- stop\n',
  'stops-twice.yaml': '- stop\n- stop\n',
  'stops-thrice.yaml': '- stop\n- stop\n- stop\n',
  'stops-12-times.yaml': `${'- stop\n'.repeat(12)}- signal: complete\n- stop\n`,
  'goes-on.yaml': '- stop\n- wait\n- run: echo nudged >> nudged.txt\n- signal: complete\n',
  'rests.yaml': 'steps: [stop, stop]\non_message: [run: echo woken >> woken.txt, signal: complete]\n',
  'goes-round.yaml': '- stop\n- wait\n- stop\n- wait\n- stop\n- stop\n',
  'shouts.yaml': '- run: baton emit agent:stop\n- run: baton emit agent:stop\n- stop\n- stop\n- stop\n',
  'works.yaml': '- stop\n- stop\n- run: "true"\n- stop\n- stop\n- stop\n',
  'asks.yaml': '- signal: { kind: escalate, message: Which one? }\n- stop\n- stop\n',
  'still-working.yaml': '- signal: continue\n- stop\n- signal: complete\n- stop\n',
};

const agents = (scripted: string): string => `
limits = { kill_after = "500ms" }
[agents]
by_default = { run = "${scripted} signals.yaml" }
signal = { run = "${scripted} signals.yaml", on_stop = "signal" }
idle_done = { run = "${scripted} stops-twice.yaml", on_stop = { action = "idle", attempts = "forever" }, on_idle = "done" }
idle_nudge = { run = "${scripted} goes-on.yaml", on_stop = "idle", on_idle = { action = "nudge", message = "There is more to do" } }
escalate = { run = "${scripted} rests.yaml", on_stop = { action = "escalate" } }
alone = { run = "${scripted} rests.yaml" }
round = { run = "${scripted} goes-round.yaml", on_stop = "idle", on_idle = { action = "nudge", message = "Once more", attempts = 2 } }
shouts = { run = "${scripted} shouts.yaml", on_stop = { action = "escalate", attempts = "forever" } }
first_signal = { run = "${scripted} signals-first.yaml", on_stop = "signal" }
first_idle = { run = "${scripted} signals-first.yaml", on_stop = "idle" }
first_escalate = { run = "${scripted} signals-first.yaml", on_stop = "escalate" }
flag = { run = "${scripted} stops-twice.yaml", on_stop = "signal" }
count = { run = "${scripted} stops-thrice.yaml", on_stop = { action = "signal", attempts = 2 } }
works = { run = "${scripted} works.yaml", on_stop = { action = "signal", attempts = 2 } }
forever = { run = "${scripted} stops-12-times.yaml", on_stop = { action = "signal", attempts = "forever" }, env = { CLAUDE_CODE_STOP_HOOK_BLOCK_CAP = "0" } }
asks = { run = "${scripted} asks.yaml" }
still_working = { run = "${scripted} still-working.yaml" }

[pipelines]
`;

const NAMES = [...agents('scripted').matchAll(/^(\w+) = \{ run/gm)].map(([, name]) => name ?? '');
const pipelines = NAMES.map(
  (name) =>
    `in_${name} = { steps = [{ name = "work", run = { agent = "${name}" } }, { name = "after", run = "echo ${name} >> after.txt" }] }\n`,
).join('');

describe.each([
  ['over HTTP', 'scripted'],
  ['as a command', 'scripted --command-hook'],
])(
  'the stop hook %s',
  (_, scripted) => {
    let world: RunWorld;
    beforeAll(async () => {
      world = await RunWorld.open({ runbook: agents(scripted) + pipelines, scripts: SCRIPTS });
    });
    afterAll(async () => world.leaveEmpty());

    /** Starts the agent in a pipeline with a following step. */
    async function start(name: string): Promise<{ readonly id: string; readonly agentId: string }> {
      const id = await world.run(`in_${name}`);
      return { id, agentId: await world.agentIn(id, 'work') };
    }

    /** How often the pipeline has continued after this agent. */
    const advanced = (name: string): number => world.lines('after.txt').filter((line) => line === name).length;

    it.each(
      someOf(
        [
          ['is the default in a pipeline', 'by_default'],
          ['is said in the runbook', 'signal'],
        ] as const,
        0,
      ),
    )('signal %s: the agent must signal before it may stop', async (__, name) => {
      const { id, agentId } = await start(name);
      expect(await world.pipeline(id)).toMatchObject({ status: 'done', steps: [{ output: 'all done' }, {}] });
      expect(await world.gone(agentId)).toMatchObject({ outcome: 'done', exit: { code: 0, blocks_used: false } });
      expect(world.blocks(agentId)).toEqual([mustSignal(agentId)]);
      const config: unknown = JSON.parse(
        readFileSync(join(world.world.stateDir, 'agents', agentId, 'config.json'), 'utf8'),
      );
      expect(config).toMatchObject({ on_stop: 'signal' });
      const settings = readFileSync(join(world.world.stateDir, 'agents', agentId, 'settings.json'), 'utf8');
      expect(settings.includes(`baton agent hook stop`)).toBe(scripted !== 'scripted');
      expect(advanced(name)).toBe(1);
    });

    inLongLane(() => {
      it('idle with on_idle = done: the pipeline continues, and the agent, without an owner, may exit', async () => {
        const { id, agentId } = await start('idle_done');
        expect(await world.pipeline(id)).toMatchObject({ status: 'done' });
        // The agent ended by itself: the second stop was allowed, although the limit of blocks was not reached.
        expect(await world.gone(agentId)).toMatchObject({ outcome: 'done', exit: { code: 0, signal: null } });
        expect(world.blocks(agentId)).toEqual([IDLE]);
        expect(await world.entries(agentId, 'AgentIdle')).toMatchObject([{ data: { why: 'stop' } }]);
        expect(advanced('idle_done')).toBe(1);
      });

      it('idle with on_idle = nudge: the agent gets a message, and continues', async () => {
        const { id, agentId } = await start('idle_nudge');
        expect(await world.pipeline(id)).toMatchObject({ status: 'done' });
        await world.gone(agentId);
        expect(world.told(agentId)).toEqual([`Stop hook feedback:\n${IDLE}`, 'There is more to do']);
        expect(world.lines('nudged.txt')).toEqual(['nudged']);
        expect(await world.decisions()).not.toContainEqual(expect.objectContaining({ agent_id: agentId }));
      });
    });

    it('escalate: a person is called, the step waits, the next stop is allowed, and the answer wakes the agent', async () => {
      const { id, agentId } = await start('escalate');
      const waiting = await world.pipeline(id);
      expect(waiting).toMatchObject({ status: 'waiting', reason: 'on_stop: escalate' });
      expect(await world.gone(agentId)).toMatchObject({ outcome: null, exit: { code: 0, blocks_used: false } });
      expect(world.blocks(agentId)).toEqual([ESCALATE]);
      await world.until(
        'the person is told',
        () => world.receiver.about('Pipeline needs attention: in_escalate').length > 0,
      );
      expect(world.receiver.about('Pipeline needs attention: in_escalate')).toEqual([
        `*Pipeline needs attention: in_escalate*\n${ATTENTION}`,
      ]);
      // The agent is parked, so its exit does not count as a death.
      expect(await world.entries(agentId, 'HandlerTried')).toEqual([]);
      expect(advanced('escalate')).toBe(0);
      await world.resolve(waiting.decision_id, 'nudge', 'Take the second one');
      expect(await world.pipeline(id)).toMatchObject({ status: 'done' });
      expect(world.told(agentId)).toContain('Take the second one');
      expect(world.lines('woken.txt')).toContain('woken');
      expect(advanced('escalate')).toBe(1);
      await world.gone(agentId);
    });

    inLongLane(() => {
      it('escalate is the default of a standalone run', async () => {
        const agentId = await world.run('alone');
        const escalated = await world.agent(agentId);
        expect(escalated).toMatchObject({ status: 'escalated' });
        expect((await world.entries(agentId, 'AgentParked'))[0]?.data).toMatchObject({ reason: 'on_stop: escalate' });
        await world.gone(agentId);
        expect(world.blocks(agentId)).toEqual([ESCALATE]);
        await world.until('the person is told', () => world.receiver.about('Agent needs attention: alone').length > 0);
        expect(world.receiver.about('Agent needs attention: alone')).toEqual([
          `*Agent needs attention: alone*\n${ATTENTION}`,
        ]);
        await world.resolve(escalated.decision_id, 'nudge');
        expect(await world.agent(agentId)).toMatchObject({ status: 'done' });
        await world.gone(agentId);
      });

      it('idle again and again: on_idle counts, and then calls a person', async () => {
        const { id, agentId } = await start('round');
        expect(await world.pipeline(id)).toMatchObject({ status: 'waiting', reason: 'on_idle: attempts used up' });
        await world.gone(agentId);
        const [idle, nudge] = [`Stop hook feedback:\n${IDLE}`, 'Once more'];
        expect(world.told(agentId)).toEqual([idle, nudge, idle, nudge, idle]);
        expect(await world.count(agentId, 'AgentIdle')).toBe(3);
        expect(await world.entries(agentId, 'HandlerTried')).toMatchObject([
          { data: { handler: 'on_idle', attempt: 1, action: 'nudge' } },
          { data: { handler: 'on_idle', attempt: 2, action: 'nudge' } },
        ]);
        await world.until(
          'the person is told',
          () => world.receiver.about('Pipeline needs attention: in_round').length > 0,
        );
        expect(world.receiver.about('Pipeline needs attention: in_round')).toHaveLength(1);
        expect(advanced('round')).toBe(0);
        await world.ask('pipeline_cancel', { id });
      });

      it('calls a person once, however often the hook fires', async () => {
        const { id, agentId } = await start('shouts');
        expect(await world.pipeline(id)).toMatchObject({ status: 'waiting', reason: 'on_stop: escalate' });
        await world.gone(agentId);
        expect(world.blocks(agentId)).toEqual([]);
        expect(await world.count(agentId, 'DecisionOpened')).toBe(1);
        expect(await world.count(agentId, 'AgentParked')).toBe(1);
        const standing = await world.run('shouts');
        expect(await world.agent(standing)).toMatchObject({ status: 'escalated' });
        await world.gone(standing);
        expect(await world.count(standing, 'DecisionOpened')).toBe(1);
        await world.until('both are told', () => world.receiver.about('Agent needs attention: shouts').length > 0);
        expect(world.receiver.about('Agent needs attention: shouts')).toHaveLength(1);
        expect(world.receiver.about('Pipeline needs attention: in_shouts')).toHaveLength(1);
        await world.ask('pipeline_cancel', { id });
        await world.ask('agent_kill', { id: standing });
      });

      it.each(['signal', 'idle', 'escalate'])('an agent that has signalled may stop, also with %s', async (action) => {
        const { id, agentId } = await start(`first_${action}`);
        expect(await world.pipeline(id)).toMatchObject({ status: 'done' });
        expect(await world.gone(agentId)).toMatchObject({ exit: { code: 0, blocks_used: false } });
        expect(world.told(agentId)).toEqual([]);
        const types = (await world.entries(agentId)).map(({ type }) => type);
        expect(types).not.toContain('AgentIdle');
        expect(types).not.toContain('AgentStop');
      });
    });

    it("the client's flag prevents loops: allowed to stop without a signal, the agent has died, and nothing continues", async () => {
      const { id, agentId } = await start('flag');
      expect(await world.pipeline(id)).toMatchObject({ status: 'waiting', reason: 'on_dead: escalate' });
      expect(world.blocks(agentId)).toEqual([mustSignal(agentId)]);
      expect(await world.gone(agentId)).toMatchObject({ outcome: null, exit: { code: 0, blocks_used: true } });
      expect(advanced('flag')).toBe(0);
      await world.ask('pipeline_cancel', { id });
    });

    inLongLane(() => {
      it.each([
        ['count', 2, 'as many blocks as attempts says, whatever the flag says'],
        ['works', 4, 'a tool call begins the count anew'],
      ])('%s: %i blocks: %s', async (name, blocks) => {
        const { id, agentId } = await start(name);
        expect(await world.pipeline(id)).toMatchObject({ status: 'waiting', reason: 'on_dead: escalate' });
        expect(await world.gone(agentId)).toMatchObject({ exit: { code: 0, blocks_used: true } });
        expect(world.blocks(agentId)).toEqual(Array.from({ length: blocks }, () => mustSignal(agentId)));
        expect(advanced(name)).toBe(0);
        await world.ask('pipeline_cancel', { id });
      });

      it('"forever" never allows the stop, and never calls a person', async () => {
        const { id, agentId } = await start('forever');
        expect(await world.pipeline(id)).toMatchObject({ status: 'done' });
        expect(await world.gone(agentId)).toMatchObject({ exit: { code: 0, blocks_used: false } });
        expect(world.blocks(agentId)).toHaveLength(12);
        expect(await world.count(agentId, 'DecisionOpened')).toBe(0);
      });

      it('escalate as a signal calls a person, and the agent may stop; continue does not allow the stop', async () => {
        const asking = await start('asks');
        const waiting = await world.pipeline(asking.id);
        expect(waiting).toMatchObject({ status: 'waiting', reason: 'agent:signal escalate' });
        await world.until(
          'the person is told',
          () => world.receiver.about('Pipeline needs attention: in_asks').length > 0,
        );
        expect(world.receiver.about('Pipeline needs attention: in_asks')[0]).toContain('Which one?');
        await world.gone(asking.agentId);
        expect(world.told(asking.agentId)).toEqual([]);
        await world.resolve(waiting.decision_id, 'done');
        expect(await world.pipeline(asking.id)).toMatchObject({ status: 'done' });
        const working = await start('still_working');
        expect(await world.pipeline(working.id)).toMatchObject({ status: 'done' });
        await world.gone(working.agentId);
        expect(world.blocks(working.agentId)).toEqual([mustSignal(working.agentId)]);
      });
    });
  },
  PATIENCE_MS * 2,
);

it('on_stop = "nudge" is refused, with the three that are allowed', async () => {
  await using world = await RunWorld.open({
    runbook: '[agents.a]\nrun = "scripted a.yaml"\non_stop = "nudge"\n',
    scripts: { 'a.yaml': '- stop\n' },
  });
  const checked = world.world.baton(['runbook', 'check']);
  expect(checked.code).toBe(1);
  expect(checked.out + checked.err).toContain('Invalid agents.a.on_stop: nudge (expected: signal, idle, escalate)');
  const ran = world.world.baton(['agent', 'run', 'a', '--detach']);
  expect(ran.code).not.toBe(0);
  expect(ran.err).toContain('(expected: signal, idle, escalate)');
  expect((await world.ask<{ agents: unknown[] }>('agent_list', { all: true })).agents).toEqual([]);
});
