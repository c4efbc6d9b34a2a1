import { hasEnded } from '../../api/process-identity.ts';
import type { State } from '../../state/state.ts';
import { agentFiles } from '../../supervisor/contract.ts';
import { reportExitCommand } from '../perform.ts';
import { agentMark, endLostRun } from '../processes/settle-lost.ts';
import { readExit } from '../processes/supervised.ts';
import { submitAll } from '../tell-all.ts';
import type { EffectContext } from '../context.ts';

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
