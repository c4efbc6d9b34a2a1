import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inLongLane, someOf } from '../lanes.ts';
import { readLedger } from '../processes/ledger.ts';
import { isLongRun } from '../processes/long-run.ts';
import { PATIENCE_MS, RunWorld } from '../processes/run-world.ts';

/** How long the daemon is away; the passing of time itself is tested. */
const AWAY_MS = isLongRun ? 60_000 : 3000;

const untilThere = (file: string): string => `run: "until test -e ${file}; do sleep 0.05; done"`;

const SCRIPTS = {
  'works-on.yaml': `
- ${untilThere('away')}
- stop
- run: echo working >> work.txt
- stop
- ${untilThere('long-enough')}
- signal: { kind: complete, message: done without you }
- stop
`,
  'asks.yaml': `
steps: [${untilThere('away')}, stop, stop]
on_message: [signal: complete]
`,
  'rests.yaml': `
steps: [stop, stop]
on_message: [run: echo $BATON_AGENT_ID >> woken.txt, signal: complete]
`,
};

const TRANSPORTS = [
  ['over HTTP', 'scripted'],
  ['as a command', 'scripted --command-hook'],
] as const;

describe.each(someOf(TRANSPORTS, 1))('with the hook %s', { timeout: PATIENCE_MS * 4 }, (_, scripted) => {
  it('an agent works on while the daemon is away, is blocked, signals, and its signal is recorded once', async () => {
    await using world = await RunWorld.open({
      runbook: `
        [agents]
        worker = { run = "${scripted} works-on.yaml", on_stop = { action = "signal", attempts = 3 } }
        [pipelines.p]
        steps = [{ name = "work", run = { agent = "worker" } }, { name = "after", run = "echo after >> after.txt" }]`,
      scripts: SCRIPTS,
    });
    const id = await world.run('p');
    const agentId = await world.agentIn(id, 'work');
    await world.until('it works', () => world.processesOf(agentId).length > 1);
    await world.world.endDaemon('SIGKILL');
    writeFileSync(join(world.repository, 'away'), '');
    await world.until('it was blocked twice', () => world.blocks(agentId).length === 2);
    for (const block of world.blocks(agentId))
      expect(block).toContain(`Run: baton emit agent:signal --agent ${agentId}`);
    await delay(AWAY_MS);
    expect(world.blocks(agentId)).toHaveLength(2);
    writeFileSync(join(world.repository, 'long-enough'), '');
    await world.untilNobodyIs(agentId);
    await world.until('its supervisor has gone, and no daemon has come', () => world.processes().length === 0);
    expect(globSync('exit-1.json', { cwd: join(world.world.stateDir, 'agents', agentId) })).toHaveLength(1);
    // The signal waits in the outbox, which is enough to let the agent stop.
    expect(world.blocks(agentId)).toHaveLength(2);
    const before = (await world.entries(agentId)).map(({ type }) => type);
    expect(before).not.toContain('AgentSignalled');
    await world.world.startDaemon();
    expect(await world.pipeline(id)).toMatchObject({ status: 'done', steps: [{ output: 'done without you' }, {}] });
    await world.gone(agentId);
    await world.restart();
    expect(await world.pipeline(id)).toMatchObject({ status: 'done' });
    expect(world.lines('after.txt')).toEqual(['after']);
    expect(world.lines('work.txt')).toEqual(['working']);
    for (const type of ['AgentStarted', 'AgentSignalled', 'AgentEnded', 'AgentExited'])
      expect([type, await world.count(agentId, type)]).toEqual([type, 1]);
    expect((await world.entries(agentId, 'AgentExited'))[0]?.data).toMatchObject({ code: 0, blocks_used: false });
    expect(world.receiver.heard).toEqual([]);
  });

  inLongLane(() => {
    it('an agent that needs a person while the daemon is away may stop, and the person is called once', async () => {
      await using world = await RunWorld.open({
        runbook: `[agents]\nasks = { run = "${scripted} asks.yaml" }\n`,
        scripts: SCRIPTS,
      });
      const agentId = await world.run('asks');
      await world.until('it works', () => world.processesOf(agentId).length > 1);
      await world.world.endDaemon('SIGKILL');
      writeFileSync(join(world.repository, 'away'), '');
      await world.untilNobodyIs(agentId);
      expect(world.blocks(agentId)).toEqual(['A human has been notified. Wait for instructions or signal completion.']);
      await world.world.startDaemon();
      const escalated = await world.agent(agentId);
      expect(escalated).toMatchObject({ status: 'escalated' });
      await world.gone(agentId);
      await world.until('the person is told', () => world.receiver.heard.length > 0);
      await world.restart();
      await world.resolve(escalated.decision_id, 'nudge');
      expect(await world.agent(agentId)).toMatchObject({ status: 'done' });
      await world.gone(agentId);
      expect(world.receiver.about('Agent needs attention: asks')).toHaveLength(1);
    });
  });
});

it(
  'an agent that is parked keeps its claim, even over a restart of the daemon, and the answer resumes it',
  async () => {
    const expiryMs = 2000;
    await using world = await RunWorld.open({
      runbook: `
        [agents]
        coder = { run = "scripted rests.yaml", on_stop = "escalate", requires = [] }
        [workers.w]
        phases = ["IMPLEMENTATION"]
        run = { agent = "coder" }`,
      scripts: SCRIPTS,
      env: { BATON_CLAIM_EXPIRY_MS: String(expiryMs), BATON_RENEWAL_MS: '200' },
    });
    await world.ask('task_create', { task_id: 'T1', title: 'One' });
    const [decision] = await world.until('a person is needed', async () => {
      const open = await world.decisions();
      return open.length > 0 && open;
    });
    const agentId = decision?.agent_id ?? '';
    expect(decision).toMatchObject({ source: 'stop', title: 'Agent needs attention: coder', task_id: 'T1' });
    await world.gone(agentId);
    // Only a wait can show that the claim does not expire.
    await delay(expiryMs * 1.5);
    await world.world.endDaemon('SIGKILL');
    await delay(expiryMs * 1.5);
    await world.world.startDaemon();
    expect(await world.ask('agent_show', { id: agentId })).toMatchObject({ status: 'escalated', process: 'gone' });
    expect(await world.ask('task_get', { task_id: 'T1' })).toMatchObject({ claim: { session_id: agentId, epoch: 1 } });
    await world.resolve(decision?.id ?? null, 'nudge', 'Go on');
    expect(await world.agent(agentId)).toMatchObject({ status: 'done', start: 2 });
    await world.gone(agentId);
    const woken = globSync(join(world.repository, '.worktrees/*/woken.txt')).map((path) => readFileSync(path, 'utf8'));
    expect(woken).toEqual([`${agentId}\n`]);
    const types = (await readLedger(world.world)).map(({ type }) => type);
    expect(types.filter((type) => type === 'TaskClaimed')).toHaveLength(1);
    expect(types).not.toContain('ClaimExpired');
    expect(types.filter((type) => type === 'AgentRequested')).toHaveLength(1);
    expect(world.receiver.about('Agent needs attention: coder')).toHaveLength(1);
  },
  PATIENCE_MS * 4,
);
