import type { AgentError } from '../protocol/run-plan.ts';
import { type Fields, fieldsOf } from '../protocol/shape/read-unknown.ts';

/** What a line of a client's output says, in the same words for every client. */
export type StreamEvent =
  /** The client's own id of the conversation: a resume goes on with it. */
  | { readonly kind: 'conversation'; readonly id: string }
  | { readonly kind: 'model'; readonly model: string }
  /** The agent's own words, to be joined as they come: where they are whole they end with a line break. */
  | { readonly kind: 'words'; readonly text: string }
  | { readonly kind: 'tool-started'; readonly id: string; readonly tool: string }
  | { readonly kind: 'tool-ended'; readonly id: string; readonly failed: boolean }
  | UsageEvent
  | AgentErrorEvent
  /** The client asks whether it may use a tool, or was refused because there was nobody to ask. */
  | { readonly kind: 'permission'; readonly tool: string; readonly what: string }
  | { readonly kind: 'turn-ended'; readonly failed: boolean };

export interface UsageEvent {
  readonly kind: 'usage';
  readonly usage: TokenUsage;
  /**
   * One turn, to be added; the whole conversation up to here, which stands in place of what was said before; or one message in a turn that is
   * not over, which is counted once however often it is told, until the turn is told whole.
   */
  readonly of: 'turn' | 'conversation' | 'message';
  /** Of a message, or of a conversation other than the agent's own: a subagent's. */
  readonly id?: string;
  /** Counts only for a message that is known already. */
  readonly isUpdate?: true;
  /** Of a conversation: what its last request used. */
  readonly request?: TokenUsage;
}

export interface AgentErrorEvent {
  readonly kind: 'error';
  /** Null: the client does not say what kind it is. */
  readonly error: AgentError | null;
  readonly message: string;
  /** RFC 3339; null where nobody said it. */
  readonly resetAt: string | null;
  /** The client waits and tries again by itself. */
  readonly isRetrying: boolean;
}

/** Tokens. What came out of a cache, or went into one, is not in `input`. */
export interface TokenUsage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** Thousandths of a cent; null where the client names no price. */
  readonly costMillicents: number | null;
}

/** Which kind an HTTP status of a model's API is. An overloaded server is waited for like a limit; null for what waiting does not mend. */
export function errorOfHttpStatus(status: number): AgentError | null {
  if (status === 401 || status === 403) return 'unauthorized';
  if (status === 402) return 'out_of_credits';
  if (status === 429 || status === 503 || status === 529) return 'rate_limited';
  return status >= 500 ? 'no_internet' : null;
}

/** The JSON object on a line; null if the line is something else, which clients print too. */
export function parseJsonFields(line: string): Fields | null {
  if (!line.startsWith('{')) return null;
  try {
    return fieldsOf(JSON.parse(line));
  } catch {
    return null;
  }
}

/** Seconds since 1970 as RFC 3339. */
export function renderEpochSeconds(value: unknown): string | null {
  return typeof value === 'number' && value > 0 && value < 1e11 ? new Date(value * 1000).toISOString() : null;
}
