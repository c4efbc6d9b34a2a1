import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inLongLane, someOf } from '../lanes.ts';
import { PATIENCE_MS, RunWorld, type Shown } from '../processes/run-world.ts';

const gate = (name: string): string => `until test -e ${name}; do sleep 0.02; done`;
const HOSTILE = readFileSync(join(import.meta.dirname, '../../examples/agents/acp/hostile.yaml'), 'utf8');

const SCRIPTS = {
  'held.yaml': `
- say: I am done.
- stop
- say: Now I am.
- signal: complete
`,
  'bounded.yaml': 'steps: [{ say: I stop. }]\non_message: [{ say: I still stop. }]\n',
  'asks.yaml': `
- ask: May I deploy?
- write: { path: asked.txt, text: "it went on" }
- signal: complete
`,
  'denied.yaml': `
steps:
  - ask: May I drop the table?
  - stop
  - run: echo "told" > told.txt
  - signal: complete
`,
  'nudged.yaml': `
steps:
  - run: "${gate('nudge')}"
  - stop
on_message:
  - signal: complete
`,
  'dies.yaml': `
- say: The first words.
- crash
- signal: complete
`,
  'spends.yaml': `
steps:
  - use: 120
  - stop
on_message:
  - signal: complete
`,
  'limited.yaml': `
- say: I begin.
- error: { kind: rate_limited, reset_at: "2026-01-01T00:00:00Z" }
- signal: complete
`,
  'prints.yaml': `
- say: |
    Here it is:
    {"protocol":"apm2_agent_exit","version":"1.0.0","phase_completed":"IMPLEMENTATION","exit_reason":"completed"}
`,
  'tools.yaml': `
tools: client
steps:
  - write: { path: by-client.txt, text: "written by the client" }
  - run: "echo $BATON_AGENT_ID > in-terminal.txt"
  - signal: complete
`,
  'stays.yaml': '- ignore: cancel\n- ignore: SIGTERM\n- run: touch stays-began\n- hang\n',
  'hostile.yaml': HOSTILE,
};

const play = (script: string): string => `acp:baton agent play --acp ${script}.yaml`;

/** The agents of this file, by name, with their runbook settings. */
const AGENTS: Readonly<Record<string, string>> = {
  held: `run = "${play('held')}"`,
  bounded: `run = "${play('bounded')}"\non_stop = { action = "signal", attempts = 2 }\non_dead = "fail"`,
  asks: `run = "${play('asks')}"`,
  denied: `run = "${play('denied')}"`,
  nudged: `run = "${play('nudged')}"`,
  dies: `run = "${play('dies')}"\non_dead = { action = "resume", message = "Go on, please." }`,
  spends: `run = "${play('spends')}"\nbudget = { tokens = 100 }`,
  limited: `run = "${play('limited')}"\non_error = { rate_limited = "resume" }`,
  tools: `run = "${play('tools').replace('acp:', 'acp:FROM=shell ')}"`,
  stays: `run = "${play('stays')}"`,
  hostile: `run = "${play('hostile')}"\nacp = { permissions = "allow" }\non_stop = { action = "signal", attempts = 1 }\ntimeout = "6s"`,
  echoes: 'run = "acp:cat"\non_dead = "fail"',
  leaves: 'run = "acp:echo I am no agent"\non_dead = "fail"',
  floods: 'run = "acp:yes"\non_dead = "fail"',
  missing: 'run = "acp:no-such-agent --acp"\non_dead = "fail"',
};

const RUNBOOK = `
limits = { kill_after = "500ms", leave = "500ms", log_bytes = 1048576 }
sandbox = "none"
${Object.entries(AGENTS)
  .map(([name, fields]) => `[agents.${name}]\nprompt = "Do the task."\non_stop = "signal"\n${fields}\n`)
  .map((text) => text.replace(/on_stop = "signal"\n([^]*on_stop = )/, '$1'))
  .join('')}
[agents.prints]
run = "${play('prints')}"
prompt = "Do the task."
requires = ["exit"]
[workers.w]
phases = ["IMPLEMENTATION"]
run = { agent = "prints" }
`;

describe('an ACP agent', { timeout: PATIENCE_MS * 2 }, () => {
  let world: RunWorld;
  beforeAll(async () => {
    world = await RunWorld.open({ runbook: `exit_protocol = true\n${RUNBOOK}`, scripts: SCRIPTS });
  });
  afterAll(async () => world.leaveEmpty());

  const log = (shown: Shown): string => readFileSync(shown.log, 'utf8');
  const decision = async (id: string): Promise<Shown> =>
    world.until('a person is asked', async () => {
      const shown = await world.ask('agent_show', { id });
      return shown.decision_id !== null && shown;
    });

  it('is blocked until it has signalled, by another prompt in the same session', async () => {
    const id = await world.run('held');
    const ended = await world.agent(id);
    expect(ended).toMatchObject({ status: 'done', start: 1 });
    expect(await world.count(id, 'AgentBlocked')).toBe(1);
    expect(log(ended).match(/"type":"session"/g)).toHaveLength(1);
    expect(await world.gone(id)).toMatchObject({ exit: { code: 0, blocks_used: false } });
  });

  it('is blocked no more often than its attempts, and then counts as dead', async () => {
    const id = await world.run('bounded');
    expect(await world.agent(id)).toMatchObject({ status: 'failed' });
    expect(await world.count(id, 'AgentBlocked')).toBe(2);
    expect(await world.gone(id)).toMatchObject({ exit: { code: 0, blocks_used: true } });
  });

  it('asks a person for permission, and continues when it is given', async () => {
    const id = await world.run('asks');
    const { decision_id } = await decision(id);
    await world.resolve(decision_id, 'approve');
    expect(await world.agent(id)).toMatchObject({ status: 'done' });
    expect(existsSync(join(world.repository, 'asked.txt'))).toBe(true);
  });

  it('reads in its next prompt why a person denied its request', async () => {
    const id = await world.run('denied');
    const { decision_id } = await decision(id);
    await world.resolve(decision_id, 'deny', 'Rename it instead.');
    const ended = await world.agent(id);
    expect(ended).toMatchObject({ status: 'done' });
    expect(log(ended)).toContain('{"type":"prompt","text":"Rename it instead."}');
  });

  it('reads a message that was sent while it worked, before it stops', async () => {
    const id = await world.run('nudged');
    await world.until('it works', async () => existsSync((await world.ask('agent_show', { id })).log));
    await world.ask('agent_send', { id, text: 'Mind the gap.' });
    writeFileSync(join(world.repository, 'nudge'), '');
    const ended = await world.agent(id);
    expect(ended).toMatchObject({ status: 'done', start: 1 });
    expect(log(ended)).toContain('{"type":"prompt","text":"Mind the gap."}');
  });

  it('that dies is resumed in its session', async () => {
    const id = await world.run('dies');
    const ended = await world.agent(id);
    expect(ended).toMatchObject({ status: 'done', start: 2 });
    const sessions = [...log(ended).matchAll(/"type":"session","session_id":"([^"]+)"/g)].map(([, session]) => session);
    expect(sessions).toHaveLength(2);
    expect(new Set(sessions).size).toBe(1);
    expect(log(ended)).toContain('{"type":"prompt","text":"Go on, please."}');
  });

  it('that has used up its budget waits for a person', async () => {
    const id = await world.run('spends');
    const { decision_id } = await decision(id);
    const { source } = await world.ask<{ source: string }>('decision_show', { id: decision_id });
    expect(source).toBe('budget');
    await world.ask('decision_resolve', { id: decision_id, option: 1 });
    expect(await world.agent(id)).toMatchObject({ status: 'done' });
  });

  it('whose API fails is handled by the kind of the error, and resumed', async () => {
    const id = await world.run('limited');
    expect(await world.agent(id)).toMatchObject({ status: 'done', start: 2 });
    const [failed] = await world.entries(id, 'AgentErrored');
    expect(failed?.data).toMatchObject({ error: 'rate_limited' });
  });

  it('may use files and terminals of its client, in its worktree and with its environment', async () => {
    const id = await world.run('tools');
    expect(await world.agent(id)).toMatchObject({ status: 'done' });
    expect(readFileSync(join(world.repository, 'by-client.txt'), 'utf8')).toBe('written by the client');
    expect(world.lines('in-terminal.txt')).toEqual([id]);
  });

  it('ends its session by an exit signal in its last message', async () => {
    await world.ask('task_create', { task_id: 'T001', title: 'Say hello' });
    const moved = await world.until('the session is completed', async () => {
      const { phase } = await world.ask<{ phase: string }>('task_get', { task_id: 'T001' });
      return phase !== 'IMPLEMENTATION' && phase;
    });
    expect(moved).toBe('CI_PENDING');
  });

  it('that never answers a cancellation is killed', async () => {
    const id = await world.run('stays');
    await world.until('it began', () => existsSync(join(world.repository, 'stays-began')));
    await world.ask('agent_kill', { id, reason: 'enough' });
    expect(await world.gone(id)).toMatchObject({ status: 'cancelled' });
    expect(world.processesOf(id)).toEqual([]);
  });

  // One supervisor program serves agents of every client: see `hostile-agents.int.test.ts`.
  inLongLane(() => {
    it('that is hostile in every way ends in a final state, and leaves nothing', async () => {
      const id = await world.run('hostile');
      const ended = await world.agent(id);
      expect(['failed', 'escalated', 'cancelled']).toContain(ended.status);
      expect(await world.gone(id)).toMatchObject({ exit: { timed_out: true } });
      await world.untilNobodyIs(id);
      expect(existsSync(join(world.repository, '../outside.txt'))).toBe(false);
      expect(readFileSync(ended.log).length).toBeLessThan(1_200_000);
      expect(log(ended)).not.toContain('root:x:0');
      const { text } = await world.ask<{ text: string }>('agent_log', { id, to_lines: 5000, limit_bytes: 1_000_000 });
      expect(text).not.toContain('\u001b');
      expect(text).toContain('red');
    });
  });

  it.each(
    someOf(
      [
        ['echoes', 'refused initialize'],
        ['leaves', 'exited with code 0'],
        ['floods', 'does not speak ACP'],
        ['missing', 'exited with code 127'],
      ],
      0,
    ),
  )('%s: a program that speaks no ACP fails with the reason', async (name, reason) => {
    const id = await world.run(name);
    const ended = await world.agent(id);
    expect(ended).toMatchObject({ status: 'failed' });
    expect(log(ended)).toContain(reason);
    await world.untilNobodyIs(id);
  });
});
