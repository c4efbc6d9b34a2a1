import type { AgentRun } from '../state/runs/agent-run.ts';
import { standingOf } from '../state/runs/standing.ts';
import type { State } from '../state/state.ts';
import type { Standing } from '../supervisor/contract.ts';
import { controlAgent } from './control-agent.ts';
import type { World } from './world.ts';

/** Tells supervisors how their agents stand, whenever that has changed. One that cannot be reached asks when it needs to know. */
export class Standings {
  readonly #world: World;
  readonly #told = new Map<string, Told>();

  constructor(world: World) {
    this.#world = world;
  }

  /** An agent that is seen for the first time is told too: what an earlier daemon told it last nobody knows. */
  look(state: State): void {
    if (state.agents.size === 0) return;
    const usesExitSignals = this.#world.usesExitSignals();
    for (const run of state.agents.values()) {
      if (run.process === 'running') this.#push(run, standingOf(state, run.id, usesExitSignals));
      else this.#told.delete(run.id);
    }
  }

  /** When the agent has been told what there is to tell: what is said to it then is heard in the right light. */
  async settled(agentId: string): Promise<void> {
    await this.#told.get(agentId)?.underWay;
  }

  #push(run: AgentRun, standing: Standing): void {
    const told = this.#told.get(run.id) ?? { text: '', next: undefined, underWay: undefined };
    this.#told.set(run.id, told);
    told.next = { run, standing, text: JSON.stringify({ start: run.start, standing }) };
    if (told.next.text !== told.text) told.underWay ??= this.#tell(told);
  }

  /** Until it has heard the newest. One that does not hear is left alone until the next look. */
  async #tell(told: Told): Promise<void> {
    while (told.next !== undefined && told.next.text !== told.text) {
      const { run, standing, text } = told.next;
      if (!(await this.#send(run, standing))) break;
      told.text = text;
    }
    told.underWay = undefined;
  }

  async #send(run: AgentRun, standing: Standing): Promise<boolean> {
    const where = { agentId: run.id, start: run.start };
    const answer = await controlAgent(where, { kind: 'standing', standing }, this.#world, this.#world.times.controlMs);
    return answer.ok;
  }
}

interface Told {
  /** What the supervisor heard last. */
  text: string;
  next: { readonly run: AgentRun; readonly standing: Standing; readonly text: string } | undefined;
  underWay: Promise<void> | undefined;
}
