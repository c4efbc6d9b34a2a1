import type { AgentPlan, WorkerPlan } from '../../protocol/run-plan.ts';
import * as fleet from '../../state/fleet/say.cases.ts';
import { effectOwner } from '../../state/fleet/owner.ts';
import type { Rules } from '../../state/rules.ts';
import * as runs from '../../state/runs/say.cases.ts';
import { Play } from '../play.cases.ts';

/** The hosts alpha, beta and so on of one fleet. Alpha founded it and decides first. */
export function playFleet(hosts: readonly string[] = ['alpha', 'beta'], rules: Partial<Rules> = {}): Play {
  const [founder = 'alpha', ...others] = hosts;
  const play = new Play(rules).on(founder).say(fleet.found(founder));
  for (const host of others) play.order(fleet.admit(host));
  return play;
}

export function coders(more: Partial<WorkerPlan> = {}, agent: Partial<AgentPlan> = {}): WorkerPlan {
  return { name: 'coders', concurrency: 9, plan: { kind: 'agent', agent: runs.agentPlan(agent) }, ...more };
}

/** The owner of every owed effect, as `owner: type`. */
export function owners({ state }: Play): string[] {
  return [...state.effects.values()].map((effect) => {
    const owner = effectOwner(effect, state);
    return `${owner === 'caretaker' ? owner : owner.host}: ${effect.type}`;
  });
}
