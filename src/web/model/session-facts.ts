import type { AgentDetails } from '../../api/operations/runs.ts';
import type { SessionView } from '../../api/operations/task-view.ts';

/** The name of a session in an address: an agent, or a claim by hand. */
export type SessionId =
  | { readonly kind: 'agent'; readonly agentId: string }
  | { readonly kind: 'claim'; readonly taskId: string; readonly epoch: number };

/** Parses a session's id: `TASK:EPOCH` is a claim by hand; every other id is an agent's. */
export function parseSessionId(id: string): SessionId {
  const found = /^(.+):(\d+)$/s.exec(id);
  return found === null
    ? { kind: 'agent', agentId: id }
    : { kind: 'claim', taskId: found[1] ?? '', epoch: Number(found[2]) };
}

/** One session, by the known facts of its agent and its claim. */
export interface SessionFacts {
  readonly name: string;
  readonly state: string;
  readonly role: string | null;
  /** The client and the model. */
  readonly run: string | null;
  readonly model: string | null;
  readonly host: string | null;
  readonly sandbox: string | null;
  readonly holder: string | null;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly how: string | null;
  readonly reason: string | null;
  readonly tokens: number | null;
  readonly costMillicents: number | null;
  readonly turns: number | null;
  readonly blocks: number | null;
  readonly processes: number | null;
}

export function sessionFacts(agent: AgentDetails | undefined, session: SessionView | undefined): SessionFacts {
  const usage = agent?.usage ?? null;
  // A person's session has no turns and no blocked stops.
  const isByHand = session?.agent_id === null;
  return {
    name: agent?.name ?? session?.agent ?? session?.holder ?? '',
    state: agent?.status ?? session?.status ?? session?.how ?? 'running',
    role: session?.role ?? agent?.role ?? null,
    run: agent?.run ?? session?.run ?? null,
    model: session?.model ?? usage?.model ?? null,
    host: agent?.host ?? session?.host ?? null,
    sandbox: agent?.sandbox?.summary ?? session?.sandbox ?? null,
    holder: isByHand ? session.principal : null,
    startedAt: session?.started_at ?? agent?.requested_at ?? null,
    endedAt: session?.ended_at ?? (agent === undefined || agent.outcome === null ? null : (agent.exit?.at ?? null)),
    how: session?.how ?? agent?.outcome ?? null,
    reason: agent?.reason ?? session?.reason ?? null,
    tokens: session?.tokens ?? tokensOf(usage),
    costMillicents: session?.cost_millicents ?? usage?.cost_millicents ?? null,
    turns: isByHand ? null : (session?.turns ?? usage?.turns ?? null),
    blocks: isByHand ? null : (session?.blocks ?? null),
    processes: session?.processes ?? agent?.start ?? null,
  };
}

function tokensOf(usage: AgentDetails['usage']): number | null {
  return usage === null ? null : usage.input_tokens + usage.output_tokens + usage.cached_tokens;
}
