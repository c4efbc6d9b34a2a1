import type { AgentError } from '../protocol/run-plan.ts';
import { type Fields, fieldsOf } from '../protocol/shape/read-unknown.ts';

/** An event of a client's output, in the same form for all clients. */
export type StreamEvent =
  /** The client's id of the conversation, for resuming. */
  | { readonly kind: 'conversation'; readonly id: string }
  | { readonly kind: 'model'; readonly model: string }
  /** The agent's text in pieces to join; a complete piece ends with a line break. */
  | { readonly kind: 'words'; readonly text: string }
  | {
      readonly kind: 'tool-started';
      readonly id: string;
      readonly tool: string;
      /** Set for a call of Baton's own MCP server, with the arguments as the client states them. */
      readonly baton?: BatonCall;
    }
  | { readonly kind: 'tool-ended'; readonly id: string; readonly failed: boolean }
  | UsageEvent
  | AgentErrorEvent
  /** The client asks for permission for a tool, or was refused because no person could answer. */
  | { readonly kind: 'permission'; readonly tool: string; readonly what: string }
  | { readonly kind: 'turn-ended'; readonly failed: boolean };

/** A tool of Baton that the client's model calls. */
export interface BatonCall {
  readonly tool: string;
  readonly input: unknown;
}

export interface UsageEvent {
  readonly kind: 'usage';
  readonly usage: TokenUsage;
  /**
   * `turn`: is added to the total. `conversation`: replaces earlier totals. `message`: counts once per id until its
   * turn is reported.
   */
  readonly of: 'turn' | 'conversation' | 'message';
  /** The id of the message, or of a subagent's conversation. */
  readonly id?: string;
  /** Set if the event counts only for a known message. */
  readonly isUpdate?: true;
  /** The usage of a conversation's last request. */
  readonly request?: TokenUsage;
}

export interface AgentErrorEvent {
  readonly kind: 'error';
  /** Null if the client reports no kind. */
  readonly error: AgentError | null;
  readonly message: string;
  /** RFC 3339; null if unknown. */
  readonly resetAt: string | null;
  /** Whether the client waits and retries by itself. */
  readonly isRetrying: boolean;
}

/** Tokens. `input` excludes tokens read from or written to a cache. */
export interface TokenUsage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** Thousandths of a cent; null if the client reports no price. */
  readonly costMillicents: number | null;
}

/** Maps an HTTP status of a model API to an error; overload counts as a limit. Null if waiting does not help. */
export function errorOfHttpStatus(status: number): AgentError | null {
  if (status === 401 || status === 403) return 'unauthorized';
  if (status === 402) return 'out_of_credits';
  if (status === 429 || status === 503 || status === 529) return 'rate_limited';
  return status >= 500 ? 'no_internet' : null;
}

/** Returns the call if the client's name of the tool begins as it names the tools of Baton's server. */
export function batonCall(prefix: string, name: unknown, input: unknown): { readonly baton?: BatonCall } {
  if (typeof name !== 'string' || !name.startsWith(prefix)) return {};
  return { baton: { tool: name.slice(prefix.length), input: input ?? {} } };
}

/** The JSON object of a line; null for other output. */
export function parseJsonFields(line: string): Fields | null {
  if (!line.startsWith('{')) return null;
  try {
    return fieldsOf(JSON.parse(line));
  } catch {
    return null;
  }
}

export function renderEpochSeconds(value: unknown): string | null {
  return typeof value === 'number' && value > 0 && value < 1e11 ? new Date(value * 1000).toISOString() : null;
}
