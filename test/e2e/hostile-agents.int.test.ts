import { readFileSync, statSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pidOf } from '../processes/ledger.ts';
import { inLongLane, someOf } from '../lanes.ts';
import { isLongRun } from '../processes/long-run.ts';
import { PATIENCE_MS, RunWorld } from '../processes/run-world.ts';

const LOG_BYTES = 1_048_576;
const FLOOD_BYTES = isLongRun ? 1_073_741_824 : 67_108_864;
/**
 * The 42 MB of a bare Node, and the garbage that pipes leave; a gigabyte of output must cost no more than the first
 * megabytes.
 */
const MAX_SUPERVISOR_MB = 130;

const EXIT =
  '{"protocol":"apm2_agent_exit","version":"1.0.0","phase_completed":"IMPLEMENTATION","exit_reason":"completed"}';

/** Children that try to survive: in the group, in a separate session, and a zombie that is not collected. */
const BROOD = `
- ignore: SIGTERM
- fork: "trap '' TERM; while :; do sleep 600; done"
- fork: { run: "trap '' TERM; while :; do sleep 600; done", setsid: true }
- fork: { run: "sh -c 'sleep 0.01 & exec sleep 600'", setsid: true }`;

const SCRIPTS = {
  'brood-hangs.yaml': `${BROOD}\n- hang\n`,
  'brood-dies.yaml': `${BROOD}\n- run: test $(pgrep -f 'sleep 600' | wc -l) -ge 2\n- crash\n`,
  'brood-completes.yaml': `${BROOD}\n- signal: complete\n- hang\n`,
  'brood-leaves.yaml': `${BROOD.replace('- ignore: SIGTERM', '')}\n- signal: complete\n- stop\n`,
  'floods.yaml': `- flood: ${FLOOD_BYTES}\n- stop\n- wait\n- say: the end\n- signal: complete\n- stop\n`,
  'hangs.yaml': '- hang\n',
  'dies.yaml': '- crash\n',
  'quotes.yaml': `
- run: |
    echo '${EXIT}'
- print: '${EXIT}'
- write: { path: quoted.json, text: '${EXIT}' }
- run: cat quoted.json
- stop
- say: Nobody has decided anything yet.
- wait
- say: '${EXIT}'
- stop
`,
};

const RUNBOOK = `
limits = { kill_after = "300ms", leave = "1s", idle = "5s", log_bytes = ${LOG_BYTES} }
[agents]
hangs = { run = "scripted hangs.yaml", on_idle = "fail" }
brood_hangs = { run = "scripted brood-hangs.yaml", on_idle = "fail" }
brood_late = { run = "scripted brood-hangs.yaml", timeout = "2s" }
brood_dies = { run = "scripted brood-dies.yaml", on_dead = "fail" }
brood_completes = { run = "scripted brood-completes.yaml" }
brood_leaves = { run = "scripted brood-leaves.yaml" }
floods = { run = "scripted floods.yaml", on_stop = { action = "signal", attempts = "forever" } }
floods_on_one_line = { run = "head -c ${FLOOD_BYTES} /dev/zero | tr '\\\\0' '{'; read go; baton emit agent:signal '{\\"kind\\":\\"complete\\"}'", on_idle = { action = "nudge", message = "more", attempts = "forever" } }
dies = { run = "scripted dies.yaml", on_dead = "fail" }
dies_at_once = { run = "exit 7", on_dead = "fail" }
not_there = { run = "/no/such/program --at all", on_dead = "fail" }
resumes = { run = "scripted dies.yaml", on_dead = { action = "resume", attempts = 3 } }

[pipelines]
`;

const NAMES = [...RUNBOOK.matchAll(/^(\w+) = \{ run/gm)].map(([, name]) => name ?? '');
const PIPELINES = NAMES.map(
  (name) => `in_${name} = { steps = [{ name = "work", run = { agent = "${name}" } }] }\n`,
).join('');

describe('a hostile agent', { timeout: isLongRun ? 900_000 : PATIENCE_MS * 2 }, () => {
  let world: RunWorld;
  beforeAll(async () => {
    world = await RunWorld.open({ runbook: RUNBOOK + PIPELINES, scripts: SCRIPTS });
  });
  afterAll(async () => world.leaveEmpty());

  async function start(name: string): Promise<{ readonly id: string; readonly agentId: string }> {
    const id = await world.run(`in_${name}`);
    return { id, agentId: await world.agentIn(id, 'work') };
  }

  const ENDS = [
    ['hangs', 'failed', 'SIGTERM'],
    ['brood_hangs', 'failed', 'SIGKILL'],
    ['brood_late', 'failed', 'SIGKILL'],
    ['brood_dies', 'failed', 'SIGKILL'],
    ['brood_completes', 'done', 'SIGKILL'],
    ['brood_leaves', 'done', null],
  ] as const;

  it.each(someOf(ENDS, 0, 2, 5))(
    '%s: the step is %s, its process ends with %s, and nothing of it stays',
    async (name, status, signal) => {
      const { id, agentId } = await start(name);
      expect(await world.pipeline(id)).toMatchObject({ status });
      expect(await world.gone(agentId)).toMatchObject({ exit: { signal, timed_out: name === 'brood_late' } });
      await world.untilNobodyIs(agentId);
      expect(await world.count(agentId, 'AgentExited')).toBe(1);
      const idle = (await world.entries(agentId, 'AgentIdle')).map(({ data }) => data['why']);
      expect(idle).toEqual(name.endsWith('hangs') ? ['quiet'] : []);
    },
  );

  it("is killed with all its children on a person's request", async () => {
    const agentId = await world.run('brood_hangs');
    // The agent, the shells that ignore SIGTERM with their sleeps, and one whose child is a zombie.
    await world.until('all of them are there', () => world.processesOf(agentId).length >= 6);
    await world.ask('agent_kill', { id: agentId, reason: 'enough' });
    expect(await world.gone(agentId)).toMatchObject({ status: 'cancelled', exit: { signal: 'SIGKILL' } });
    expect(world.processesOf(agentId)).toEqual([]);
  });

  it.each([
    ['dies', 'failed', { code: null, signal: 'SIGKILL' }],
    ['dies_at_once', 'failed', { code: 7, signal: null }],
    ['not_there', 'failed', { code: 127, signal: null }],
  ])('%s: the step is %s', async (name, status, exit) => {
    const { id, agentId } = await start(name);
    expect(await world.pipeline(id)).toMatchObject({ status });
    expect(await world.gone(agentId)).toMatchObject({ exit });
  });

  it('that dies is resumed, and its death is counted', async () => {
    const { id, agentId } = await start('resumes');
    const waiting = await world.pipeline(id);
    // After its last step the agent stops without a signal, which counts as a death.
    expect(waiting).toMatchObject({ status: 'waiting', reason: 'on_dead: attempts used up' });
    expect(await world.gone(agentId)).toMatchObject({ start: 4 });
    expect(await world.count(agentId, 'AgentStarted')).toBe(4);
    await world.ask('pipeline_cancel', { id });
  });

  inLongLane(() => {
    it.each(['floods', 'floods_on_one_line'])('%s: costs neither memory nor disk', async (name) => {
      const { id, agentId } = await start(name);
      const supervisor = await world.until('it runs', async () => {
        const [started] = await world.entries(agentId, 'AgentStarted');
        return started === undefined ? undefined : pidOf(started.data, 'supervisor');
      });
      const { log } = await world.ask('agent_show', { id: agentId });
      // The agent waits after its flood of output, so its supervisor has read all of it.
      await world.until('all of it was printed', async () =>
        name === 'floods' ? world.blocks(agentId).length > 0 : (await world.count(agentId, 'AgentIdle')) > 0,
      );
      expect(peakMb(supervisor)).toBeLessThan(MAX_SUPERVISOR_MB);
      expect(statSync(log).size).toBeLessThanOrEqual(LOG_BYTES);
      if (name === 'floods') await world.ask('agent_send', { id: agentId, text: 'go on' });
      expect(await world.pipeline(id)).toMatchObject({ status: 'done' });
      await world.gone(agentId);
      const text = readFileSync(log, 'utf8');
      expect(text.length).toBeLessThanOrEqual(LOG_BYTES);
      expect(text).toMatch(/\[baton: \d{8,} bytes of output were cut here\]/);
      expect(text).toMatch(name === 'floods' ? /the end/ : /Recorded: complete/);
    });
  });
});

it(
  "an exit signal that a tool prints, or that no message contains, does not count; the agent's own counts",
  async () => {
    await using world = await RunWorld.open({
      runbook: `
        [agents]
        coder = { run = "scripted quotes.yaml", requires = ["exit"], on_stop = { action = "signal", attempts = "forever" } }
        [workers.w]
        phases = ["IMPLEMENTATION"]
        run = { agent = "coder" }`,
      scripts: SCRIPTS,
      env: { AGENT_EXIT_PROTOCOL_ENABLED: 'true' },
    });
    await world.ask('task_create', { task_id: 'T1', title: 'One' });
    const agentId = await world.until('it is at work', async () => {
      const { agents } = await world.ask<{ agents: readonly { id: string }[] }>('agent_list');
      return agents[0]?.id;
    });
    await world.until('its stop was blocked', () => world.blocks(agentId).length === 1);
    expect(world.blocks(agentId)[0]).toMatch(/\nStill missing: exit signal\.$/);
    expect(await world.ask('task_get', { task_id: 'T1' })).toMatchObject({ phase: 'IMPLEMENTATION' });
    await world.ask('agent_send', { id: agentId, text: 'Say it yourself' });
    expect(await world.agent(agentId)).toMatchObject({ status: 'done' });
    expect(await world.gone(agentId)).toMatchObject({ exit: { code: 0 } });
    expect(world.blocks(agentId)).toHaveLength(1);
    expect(await world.ask('task_get', { task_id: 'T1' })).toMatchObject({ phase: 'CI_PENDING' });
  },
  PATIENCE_MS * 2,
);

/** The process's peak memory. */
function peakMb(pid: number): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}
