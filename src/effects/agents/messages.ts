import type { AgentPlan, HandlerPlan } from '../../protocol/run-plan.ts';
import { renderTemplate, type TemplateContext } from '../../protocol/text/render-template.ts';
import type { Command } from '../../state/decide.ts';
import type { Events } from '../../state/event.ts';
import type { AgentRun } from '../../state/runs/agent-run.ts';
import { standingOf } from '../../state/runs/standing.ts';
import type { State } from '../../state/state.ts';
import type { Standing } from '../../supervisor/contract.ts';
import type { EffectContext } from '../context.ts';
import { agentContext } from '../template-context.ts';
import { sendControlToAgent } from './control.ts';

/** Sends a message to an agent through its supervisor, which delivers each message once however often it is sent. */
export async function sendMessage(
  { agent_id: agentId, message_id, text, wakes = false }: Events['MessageRequested'],
  world: EffectContext,
): Promise<readonly Command[]> {
  const found = await world.readState((state) => {
    const run = state.agents.get(agentId);
    // The environment has no place in a message: it is on record as it was written.
    return (
      run && {
        start: run.start,
        permission: permissionOf(state, agentId),
        text: fillMessage(run.plan, text, agentContext(state, run, { env: undefined, sessions: world.sessions })),
      }
    );
  });
  if (found === undefined) return [];
  const { permission, start } = found;
  const message = {
    kind: 'send',
    message_id,
    text: found.text,
    ...(permission && { permission }),
    ...(wakes && { wakes }),
  } as const;
  const answer = await sendControlToAgent({ agentId, start }, message, world, world.times.controlMs);
  const reason = answer.ok ? null : answer.reason;
  return [{ kind: 'deliver-message', command: { message_id, ok: answer.ok, reason } }];
}

/** What a person decided last, where the agent had asked them for permission. */
function permissionOf({ decisions }: State, agentId: string): 'allow' | 'deny' | undefined {
  const asked = [...decisions.values()].findLast((each) => each.agentId === agentId);
  if (asked?.source !== 'prompt' || asked.result?.kind !== 'resolved') return undefined;
  if (asked.result.action === 'approve') return 'allow';
  return asked.result.action === 'deny' ? 'deny' : undefined;
}

/**
 * What an agent, or a person, is told: a message of the runbook with its templates filled in; anything else, which a person or an agent
 * has said, as it stands.
 */
export function fillMessage(plan: AgentPlan, text: string, context: TemplateContext): string {
  if (!messagesOf(plan).includes(text)) return text;
  const rendered = renderTemplate(text, context, { quote: 'none' });
  return rendered.ok ? rendered.value : text;
}

function messagesOf({ on_stop, on_idle, on_dead, on_error = {}, on_prompt }: AgentPlan): string[] {
  const handlers: (HandlerPlan | undefined)[] = [on_stop, on_idle, on_dead, on_prompt, ...Object.values(on_error)];
  return handlers.flatMap((handler) => handler?.message ?? []);
}

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
