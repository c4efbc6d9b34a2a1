import type { Caller } from '../../state/caller.ts';
import type { Decision } from '../../state/runs/decision.ts';
import type { Host, Reply } from '../world/parts.ts';
import { type Acts, ANN, BOB, pick, type Scene } from './scene.ts';
import { standaloneAgent } from './plans.ts';

/** What people do about the questions of a project. */
export const DECISION_ACTS = {
  answer: (scene) =>
    withOpen(scene, (decision) => void answer(scene.host, decision, choose(decision, scene.n), scene.who)),
  'answer late': (scene) =>
    withOpen(scene, (decision) => {
      const { world, host, who, n } = scene;
      world.timetable.in(world.random.between(30_000, 200_000), () => answer(host, decision, choose(decision, n), who));
    }),
  contradict: (scene) =>
    withOpen(scene, (decision) => {
      const { world, host, n } = scene;
      answer(host, decision, choose(decision, n), ANN);
      answer(world.upHost(n + 1) ?? host, decision, choose(decision, n + 1), BOB);
    }),
  'click twice': (scene) =>
    withOpen(scene, (decision) => {
      const { host, who, n } = scene;
      answer(host, decision, choose(decision, n), who, 10_000);
      answer(host, decision, choose(decision, n), who, 10_000);
    }),
  'answer all': ({ host, say, n }) => {
    const open = openDecisions(host);
    const effectiveAt = new Date(host.nowMs + 10_000).toISOString();
    const answers = open.map((decision) => ({ id: decision.id, option: choose(decision, n), ...messageFor(decision, choose(decision, n)) })); // prettier-ignore
    return open.length > 0 && say({ kind: 'answer-decisions', command: { answers, effectiveAt } });
  },
  undo: ({ host, say }) => {
    const pending = [...host.state.decisions.values()].find((each) => each.answer !== undefined);
    return pending !== undefined && say({ kind: 'undo-answer', command: { id: pending.id } });
  },
} satisfies Acts;

function openDecisions({ state }: Host): readonly Decision[] {
  return [...state.decisions.values()].filter(({ result }) => result === null);
}

function withOpen({ host, n }: Scene, then: (decision: Decision) => void): boolean {
  const decision = pick(openDecisions(host), n);
  if (decision !== undefined) then(decision);
  return decision !== undefined;
}

/** Mostly the recommended option. */
function choose({ options }: Decision, n: number): number {
  return n % 3 > 0 ? 1 : 1 + (n % options.length);
}

export function answer(host: Host, decision: Decision, option: number, caller: Caller, delayMs?: number): Reply {
  const action = decision.options[option - 1]?.action;
  const effectiveAt = delayMs === undefined ? {} : { effectiveAt: new Date(host.nowMs + delayMs).toISOString() };
  const role = host.state.tasks.get(decision.taskId ?? '')?.nextRole ?? undefined;
  const handTo =
    action === 'hand_over' ? { handTo: { ...standaloneAgent(0), name: 'spare', ...(role ? { role } : {}) } } : {};
  const command = { id: decision.id, option, ...messageFor(decision, option), ...handTo, ...effectiveAt };
  return host.submit({ kind: 'resolve-decision', command }, caller);
}

function messageFor({ options }: Decision, option: number): { readonly message?: string } {
  const action = options[option - 1]?.action;
  return action === 'send_back' || action === 'nudge' ? { message: 'do it like this' } : {};
}
