import { execFileSync } from 'node:child_process';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inLongLane } from '../lanes.ts';
import { readLedger } from '../processes/ledger.ts';
import { RunWorld } from '../processes/run-world.ts';
import { Terminal } from '../processes/terminal.ts';
import { BATON } from '../package/where.ts';

const RUNBOOK = `
[agents.coder]
run = "scripted coder.yaml"
on_stop = { action = "signal", attempts = "forever" }
on_dead = "fail"

[agents.asker]
run = "scripted asker.yaml"

[agents.sleeper]
run = "scripted sleeper.yaml"

[agents.plain]
run = "while [ ! -e go ]; do sleep 0.05; done"
on_dead = "done"

[pipelines.work]
steps = [{ name = "code", run = { agent = "coder" } }, { name = "after", run = "echo done >> after" }]

[agents.tasker]
run = "scripted coder.yaml"
requires = []

[workers.w]
phases = ["IMPLEMENTATION"]
run = { agent = "tasker" }
`;

/** An agent that is interrupted at its second step, continues with a person, and finishes by itself. */
const CODER = `
- say: I begin.
- hang
- say: I go on with you.
- run: echo "$BATON_AGENT_ID" > worked
- stop
- say: I finish.
- signal: complete
`;

/** Stops itself with the signal that Ctrl-Z sends. */
const SLEEPER = `
- say: I begin.
- hang
- run: kill -STOP $PPID
- say: I woke up.
- stop
- signal: complete
`;

const ASKER = `
- say: I begin.
- signal: { kind: escalate, message: Which one? }
- stop
- say: I take that one.
- stop
- signal: complete
`;

let world: RunWorld;
beforeEach(async () => {
  world = await RunWorld.open({
    runbook: RUNBOOK,
    scripts: { 'coder.yaml': CODER, 'asker.yaml': ASKER, 'sleeper.yaml': SLEEPER },
    // Short enough to observe renewals.
    env: { BATON_CLAIM_EXPIRY_MS: '10000', BATON_RENEWAL_MS: '250' },
  });
});
afterEach(async () => world.leaveEmpty());

function attach(id: string, ...more: string[]): Terminal {
  const argv = [process.execPath, BATON, 'agent', 'attach', ...more, id];
  return new Terminal(argv, { cwd: world.repository, env: world.world.env, columns: 200, rows: 40 });
}

/** Starts a pipeline whose agent has begun and hangs. Returns the ids. */
async function hanging(): Promise<{ readonly pipelineId: string; readonly id: string }> {
  const pipelineId = await world.run('work');
  const id = await world.agentIn(pipelineId, 'code');
  await world.until('it has begun', () => logOf(id).includes('I begin.'));
  return { pipelineId, id };
}

function logOf(id: string): string {
  try {
    return readFileSync(`${world.world.stateDir}/agents/${id}/output.log`, 'utf8');
  } catch {
    return '';
  }
}

async function expiryOf(taskId: string): Promise<string> {
  const { claim } = await world.ask<{ claim: { expires_at: string } }>('task_get', { task_id: taskId });
  return claim.expires_at;
}

async function untilAttached(id: string, times = 1): Promise<void> {
  await world.until('somebody is there', async () => (await world.count(id, 'AgentAttached')) === times);
}

describe('a person attached to an agent', () => {
  it('continues the conversation and leaves, and the pipeline continues', async () => {
    const { pipelineId, id } = await hanging();
    await using terminal = attach(id);
    await terminal.shows('agent: I begin.');
    await terminal.shows('(type a message; Ctrl-D leaves)');
    expect(await world.ask('agent_show', { id })).toMatchObject({
      status: 'attached',
      start: 2,
      attached: expect.stringMatching(/@.* \(\/dev\/pts\/\d+, process \d+\)/),
    });
    terminal.type('Go on, please.\r');
    await terminal.shows('I go on with you.');
    await terminal.shows('(the turn ended)');
    expect(world.lines('worked')).toEqual([id]);
    terminal.type('\u0004');
    await terminal.shows('Baton continues the conversation of coder');
    expect(await terminal.exit()).toBe(0);
    expect(await world.pipeline(pipelineId)).toMatchObject({ status: 'done' });
    expect(world.lines('after')).toEqual(['done']);
    await world.gone(id);
    const told = world.told(id);
    expect(told.at(0)).toBe('Go on, please.');
    expect(told.at(-1)).toContain('The person who worked with you has left.');
    // While the person was attached, no stop was blocked.
    expect(world.blocks(id)).toEqual([]);
    const types = (await world.entries(id)).map(({ type }) => type).filter((type) => type.startsWith('Agent'));
    expect(types).toEqual([
      'AgentRequested',
      'AgentStarted',
      'AgentAttachRequested',
      'AgentExited',
      'AgentResumeRequested',
      'AgentStarted',
      'AgentAttached',
      'AgentDetached',
      'AgentExited',
      'AgentResumeRequested',
      'AgentStarted',
      'AgentSignalled',
      'AgentEnded',
      'AgentExited',
    ]);
    const [request] = await world.entries(id, 'AgentAttachRequested');
    expect(request?.actor).toMatch(/^operator:/);
    expect((await world.entries(id, 'AgentDetached'))[0]?.data).toMatchObject({ how: 'left', talked: true });
    await world.untilNobodyIs(id);
  });

  inLongLane(() => {
    it.each([
      ['closes the terminal', (terminal: Terminal) => terminal.hangUp()],
      ['has their command killed', (terminal: Terminal) => kill(commandIn(terminal))],
    ])('who %s in the middle loses nothing: the pipeline goes on', async (_, vanish) => {
      const { pipelineId, id } = await hanging();
      await using terminal = attach(id);
      await terminal.shows('(type a message; Ctrl-D leaves)');
      terminal.type('Go on, please.\r');
      await terminal.shows('I go on with you.');
      vanish(terminal);
      expect(await world.pipeline(pipelineId)).toMatchObject({ status: 'done' });
      expect(world.told(id).at(0)).toBe('Go on, please.');
      const [detached] = await world.entries(id, 'AgentDetached');
      expect(detached?.data).toMatchObject({ how: expect.stringMatching(/^(?:lost|left)$/) });
      await world.untilNobodyIs(id);
    });

    it('is alone: a second one learns who is attached, and can follow line by line', async () => {
      const { id } = await hanging();
      await using first = attach(id);
      await first.shows('(type a message; Ctrl-D leaves)');
      await untilAttached(id);
      await using second = attach(id);
      await second.shows(/Error: agent .* is attached already: .*@.* \(\/dev\/pts\/\d+, process \d+\), since /);
      expect(await second.exit()).toBe(1);
      await using looker = attach(id, '--chat');
      await looker.shows('Attached to coder');
      looker.type('\u0004');
      expect(await looker.exit()).toBe(0);
      first.type('\u0004');
      expect(await first.exit()).toBe(0);
      expect(await world.agent(id)).toMatchObject({ status: 'done' });
    });
  });

  inLongLane(() => {
    it('keeps the claim, and every message, while the daemon is away and comes back', async () => {
      await world.ask('task_create', { task_id: 'T001', title: 'Work' });
      const id = await world.until('the worker has begun', async () => {
        const { agents } = await world.ask<{ agents: { id: string; task_id: string | null }[] }>('agent_list');
        return agents.find(({ task_id }) => task_id === 'T001')?.id;
      });
      await world.until('it has begun', () => logOf(id).includes('I begin.'));
      await using terminal = attach(id);
      await terminal.shows('(type a message; Ctrl-D leaves)');
      await untilAttached(id);
      await world.world.endDaemon('SIGKILL');
      terminal.type('Go on, please.\r');
      await terminal.shows('(the turn ended)');
      // The file was written in the task's worktree.
      expect(globSync('.worktrees/**/worked', { cwd: world.repository })).toHaveLength(1);
      await world.world.startDaemon();
      expect(await world.ask('agent_show', { id })).toMatchObject({ status: 'attached', start: 2 });
      const until = Date.parse(await expiryOf('T001'));
      await world.until('the claim is renewed', async () => Date.parse(await expiryOf('T001')) > until + 500);
      await world.world.endDaemon('SIGKILL');
      terminal.type('\u0004');
      expect(await terminal.exit()).toBe(0);
      await world.world.startDaemon();
      expect(await world.agent(id)).toMatchObject({ status: 'done' });
      expect(await world.count(id, 'AgentAttached')).toBe(1);
      expect(await world.count(id, 'AgentDetached')).toBe(1);
      const claims = (await readLedger(world.world)).filter(({ type }) => /^(?:TaskClaimed|Claim)/.test(type));
      expect(claims.map(({ type }) => type)).toEqual(['TaskClaimed', 'ClaimCompleted']);
    });
  });

  it('answers an agent that waits for a person by talking with it', async () => {
    const id = await world.run('asker');
    const { decision_id } = await world.agent(id);
    // The agent has reached its stop too.
    await world.gone(id);
    await using terminal = attach(id);
    await terminal.shows('agent: I begin.');
    await terminal.shows('(type a message; Ctrl-D leaves)');
    terminal.type('The left one.\r');
    await terminal.shows('I take that one.');
    await terminal.shows('(the turn ended)');
    terminal.type('\u0004');
    expect(await terminal.exit()).toBe(0);
    expect(await world.agent(id)).toMatchObject({ status: 'done' });
    const decision = (await world.decisions()).find((each) => each.id === decision_id);
    expect(decision).toMatchObject({ status: 'withdrawn' });
  });

  inLongLane(() => {
    it('leaves an agent waiting without an answer', async () => {
      const id = await world.run('asker');
      await world.agent(id);
      await world.gone(id);
      await using terminal = attach(id);
      await terminal.shows('(type a message; Ctrl-D leaves)');
      terminal.type('\u0004');
      expect(await terminal.exit()).toBe(0);
      expect(await world.gone(id)).toMatchObject({ status: 'escalated' });
      await world.ask('agent_kill', { id });
    });

    it('learns that the agent was killed meanwhile, and gets their terminal back', async () => {
      const { pipelineId, id } = await hanging();
      await using terminal = attach(id);
      await terminal.shows('(type a message; Ctrl-D leaves)');
      await world.ask('agent_kill', { id, reason: 'enough' });
      await terminal.shows('The run of coder has ended: cancelled.');
      await terminal.exit();
      expect(await world.pipeline(pipelineId)).toMatchObject({ status: 'cancelled' });
      await world.untilNobodyIs(id);
    });

    it('survives a kill of the supervisor: the client exits, and the conversation continues', async () => {
      const { pipelineId, id } = await hanging();
      await using terminal = attach(id);
      await terminal.shows('(type a message; Ctrl-D leaves)');
      await untilAttached(id);
      const [, started] = await world.entries(id, 'AgentStarted');
      const supervisor = started?.data['supervisor'];
      kill(Number(typeof supervisor === 'string' ? supervisor.split('/')[1] : 0));
      await terminal.exit();
      expect(
        (
          await world.until('it goes on', async () => {
            const shown = await world.ask('agent_show', { id });
            return shown.start === 3 && shown;
          })
        ).status,
      ).not.toBe('attached');
      expect((await world.entries(id, 'AgentDetached'))[0]?.data).toMatchObject({ how: 'lost' });
      await world.ask('pipeline_cancel', { id: pipelineId });
      await world.pipeline(pipelineId);
    });
  });

  inLongLane(() => {
    it('gets their shell back while the client is suspended, and continues when they resume it', async () => {
      const id = await world.run('sleeper');
      await world.until('it has begun', () => logOf(id).includes('I begin.'));
      const shell = { cwd: world.repository, env: { ...world.world.env, PS1: 'shell> ' }, columns: 200, rows: 40 };
      await using terminal = new Terminal(['sh', '-i'], shell);
      await terminal.shows('shell>');
      terminal.type(`'${process.execPath}' '${BATON}' agent attach ${id}\r`);
      await terminal.shows('(type a message; Ctrl-D leaves)');
      terminal.type('Sleep.\r');
      await terminal.shows('Stopped');
      expect(await world.ask('agent_show', { id })).toMatchObject({ status: 'attached' });
      terminal.type('fg\r');
      await terminal.shows('I woke up.');
      await terminal.shows('(the turn ended)');
      terminal.type('\u0004');
      await terminal.shows('Baton continues the conversation of sleeper');
      terminal.type('exit\r');
      await terminal.exit();
      expect(await world.agent(id)).toMatchObject({ status: 'done' });
    });

    it('talks line by line with a program without an interactive mode', async () => {
      const id = await world.run('plain');
      await using terminal = attach(id);
      await terminal.shows('Attached to plain');
      execFileSync('touch', ['go'], { cwd: world.repository });
      expect(await terminal.exit()).toBe(0);
    });
  });
});

/** The pid of `baton` in the terminal. */
function commandIn(terminal: Terminal): number {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      const parent = /\nPPid:\s(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
      if (words.includes('attach') && words.includes(BATON) && Number(parent) === terminal.pid) return Number(pid);
    } catch {
      // The process has exited.
    }
  }
  throw new Error('there is no command in the terminal');
}

function kill(pid: number): void {
  process.kill(pid, 'SIGKILL');
}
