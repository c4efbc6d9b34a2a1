import type { AgentRun } from './agent-run.ts';

/** All values are whole numbers and only grow. */
export interface Spending {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cached_tokens: number;
  /** Thousandths of a cent. */
  readonly cost_millicents: number;
  /** Tokens without a known price: they are missing from the cost. */
  readonly unpriced_tokens: number;
  readonly turns: number;
  /** Tokens that were used while the agent only waited. */
  readonly waiting_tokens: number;
  readonly work_ms: number;
  /** Waiting for a person, or for the end of a limit. */
  readonly wait_ms: number;
}

export const NO_SPENDING: Spending = {
  input_tokens: 0,
  output_tokens: 0,
  cached_tokens: 0,
  cost_millicents: 0,
  unpriced_tokens: 0,
  turns: 0,
  waiting_tokens: 0,
  work_ms: 0,
  wait_ms: 0,
};

export function addSpending(a: Spending, b: Spending): Spending {
  return combine(a, b, 1);
}

export function subtractSpending(a: Spending, b: Spending): Spending {
  return combine(a, b, -1);
}

/** Input, output and cached tokens: what a token budget counts. */
export function tokensIn({ input_tokens, output_tokens, cached_tokens }: Pick<Spending, TokenName>): number {
  return input_tokens + output_tokens + cached_tokens;
}

type TokenName = 'input_tokens' | 'output_tokens' | 'cached_tokens';

/** Without the current interval. */
export function agentSpending({ usage, workMs: work_ms, waitMs: wait_ms }: AgentRun): Spending {
  if (usage === null) return { ...NO_SPENDING, work_ms, wait_ms };
  const { input_tokens, output_tokens, cached_tokens, turns, waiting_tokens, unpriced_tokens = 0 } = usage;
  const cost_millicents = usage.cost_millicents ?? 0;
  const tokens = { input_tokens, output_tokens, cached_tokens, unpriced_tokens, waiting_tokens };
  return { ...tokens, cost_millicents, turns, work_ms, wait_ms };
}

/** What the agent's time counts as from now on: work, waiting for a person or a limit, or nothing. */
export function timeCategory({ outcome, process, parked, limited }: AgentRun): 'work' | 'wait' | 'off' {
  if (outcome === null && (parked !== null || limited)) return 'wait';
  return process === 'running' ? 'work' : 'off';
}

/** Milliseconds of an interval, per UTC day. */
export function splitByDay(from: string, to: string): { readonly day: string; readonly ms: number }[] {
  const end = Date.parse(to);
  const parts: { readonly day: string; readonly ms: number }[] = [];
  for (let at = Date.parse(from); at < end;) {
    const next = Math.min(end, nextDayMs(at));
    parts.push({ day: dayOf(new Date(at).toISOString()), ms: next - at });
    at = next;
  }
  return parts;
}

/** As in `2026-11-15`, in UTC. */
export function dayOf(at: string): string {
  return at.slice(0, 10);
}

export function nextDayMs(at: number): number {
  return (Math.floor(at / DAY_MS) + 1) * DAY_MS;
}

const DAY_MS = 86_400_000;

function combine(a: Spending, b: Spending, sign: 1 | -1): Spending {
  return {
    input_tokens: a.input_tokens + sign * b.input_tokens,
    output_tokens: a.output_tokens + sign * b.output_tokens,
    cached_tokens: a.cached_tokens + sign * b.cached_tokens,
    cost_millicents: a.cost_millicents + sign * b.cost_millicents,
    unpriced_tokens: a.unpriced_tokens + sign * b.unpriced_tokens,
    turns: a.turns + sign * b.turns,
    waiting_tokens: a.waiting_tokens + sign * b.waiting_tokens,
    work_ms: a.work_ms + sign * b.work_ms,
    wait_ms: a.wait_ms + sign * b.wait_ms,
  };
}
