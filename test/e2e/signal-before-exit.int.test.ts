import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { keepCall, listKept } from '../../src/api/outbox.ts';
import { stateFiles } from '../../src/api/state-folder.ts';
import { agentFiles } from '../../src/supervisor/contract.ts';
import { PATIENCE_MS, RunWorld } from '../processes/run-world.ts';

const RUNBOOK = `
  [agents]
  worker = { run = "scripted works.yaml", on_dead = "fail" }
  [pipelines.p]
  steps = [{ name = "work", run = { agent = "worker" } }]`;

describe('a signal that was accepted into the outbox', { timeout: PATIENCE_MS * 2 }, () => {
  it('counts before the exit of its process, which the daemon finds by itself', async () => {
    await using world = await RunWorld.open({ runbook: RUNBOOK, scripts: { 'works.yaml': '- hang' } });
    const id = await world.run('p');
    const agentId = await world.agentIn(id, 'work');
    await world.until('it works', async () => (await world.count(agentId, 'AgentStarted')) === 1);
    process.kill(world.world.daemonPid, 'SIGSTOP');
    const { outbox } = stateFiles(world.world.stateDir);
    const call = { v: 1, operation: 'agent_signal', key: 'k1', projectPath: world.repository } as const;
    const input = JSON.stringify({ kind: 'complete', message: 'done while you were stopped' });
    const { token, supervisor } = identityOf(world, agentId);
    expect(keepCall(outbox, { ...call, input, token, keptAt: new Date().toISOString() })).toBe(true);
    // No process is left to report the end: the daemon finds it in the list of processes.
    for (const pid of [supervisor, ...world.processesOf(agentId)]) killIfThere(pid);
    process.kill(world.world.daemonPid, 'SIGCONT');
    expect(await world.pipeline(id)).toMatchObject({
      status: 'done',
      steps: [{ output: 'done while you were stopped' }],
    });
    expect(await world.count(agentId, 'AgentSignalled')).toBe(1);
    expect(await world.count(agentId, 'HandlerTried')).toBe(0);
    await world.until('the outbox is empty', () => listKept(outbox).length === 0);
  });
});

function identityOf(world: RunWorld, agentId: string): { readonly token: string; readonly supervisor: number } {
  const files = agentFiles(world.world.stateDir, agentId);
  const { agent_token: token } = JSON.parse(readFileSync(files.launch(1), 'utf8')) as { agent_token: string };
  const { supervisor } = JSON.parse(readFileSync(files.running(1), 'utf8')) as { supervisor: string };
  return { token, supervisor: Number(supervisor.split('/')[1]) };
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process ended with the previous one.
  }
}
