import { type AgentPlan, HANDLER_NAMES, type HandlerPlan } from '../../protocol/run-plan.ts';
import type { Standing } from '../../protocol/standing.ts';
import { renderTemplate, type TemplateContext } from '../../protocol/text/render-template.ts';
import type { Command } from '../../state/decide.ts';
import type { Events } from '../../state/event.ts';
import { isHere } from '../../state/fleet/owner.ts';
import type { AgentRun } from '../../state/runs/agent-run.ts';
import { standingOf } from '../../state/runs/standing.ts';
import type { State } from '../../state/state.ts';
import type { EffectContext } from '../context.ts';
import { agentContext } from '../template-context.ts';
import { sendControlToAgent } from './control.ts';

/** Sends a message to an agent through its supervisor, which delivers each message once, even if it is sent again. */
export async function sendMessage(
  { agent_id: agentId, message_id, text, wakes = false }: Events['MessageRequested'],
  context: EffectContext,
): Promise<readonly Command[]> {
  const found = await context.readState((state) => {
    const run = state.agents.get(agentId);
    // Environment variables are not expanded, because a message is recorded as written.
    return (
      run && {
        start: run.start,
        permission: permissionOf(state, agentId),
        text: fillMessage(run.plan, text, agentContext(state, run, { env: undefined, sessions: context.sessions })),
      }
    );
  });
  if (found === undefined) return [];
  const { permission, start } = found;
  const more = { ...(permission && { permission }), ...(wakes && { wakes }) };
  const message = { kind: 'send', message_id, text: found.text, ...more } as const;
  const answer = await sendControlToAgent({ agentId, start }, message, context, context.times.controlMs);
  const reason = answer.ok ? null : answer.reason;
  return [{ kind: 'deliver-message', command: { message_id, ok: answer.ok, reason } }];
}

/** The person's last answer, if the agent requested a permission. */
function permissionOf({ decisions }: State, agentId: string): 'allow' | 'deny' | undefined {
  const asked = [...decisions.values()].findLast((each) => each.agentId === agentId);
  if (asked?.source !== 'prompt' || asked.result?.kind !== 'resolved') return undefined;
  if (asked.result.action === 'approve') return 'allow';
  return asked.result.action === 'deny' ? 'deny' : undefined;
}

/** Expands the templates of a message from the runbook. Messages of people and agents are passed on unchanged. */
export function fillMessage(plan: AgentPlan, text: string, context: TemplateContext): string {
  if (!messagesOf(plan).includes(text)) return text;
  const rendered = renderTemplate(text, context, { quote: 'none' });
  return rendered.ok ? rendered.value : text;
}

function messagesOf(plan: AgentPlan): string[] {
  const handlers = HANDLER_NAMES.flatMap((name): readonly (HandlerPlan | undefined)[] =>
    name === 'on_error' ? Object.values(plan.on_error ?? {}) : [plan[name]],
  );
  return handlers.flatMap((handler) => handler?.message ?? []);
}

/** Pushes each agent's standing when it changes. A supervisor that cannot be reached requests it when needed. */
export class StandingPush {
  readonly #context: StandingContext;
  readonly #sent = new Map<string, SentStanding>();

  constructor(context: StandingContext) {
    this.#context = context;
  }

  /** Also sends to an agent that is new to this daemon, which does not know what the earlier daemon sent last. */
  reconcile(state: State): void {
    if (state.agents.size === 0) return;
    const usesExitSignals = this.#context.usesExitSignals();
    const here = this.#context.here();
    for (const run of state.agents.values()) {
      if (run.process === 'running' && isHere(run, state, here))
        this.#push(run, standingOf(state, run.id, usesExitSignals));
      else this.#sent.delete(run.id);
    }
  }

  /** Resolves when the agent has the current standing, so that later messages are not judged by an old one. */
  async untilDelivered(agentId: string): Promise<void> {
    await this.#sent.get(agentId)?.pending;
  }

  /** Sends even if unchanged, because a response may have carried a different standing in between. */
  #push(run: AgentRun, standing: Standing): void {
    const { at: _, ...content } = standing;
    const text = JSON.stringify({ start: run.start, ...content });
    const agent = this.#sent.get(run.id) ?? { run, standing, text: '', isSent: true, pending: undefined };
    this.#sent.set(run.id, agent);
    const isSent = agent.isSent && agent.text === text;
    Object.assign(agent, { run, standing, text, isSent });
    if (!isSent) agent.pending ??= this.#deliver(agent);
  }

  /** Sends until the supervisor has the newest standing. After a failure the next tick retries. */
  async #deliver(agent: SentStanding): Promise<void> {
    for (let isAccepted = true; isAccepted && !agent.isSent;) {
      agent.isSent = true;
      isAccepted = await this.#send(agent.run, agent.standing);
      agent.isSent &&= isAccepted;
    }
    agent.pending = undefined;
  }

  async #send(run: AgentRun, standing: Standing): Promise<boolean> {
    const where = { agentId: run.id, start: run.start };
    const { controlMs } = this.#context.times;
    return (await sendControlToAgent(where, { kind: 'standing', standing }, this.#context, controlMs)).ok;
  }
}

type StandingContext = Pick<EffectContext, 'stateDir' | 'supervisorToken' | 'usesExitSignals' | 'here'> & {
  readonly times: Pick<EffectContext['times'], 'controlMs'>;
};

interface SentStanding {
  run: AgentRun;
  standing: Standing;
  text: string;
  isSent: boolean;
  pending: Promise<void> | undefined;
}
