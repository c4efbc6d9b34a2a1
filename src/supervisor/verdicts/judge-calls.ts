import { isSeparated, isVerdictCall, type Judge } from '../../protocol/handoff/judge.ts';
import { type Fields, fieldsOf, textOf } from '../../protocol/shape/read-unknown.ts';
import type { BatonCall } from '../../streams/stream-event.ts';
import { CallMatcher } from './call-matcher.ts';

/** What the supervisor of a judging session checks before it forwards a request. */
export class JudgeCalls {
  readonly #judge: Judge | undefined;
  readonly #matcher: CallMatcher;

  constructor(judge: Judge | undefined, matcher: CallMatcher = new CallMatcher()) {
    this.#judge = judge;
    this.#matcher = matcher;
  }

  /** Whether the session sends its verdict only as tool calls. */
  get isSeparated(): boolean {
    return this.#judge !== undefined && isSeparated(this.#judge);
  }

  onPrinted(call: BatonCall): void {
    if (this.#judge?.stream === true) this.#matcher.note(call);
  }

  /**
   * Checks the body of a request to `/mcp`. `plain`: it states no verdict. `matched`: every verdict in it is in the
   * client's output. `unmatched`: the tool of one that is not.
   */
  async check(body: Buffer): Promise<CheckedBody> {
    if (this.#judge?.stream !== true) return { kind: 'plain' };
    const messages = parseMessages(body);
    const verdicts = messages.flatMap(verdictIn);
    if (verdicts.length === 0) return { kind: 'plain' };
    for (const verdict of verdicts) {
      if (await this.#matcher.take(verdict)) continue;
      return this.isSeparated ? { kind: 'unmatched', tool: verdict.tool, messages } : { kind: 'plain' };
    }
    return { kind: 'matched' };
  }
}

export type CheckedBody =
  | { readonly kind: 'plain' }
  | { readonly kind: 'matched' }
  | { readonly kind: 'unmatched'; readonly tool: string; readonly messages: readonly Fields[] };

/** One message, or a batch. The daemon refuses what is no JSON. */
function parseMessages(body: Buffer): readonly Fields[] {
  try {
    const parsed: unknown = JSON.parse(body.toString('utf8'));
    return (Array.isArray(parsed) ? parsed : [parsed]).map(fieldsOf);
  } catch {
    return [];
  }
}

function verdictIn({ method, params }: Fields): readonly BatonCall[] {
  const { name, arguments: input = {} } = fieldsOf(params);
  const tool = textOf(name);
  return method === 'tools/call' && isVerdictCall(tool, input) ? [{ tool, input }] : [];
}

/** The responses to a request that is not forwarded: an error for each message that expects an answer. */
export function refuseMessages(messages: readonly Fields[], isBatch: boolean, reason: string): object {
  const errors = messages.flatMap(({ id }) =>
    id === undefined ? [] : [{ jsonrpc: '2.0', id, error: { code: REFUSED, message: reason } }],
  );
  return isBatch ? errors : (errors[0] ?? {});
}

/** A code of JSON-RPC for the application's own errors. */
const REFUSED = -32_001;
