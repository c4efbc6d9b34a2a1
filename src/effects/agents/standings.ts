import type { AgentRun } from '../../state/runs/agent-run.ts';
import { standingOf } from '../../state/runs/standing.ts';
import type { State } from '../../state/state.ts';
import type { Standing } from '../../supervisor/contract.ts';
import { sendControlToAgent } from './control-agent.ts';
import type { EffectContext } from '../context.ts';

/** Tells supervisors how their agents stand, whenever that has changed. One that cannot be reached asks when it needs to know. */
export class StandingPush {
  readonly #world: StandingContext;
  readonly #told = new Map<string, SentStanding>();

  constructor(world: StandingContext) {
    this.#world = world;
  }

  /** An agent that is seen for the first time is told too: what an earlier daemon told it last nobody knows. */
  reconcile(state: State): void {
    if (state.agents.size === 0) return;
    const usesExitSignals = this.#world.usesExitSignals();
    for (const run of state.agents.values()) {
      if (run.process === 'running') this.#push(run, standingOf(state, run.id, usesExitSignals));
      else this.#told.delete(run.id);
    }
  }

  /** When the agent has been told what there is to tell: what is said to it then is heard in the right light. */
  async untilDelivered(agentId: string): Promise<void> {
    await this.#told.get(agentId)?.underWay;
  }

  /** Also where it stands again as it was told last: it may have heard in an answer how it stood in between. */
  #push(run: AgentRun, standing: Standing): void {
    const { at: _, ...says } = standing;
    const text = JSON.stringify({ start: run.start, ...says });
    const agent = this.#told.get(run.id) ?? { run, standing, text: '', isTold: true, underWay: undefined };
    this.#told.set(run.id, agent);
    const isTold = agent.isTold && agent.text === text;
    Object.assign(agent, { run, standing, text, isTold });
    if (!isTold) agent.underWay ??= this.#deliver(agent);
  }

  /** Until it has heard the newest. One that does not hear is left alone until the next look. */
  async #deliver(agent: SentStanding): Promise<void> {
    for (let isHeard = true; isHeard && !agent.isTold;) {
      agent.isTold = true;
      isHeard = await this.#send(agent.run, agent.standing);
      agent.isTold &&= isHeard;
    }
    agent.underWay = undefined;
  }

  async #send(run: AgentRun, standing: Standing): Promise<boolean> {
    const where = { agentId: run.id, start: run.start };
    const answer = await sendControlToAgent(
      where,
      { kind: 'standing', standing },
      this.#world,
      this.#world.times.controlMs,
    );
    return answer.ok;
  }
}

type StandingContext = Pick<EffectContext, 'stateDir' | 'supervisorToken' | 'usesExitSignals'> & {
  readonly times: Pick<EffectContext['times'], 'controlMs'>;
};

interface SentStanding {
  run: AgentRun;
  standing: Standing;
  /** What the standing says, without its number. */
  text: string;
  isTold: boolean;
  underWay: Promise<void> | undefined;
}
