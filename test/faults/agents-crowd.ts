import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { pidOf, readLedger } from '../processes/ledger.ts';
import { RunWorld } from '../processes/run-world.ts';
import { until } from '../processes/until.ts';

export interface CrowdReport {
  readonly agents: number;
  /** The number of agents that ran at the same moment. */
  readonly atOnce: number;
  readonly hooks: number;
  readonly startSeconds: number;
  /** Seconds from the start signal until the last agent has exited. */
  readonly workSeconds: number;
  /** The average memory of one supervisor while all were running; at least half of it is shared with the others. */
  readonly supervisorMb: number;
  readonly faults: readonly string[];
}

const STOPS = 3;
const IDLE = 'Stop hook: on_idle handler invoked. Continue working or signal completion.';

/**
 * Each agent waits for a message, tries to stop a few times, and signals: with both forms of the hook, with and without
 * the daemon.
 */
const runbook = (agents: number): string => `
limits = { agents = ${agents + 10}, kill_after = "1s" }
[agents]
http = { run = "scripted signal.yaml", on_stop = { action = "signal", attempts = 5 } }
command = { run = "scripted --command-hook signal.yaml", on_stop = { action = "signal", attempts = 5 } }
http_idle = { run = "scripted idle.yaml", on_stop = "idle", on_idle = { action = "nudge", attempts = "forever" } }
command_idle = { run = "scripted --command-hook idle.yaml", on_stop = "idle", on_idle = { action = "nudge", attempts = "forever" } }
[pipelines]
${KINDS.map((kind) => `in_${kind} = { steps = [{ name = "work", run = { agent = "${kind}" } }] }`).join('\n')}
`;

const KINDS = ['http', 'command', 'http_idle', 'command_idle'] as const;

const SCRIPTS = {
  'signal.yaml': `- wait\n${'- stop\n'.repeat(STOPS)}- signal: complete\n- stop\n`,
  'idle.yaml': `- wait\n${'- stop\n- wait\n'.repeat(STOPS)}- signal: complete\n- stop\n`,
};

/** Runs many agents at once, and checks that every hook is answered as it would be for a single agent. */
export async function runCrowd(agents: number): Promise<CrowdReport> {
  await using scene = await RunWorld.open({ runbook: runbook(agents), scripts: SCRIPTS });
  const patienceMs = 60_000 + agents * 5000;
  const begun = performance.now();
  const runs: { readonly id: string; readonly kind: string }[] = [];
  for (let i = 0; i < agents; i += 1) {
    const kind = KINDS[i % KINDS.length] ?? 'http';
    runs.push({ id: await scene.run(`in_${kind}`), kind });
  }
  const entriesOf = async (type: string) =>
    (await readLedger(scene.world)).filter((entry) => entry.type === type).map(({ data }) => data);
  const started = await until(
    'all of them are there',
    async () => {
      const found = await entriesOf('AgentStarted');
      return found.length === agents && found;
    },
    patienceMs,
  );
  const startSeconds = seconds(begun);
  const supervisors = started.map((data) => pidOf(data, 'supervisor'));
  const atOnce = supervisors.filter((pid) => memoryMb(pid) > 0).length;
  const supervisorMb = Math.round(supervisors.reduce((sum, pid) => sum + memoryMb(pid), 0) / agents);
  const going = performance.now();
  await Promise.all(started.map(async ({ agent_id }) => scene.ask('agent_send', { id: agent_id, text: 'go' })));
  await until('all of them have gone', async () => (await entriesOf('AgentExited')).length >= agents, patienceMs);
  const workSeconds = seconds(going);
  await until('nothing is left of them', () => scene.processes().length === 0, patienceMs);
  const faults: string[] = [];
  let hooks = 0;
  const signalled = (await entriesOf('AgentSignalled')).map(({ agent_id }) => agent_id);
  const exits = await entriesOf('AgentExited');
  for (const { id, kind } of runs) {
    const { status, steps } = await scene.ask('pipeline_show', { id });
    const agentId = steps[0]?.agent_id ?? '';
    const blocks = scene.blocks(agentId);
    const expected = kind.endsWith('idle') ? IDLE : `Run: baton emit agent:signal --agent ${agentId} `;
    const exit = exits.filter(({ agent_id }) => agent_id === agentId);
    hooks += blocks.length + 1;
    if (status !== 'done') faults.push(`${kind} ${id} is ${status}`);
    if (blocks.length !== STOPS || !blocks.every((block) => block.includes(expected)))
      faults.push(`${kind} ${agentId} was told: ${JSON.stringify(blocks)}`);
    if (signalled.filter((each) => each === agentId).length !== 1)
      faults.push(`${kind} ${agentId} has not signalled once`);
    if (exit.length !== 1 || exit[0]?.['code'] !== 0) faults.push(`${kind} ${agentId} ended: ${JSON.stringify(exit)}`);
  }
  const idle = (await entriesOf('AgentIdle')).length;
  const expectedIdle = runs.filter(({ kind }) => kind.endsWith('idle')).length * STOPS;
  if (idle !== expectedIdle) faults.push(`${idle} times idle, not ${expectedIdle}`);
  return { agents, atOnce, hooks, startSeconds, workSeconds, supervisorMb, faults };
}

function seconds(since: number): number {
  return Math.round((performance.now() - since) / 100) / 10;
}

function memoryMb(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { agents: { type: 'string', default: '200' } } });
  const report = await runCrowd(Number(values.agents));
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  process.exitCode = report.faults.length === 0 ? 0 : 1;
}
