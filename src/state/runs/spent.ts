import type { AgentRun } from './agent-run.ts';

export const NO_SPENDING = {
  input_tokens: 0,
  output_tokens: 0,
  cached_tokens: 0,
  /** Thousandths of a cent. */
  cost_millicents: 0,
  /** Tokens without a known price, which the cost does not include. */
  unpriced_tokens: 0,
  turns: 0,
  /** Tokens that were used while the agent only waited. */
  waiting_tokens: 0,
  work_ms: 0,
  /** Time spent waiting for a person, or for the end of a limit. */
  wait_ms: 0,
  /** The tokens that Baton has measured; the others are as the client reports them. */
  measured_tokens: 0,
  /** What the clients report for the measured tokens. */
  client_tokens: 0,
};

/** All values are whole numbers and only grow. */
export type Spending = Readonly<typeof NO_SPENDING>;

const SPENDING_NAMES = Object.keys(NO_SPENDING) as (keyof Spending)[]; // oxlint-disable-line typescript/no-unsafe-type-assertion

export function addSpending(a: Spending, b: Spending): Spending {
  return combine(a, b, 1);
}

export function subtractSpending(a: Spending, b: Spending): Spending {
  return combine(a, b, -1);
}

/** Input, output and cached tokens, which a token budget counts. */
export function tokensIn(spent: Pick<Spending, 'input_tokens' | 'output_tokens' | 'cached_tokens'>): number {
  return spent.input_tokens + spent.output_tokens + spent.cached_tokens;
}

/** An agent's spending without the current interval. */
export function agentSpending({ usage, workMs: work_ms, waitMs: wait_ms }: AgentRun): Spending {
  if (usage === null) return { ...NO_SPENDING, work_ms, wait_ms };
  const { input_tokens, output_tokens, cached_tokens, turns, waiting_tokens, unpriced_tokens = 0 } = usage;
  const tokens = { input_tokens, output_tokens, cached_tokens, unpriced_tokens, waiting_tokens };
  const measured_tokens = usage.client_tokens === undefined ? 0 : tokensIn(usage);
  const measured = { measured_tokens, client_tokens: usage.client_tokens ?? 0 };
  return {
    ...NO_SPENDING,
    ...tokens,
    ...measured,
    cost_millicents: usage.cost_millicents ?? 0,
    turns,
    work_ms,
    wait_ms,
  };
}

/** The category of an agent's time from now on: work, waiting for a person or a limit, or none. */
export function timeCategory({ outcome, process, parked, limited }: AgentRun): 'work' | 'wait' | 'off' {
  if (outcome === null && (parked !== null || limited)) return 'wait';
  return process === 'running' ? 'work' : 'off';
}

/** Splits an interval into milliseconds per UTC day. */
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

/** The UTC day, such as `2026-11-15`. */
export function dayOf(at: string): string {
  return at.slice(0, 10);
}

export function nextDayMs(at: number): number {
  return (Math.floor(at / DAY_MS) + 1) * DAY_MS;
}

const DAY_MS = 86_400_000;

/** A snapshot of an earlier version may lack a field. */
function combine(a: Partial<Spending>, b: Partial<Spending>, sign: 1 | -1): Spending {
  const sum = { ...NO_SPENDING };
  for (const name of SPENDING_NAMES) sum[name] = (a[name] ?? 0) + sign * (b[name] ?? 0);
  return sum;
}
