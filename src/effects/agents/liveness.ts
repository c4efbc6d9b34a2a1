import { hasEnded } from '../../api/processes.ts';
import { type Here, isHere } from '../../state/fleet/owner.ts';
import type { AgentRun } from '../../state/runs/agent-run.ts';
import type { State } from '../../state/state.ts';
import { agentFiles } from '../../supervisor/contract.ts';
import type { EffectContext } from '../context.ts';
import { reportExitCommand, submitAll } from '../perform.ts';
import { agentMark, endLostRun } from '../processes/settle-lost.ts';
import { readExit } from '../processes/supervised.ts';

/** Handles a killed supervisor of a running agent: ends what is left of the run and reports the exit in its place. */
export class Liveness {
  readonly #context: EffectContext;
  readonly #settling = new Set<string>();
  readonly #controller = new AbortController();

  constructor(context: EffectContext) {
    this.#context = context;
  }

  reconcile(state: State): void {
    const here = this.#context.here();
    for (const run of state.agents.values())
      if (isLost(run) && isHere(run, state, here)) this.#settle(run.id, run.start);
  }

  async check(agentId: string): Promise<void> {
    if (this.#controller.signal.aborted) return;
    const here = this.#context.here();
    const run = await this.#context.readState((state) => {
      const found = state.agents.get(agentId);
      return isHere(found, state, here) ? found : undefined;
    });
    if (run !== undefined && isLost(run)) this.#settle(agentId, run.start);
  }

  close(): void {
    this.#controller.abort();
  }

  #settle(agentId: string, start: number): void {
    const key = `${agentId} ${start}`;
    if (this.#settling.has(key)) return;
    this.#settling.add(key);
    void this.#reportExit(agentId, start).catch((error: unknown) => {
      // The next tick tries again.
      this.#settling.delete(key);
      this.#context.log.error('the end of an agent could not be settled', { agent: agentId, reason: String(error) });
    });
  }

  async #reportExit(agentId: string, start: number): Promise<void> {
    const files = agentFiles(this.#context.stateDir, agentId);
    const exit = readExit(files, start) ?? (await endLostRun({ files, start, mark: agentMark(agentId) }));
    await submitAll([reportExitCommand(agentId, exit)], this.#context, this.#controller.signal);
  }
}

function isLost({ process, supervisor }: AgentRun): boolean {
  return process === 'running' && supervisor !== null && hasEnded(supervisor);
}

/**
 * Returns the claims that the daemon renews: those of runs that wait for a person, run a command or are starting. For a
 * running agent its supervisor renews the claim, so that the claim expires if the machine hangs. Each host renews its
 * own claims.
 */
export function claimsToRenew(
  state: State,
  here: Pick<Here, 'host'> | undefined,
): { readonly taskId: string; readonly epoch: number }[] {
  const held = new Map<string, number>();
  for (const run of [...state.pipelines.values(), ...state.agents.values()]) {
    const { task, outcome } = run;
    if (task !== null && outcome === null && isHere(run, state, here)) held.set(task.task_id, task.epoch);
  }
  if (held.size === 0) return [];
  for (const { task, process, parked } of state.agents.values()) {
    // An agent of an earlier claim must not renew its successor's claim.
    const isOwn = task !== null && held.get(task.task_id) === task.epoch;
    if (isOwn && process === 'running' && parked === null) held.delete(task.task_id);
  }
  return [...held].map(([taskId, epoch]) => ({ taskId, epoch }));
}
