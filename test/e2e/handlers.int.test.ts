import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inLongLane } from '../lanes.ts';
import type { Entry } from '../../src/ledger/format/entry.ts';
import { PATIENCE_MS, RunWorld } from '../processes/run-world.ts';

/** Stops and waits for a message `count` times; after the last one it signals that it is done. */
const rounds = (count: number): string => `${'- stop\n- wait\n'.repeat(count)}- signal: complete\n- stop\n`;

const SCRIPTS = {
  'once.yaml': rounds(1),
  'twice.yaml': rounds(2),
  'ten-times.yaml': rounds(10),
  'waits.yaml': '- stop\n- wait\n',
  'says-nothing.yaml': '- hang\n',
  'signals.yaml': '- stop\n- signal: complete\n- stop\n',
  'crashes.yaml': '- run: echo $BATON_AGENT_ID >> lives.txt\n- crash: 3\n- signal: complete\n- stop\n',
  'crashes-always.yaml': 'steps: [crash: 3]\non_message: [crash: 4]\n',
  'fails.yaml': '- error: { kind: unauthorized, message: the key was revoked }\n- signal: complete\n- stop\n',
  'asks.yaml': '- ask: May I delete it?\n- signal: complete\n- stop\n',
};

const RUNBOOK = `
limits = { kill_after = "500ms", leave = "500ms", idle = "3s" }
[agents]
nudged = { run = "scripted twice.yaml", on_stop = "idle", on_idle = { action = "nudge", attempts = 3, cooldown = "1500ms", message = "for \${var.who}" } }
exhausted = { run = "scripted ten-times.yaml", on_stop = "idle", on_idle = { action = "nudge", attempts = 3 } }
forever = { run = "scripted ten-times.yaml", on_stop = "idle", on_idle = { action = "nudge", attempts = "forever" } }
quiet = { run = "scripted says-nothing.yaml", on_idle = "fail" }
gated = { run = "scripted waits.yaml", on_stop = "idle", on_idle = { action = "gate", run = "echo try >> tries.txt; test $(wc -l < tries.txt) -ge 3", attempts = 3 } }
shut = { run = "scripted waits.yaml", on_stop = "idle", on_idle = { action = "gate", run = "echo try >> shut.txt; echo not yet; exit 9", attempts = 2 } }
slow = { run = "scripted waits.yaml", on_stop = "idle", on_idle = { action = "gate", run = "echo $BATON_COMMAND_ID >> slow.txt; until test -e open; do sleep 0.1; done" } }
late = { run = "scripted waits.yaml", on_stop = "idle", on_idle = { action = "gate", run = "sleep 600", timeout = "500ms" } }
plain = { run = "scripted signals.yaml" }
resumed = { run = "scripted crashes.yaml", on_dead = { action = "resume", message = "You were interrupted" } }
hopeless = { run = "scripted crashes-always.yaml", on_dead = { action = "resume", attempts = 2 } }
buried = { run = "scripted crashes-always.yaml", on_dead = "done" }
dropped = { run = "scripted crashes-always.yaml", on_dead = "fail" }
judged = { run = "scripted crashes-always.yaml", on_dead = { action = "gate", run = "echo judged >> judged.txt" } }
limited = { run = "scripted limited.yaml" }
revoked = { run = "scripted fails.yaml", on_error = "fail" }
helped = { run = "scripted fails.yaml" }
asks = { run = "scripted asks.yaml" }
trusted = { run = "scripted asks.yaml", on_prompt = "done" }

[pipelines]
`;

const NAMES = [...RUNBOOK.matchAll(/^(\w+) = \{ run/gm)].map(([, name]) => name ?? '');
const PIPELINES = NAMES.map(
  (name) =>
    `in_${name} = { vars = { who = "all" }, steps = [{ name = "work", run = { agent = "${name}" } }, { name = "after", run = "echo ${name} >> after.txt" }] }\n`,
).join('');

let world: RunWorld;
beforeAll(async () => {
  world = await RunWorld.open({ runbook: RUNBOOK + PIPELINES, scripts: SCRIPTS });
});
afterAll(async () => world.leaveEmpty());

async function start(name: string): Promise<{ readonly id: string; readonly agentId: string }> {
  const id = await world.run(`in_${name}`);
  return { id, agentId: await world.agentIn(id, 'work') };
}

/** Ends the agent by a person's decision, so that it is not left running. */
async function giveUp({ id, agentId }: { readonly id: string; readonly agentId: string }): Promise<void> {
  await world.ask('pipeline_cancel', { id });
  await world.gone(agentId);
}

const advanced = (name: string): boolean => world.lines('after.txt').includes(name);
const triesOf = async (agentId: string): Promise<Entry[]> => world.entries(agentId, 'HandlerTried');
const between = (entries: readonly Entry[]): number =>
  Date.parse(entries[1]?.at ?? '') - Date.parse(entries[0]?.at ?? '');

describe('on_idle', { timeout: PATIENCE_MS * 2 }, () => {
  inLongLane(() => {
    it('waits for its cooldown before the second time, and then does act', async () => {
      const { id, agentId } = await start('nudged');
      expect(await world.pipeline(id)).toMatchObject({ status: 'done' });
      await world.gone(agentId);
      const tries = await triesOf(agentId);
      expect(tries).toMatchObject([{ data: { attempt: 1 } }, { data: { attempt: 2 } }]);
      expect(between(tries)).toBeGreaterThanOrEqual(1500);
      expect(await world.count(agentId, 'AgentIdle')).toBeGreaterThanOrEqual(2);
      expect(world.told(agentId).filter((text) => text === 'for all')).toHaveLength(2);
    });
  });

  inLongLane(() => {
    it('acts as often as attempts says, and then calls a person', async () => {
      const run = await start('exhausted');
      expect(await world.pipeline(run.id)).toMatchObject({ status: 'waiting', reason: 'on_idle: attempts used up' });
      expect(await triesOf(run.agentId)).toHaveLength(3);
      const decision = (await world.decisions()).find(({ agent_id }) => agent_id === run.agentId);
      expect(decision).toMatchObject({ source: 'idle', title: 'Pipeline needs attention: in_exhausted' });
      expect(decision?.context).toContain('on_idle = nudge was tried 3 times');
      await giveUp(run);
    });

    it('acts without a limit with "forever"', async () => {
      const { id, agentId } = await start('forever');
      expect(await world.pipeline(id)).toMatchObject({ status: 'done' });
      await world.gone(agentId);
      expect(await triesOf(agentId)).toHaveLength(10);
      expect(await world.count(agentId, 'DecisionOpened')).toBe(0);
    });
  });

  it('fires for an agent without output for as long as limits.idle', async () => {
    const { id, agentId } = await start('quiet');
    expect(await world.pipeline(id)).toMatchObject({ status: 'failed' });
    expect((await world.entries(agentId, 'AgentIdle'))[0]?.data).toMatchObject({ why: 'quiet' });
    await world.gone(agentId);
    await world.untilNobodyIs(agentId);
  });
});

describe('a gate', { timeout: PATIENCE_MS * 2 }, () => {
  it('that fails is retried as often as attempts allows; once it passes, the step is done', async () => {
    const { id, agentId } = await start('gated');
    expect(await world.pipeline(id)).toMatchObject({ status: 'done' });
    expect(world.lines('tries.txt')).toHaveLength(3);
    expect(await triesOf(agentId)).toHaveLength(3);
    expect(advanced('gated')).toBe(true);
    await world.gone(agentId);
  });

  inLongLane(() => {
    it('that never passes calls a person, who sees its output', async () => {
      const run = await start('shut');
      expect(await world.pipeline(run.id)).toMatchObject({ status: 'waiting', reason: 'on_idle: attempts used up' });
      expect(world.lines('shut.txt')).toHaveLength(2);
      const decision = (await world.decisions()).find(({ agent_id }) => agent_id === run.agentId);
      expect(decision).toMatchObject({ source: 'gate' });
      expect(decision?.context).toContain('not yet');
      expect(advanced('shut')).toBe(false);
      await giveUp(run);
    });
  });

  inLongLane(() => {
    it('that takes long delays nothing else', async () => {
      const slow = await start('slow');
      await world.until('the gate runs', () => world.lines('slow.txt').length === 1);
      const other = await start('plain');
      expect(await world.pipeline(other.id)).toMatchObject({ status: 'done' });
      await world.gone(other.agentId);
      expect(await world.ask('pipeline_show', { id: slow.id })).toMatchObject({ status: 'running' });
      writeFileSync(join(world.repository, 'open'), '');
      expect(await world.pipeline(slow.id)).toMatchObject({ status: 'done' });
      expect(world.lines('slow.txt')).toHaveLength(1);
      await world.gone(slow.agentId);
    });
  });

  inLongLane(() => {
    it('has its own time limit', async () => {
      const run = await start('late');
      expect(await world.pipeline(run.id)).toMatchObject({ status: 'waiting', reason: 'on_idle: attempts used up' });
      await giveUp(run);
    });
  });
});

describe('on_dead', { timeout: PATIENCE_MS * 2 }, () => {
  it('resumes the conversation in a new process', async () => {
    const { id, agentId } = await start('resumed');
    expect(await world.pipeline(id)).toMatchObject({ status: 'done' });
    expect(await world.gone(agentId)).toMatchObject({ start: 2, exit: { code: 0 } });
    expect(world.told(agentId)).toEqual(['You were interrupted']);
    expect(world.lines('lives.txt')).toEqual([agentId]);
  });

  inLongLane(() => {
    it('calls a person when the limit of resumes is reached', async () => {
      const run = await start('hopeless');
      expect(await world.pipeline(run.id)).toMatchObject({ status: 'waiting', reason: 'on_dead: attempts used up' });
      expect(await world.agent(run.agentId)).toMatchObject({ start: 3, exit: { code: 4 } });
      await giveUp(run);
    });
  });

  it.each([
    ['buried', 'done'],
    ['dropped', 'failed'],
    ['judged', 'done'],
  ])('%s: the step is %s', async (name, status) => {
    const { id, agentId } = await start(name);
    expect(await world.pipeline(id)).toMatchObject({ status });
    expect(advanced(name)).toBe(status === 'done');
    expect(await world.gone(agentId)).toMatchObject({ exit: { code: 3 } });
  });
});

describe('on_error', { timeout: PATIENCE_MS * 2 }, () => {
  it('waits for the end of a rate limit, and continues the agent', async () => {
    const reset = new Date(Date.now() + 8000).toISOString();
    world.world.write(world.repository, {
      'limited.yaml': `- error: { kind: rate_limited, message: slow down, reset_at: "${reset}" }\n- signal: complete\n- stop\n`,
    });
    const { id, agentId } = await start('limited');
    expect(await world.pipeline(id)).toMatchObject({ status: 'done' });
    await world.gone(agentId);
    expect(await triesOf(agentId)).toMatchObject([{ data: { handler: 'on_error', action: 'wait' } }]);
    // Meanwhile it was quiet for longer than `limits.idle`, because of the test.
    expect(await world.count(agentId, 'AgentIdle')).toBeGreaterThan(0);
    const [signalled] = await world.entries(agentId, 'AgentSignalled');
    expect(Date.parse(signalled?.at ?? '')).toBeGreaterThanOrEqual(Date.parse(reset));
  });

  inLongLane(() => {
    it('fails the step if the runbook sets that', async () => {
      const { id, agentId } = await start('revoked');
      expect(await world.pipeline(id)).toMatchObject({ status: 'failed' });
      await world.gone(agentId);
      await world.untilNobodyIs(agentId);
    });
  });

  it('calls a person by default, whose answer continues the agent', async () => {
    const { id, agentId } = await start('helped');
    const waiting = await world.pipeline(id);
    expect(waiting).toMatchObject({ status: 'waiting', reason: 'on_error: escalate' });
    expect((await world.entries(agentId, 'AgentErrored'))[0]?.data).toMatchObject({ error: 'unauthorized' });
    await world.resolve(waiting.decision_id, 'resume');
    expect(await world.pipeline(id)).toMatchObject({ status: 'done' });
    await world.gone(agentId);
  });
});

describe('on_prompt', { timeout: PATIENCE_MS * 2 }, () => {
  it('calls a person by default, who approves', async () => {
    const { id, agentId } = await start('asks');
    const waiting = await world.pipeline(id);
    expect(waiting).toMatchObject({ status: 'waiting', reason: 'on_prompt: escalate' });
    const decision = (await world.decisions()).find(({ agent_id }) => agent_id === agentId);
    expect(decision?.context).toContain('May I delete it?');
    await world.resolve(waiting.decision_id, 'approve');
    expect(await world.pipeline(id)).toMatchObject({ status: 'done' });
    expect(world.told(agentId)).toEqual(['Approved. Continue.']);
    await world.gone(agentId);
  });

  inLongLane(() => {
    it('takes the step as done if the runbook sets that', async () => {
      const { id, agentId } = await start('trusted');
      expect(await world.pipeline(id)).toMatchObject({ status: 'done' });
      await world.gone(agentId);
      expect(advanced('trusted')).toBe(true);
    });
  });
});
