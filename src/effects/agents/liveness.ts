import { hasEnded } from '../../api/processes.ts';
import type { State } from '../../state/state.ts';
import { agentFiles } from '../../supervisor/contract.ts';
import type { EffectContext } from '../context.ts';
import { reportExitCommand, submitAll } from '../perform.ts';
import { agentMark, endLostRun } from '../processes/settle-lost.ts';
import { readExit } from '../processes/supervised.ts';

/**
 * Sees to it that every agent that is said to run has a supervisor that lives. One that was killed cannot say how its agent ended;
 * then we end what is left, and say it for it.
 */
export class Liveness {
  readonly #world: EffectContext;
  readonly #settling = new Set<string>();
  readonly #controller = new AbortController();

  constructor(world: EffectContext) {
    this.#world = world;
  }

  reconcile(state: State): void {
    for (const { id, process, supervisor, start } of state.agents.values()) {
      if (process === 'running' && supervisor !== null && hasEnded(supervisor)) this.#settle(id, start);
    }
  }

  /** The supervisor of this agent is said to have ended. */
  async check(agentId: string): Promise<void> {
    if (this.#controller.signal.aborted) return;
    const run = await this.#world.readState((state) => state.agents.get(agentId));
    if (run?.process === 'running' && run.supervisor !== null && hasEnded(run.supervisor))
      this.#settle(agentId, run.start);
  }

  close(): void {
    this.#controller.abort();
  }

  #settle(agentId: string, start: number): void {
    const key = `${agentId} ${start}`;
    if (this.#settling.has(key)) return;
    this.#settling.add(key);
    void this.#reportExit(agentId, start).catch((error: unknown) => {
      // At the next look it is tried again.
      this.#settling.delete(key);
      this.#world.log.error('the end of an agent could not be settled', { agent: agentId, reason: String(error) });
    });
  }

  async #reportExit(agentId: string, start: number): Promise<void> {
    const files = agentFiles(this.#world.stateDir, agentId);
    const exit = readExit(files, start) ?? (await endLostRun({ files, start, mark: agentMark(agentId) }));
    await submitAll([reportExitCommand(agentId, exit)], this.#world, this.#controller.signal);
  }
}

/**
 * The claims that the daemon itself keeps alive: those of runs that wait for a person, run a command or are being started. Where an agent
 * is at work its supervisor does it, so that the claim of one that hangs with its machine runs out.
 */
export function claimsToRenew(state: State): { readonly taskId: string; readonly epoch: number }[] {
  const held = new Map<string, number>();
  for (const { task, outcome } of [...state.pipelines.values(), ...state.agents.values()]) {
    if (task !== null && outcome === null) held.set(task.task_id, task.epoch);
  }
  if (held.size === 0) return [];
  for (const { task, process, parked } of state.agents.values()) {
    // One of an earlier claim, in a person's terminal perhaps, keeps its successor waiting, and renews nothing for it.
    const isOwn = task !== null && held.get(task.task_id) === task.epoch;
    if (isOwn && process === 'running' && parked === null) held.delete(task.task_id);
  }
  return [...held].map(([taskId, epoch]) => ({ taskId, epoch }));
}
