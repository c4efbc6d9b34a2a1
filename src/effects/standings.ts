import type { AgentRun } from '../state/runs/agent-run.ts';
import { standingOf } from '../state/runs/standing.ts';
import type { State } from '../state/state.ts';
import type { Standing } from '../supervisor/contract.ts';
import { controlAgent } from './control-agent.ts';
import type { World } from './world.ts';

/** Tells supervisors how their agents stand, whenever that has changed. One that cannot be reached asks when it needs to know. */
export class Standings {
  readonly #world: World;
  /** What each was told last, as text; empty while a word is under way. */
  readonly #told = new Map<string, { text: string; isUnderWay: boolean }>();

  constructor(world: World) {
    this.#world = world;
  }

  look(state: State): void {
    if (state.agents.size === 0) return;
    for (const run of state.agents.values()) {
      if (run.process === 'running') this.#push(run, standingOf(state, run.id, this.#world.usesExitSignals()));
      else this.#told.delete(run.id);
    }
  }

  #push(run: AgentRun, standing: Standing): void {
    const told = this.#told.get(run.id);
    const text = JSON.stringify({ start: run.start, standing });
    if (told?.text === text || told?.isUnderWay === true) return;
    // A supervisor asks at its own start: what it needs to be told is what has changed since.
    if (told === undefined && isUsual(standing)) {
      this.#told.set(run.id, { text, isUnderWay: false });
      return;
    }
    const entry = { text: told?.text ?? '', isUnderWay: true };
    this.#told.set(run.id, entry);
    void this.#send(run, standing).then((isHeard) => {
      entry.isUnderWay = false;
      if (isHeard) entry.text = text;
    });
  }

  async #send(run: AgentRun, standing: Standing): Promise<boolean> {
    const where = { agentId: run.id, start: run.start };
    const answer = await controlAgent(where, { kind: 'standing', standing }, this.#world, this.#world.times.controlMs);
    return answer.ok;
  }
}

/** At work, with nothing said yet. What it owes it heard when it was launched. */
function isUsual({ has_signalled, is_owned, is_parked }: Standing): boolean {
  return !has_signalled && is_owned && !is_parked;
}
