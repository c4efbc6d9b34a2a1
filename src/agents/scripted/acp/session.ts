import { RPC, RpcError } from '../../../acp/connection.ts';
import type { StopReason } from '../../../acp/messages.ts';
import type { Used } from '../face.ts';
import { DEFAULT_MODE, DEFAULT_MODEL } from './session-options.ts';

/** A prompt. It is answered when its turn ends. */
interface Turn {
  readonly message: string;
  readonly cancellation: AbortController;
  readonly resolve: (response: object) => void;
  readonly reject: (error: RpcError) => void;
  used: Required<Omit<Used, 'cost'>> | undefined;
}

/** One conversation with a client: a queue of prompts, and the turn that is being played. */
export class AcpSession {
  readonly id: string;
  readonly cwd: string;
  mode: string = DEFAULT_MODE;
  model: string = DEFAULT_MODEL;
  /** Set by a hostile script: cancellation has no effect. */
  ignoresCancel = false;
  readonly #queue: Turn[] = [];
  #turn: Turn | undefined;
  #isClosed = false;
  #wake = (): void => {};

  constructor(id: string, cwd: string) {
    this.id = id;
    this.cwd = cwd;
  }

  /** Queues a prompt and resolves when its turn ends. */
  async prompt(message: string, signal: AbortSignal): Promise<object> {
    if (this.#isClosed) throw new RpcError(RPC.internalError, 'the session is over');
    return new Promise((resolve, reject) => {
      const turn = { message, cancellation: new AbortController(), resolve, reject, used: undefined };
      signal.addEventListener('abort', () => this.#cancel([turn]), { once: true });
      this.#queue.push(turn);
      this.#wake();
    });
  }

  /** Cancels the current turn and the queued prompts. */
  cancel(): void {
    this.#cancel([...(this.#turn === undefined ? [] : [this.#turn]), ...this.#queue]);
  }

  /** Called when the client has disconnected: no further prompt follows. */
  close(): void {
    this.#isClosed = true;
    this.cancel();
    this.#wake();
  }

  /** Aborts when the current turn is cancelled. */
  get signal(): AbortSignal {
    return this.#turn?.cancellation.signal ?? NEVER;
  }

  /**
   * Starts the next turn and returns its prompt; undefined if none will follow. Ends the current turn first if it is
   * still open.
   */
  async nextMessage(): Promise<string | undefined> {
    for (;;) {
      if (this.signal.aborted) this.endTurn('cancelled');
      const next = this.#queue.shift();
      if (next !== undefined) {
        this.endTurn('end_turn');
        this.#turn = next;
        if (!next.cancellation.signal.aborted) return next.message;
      } else if (this.#isClosed) return undefined;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  use({ input = 0, output = 0, cached = 0 }: Used): void {
    const before = this.#turn?.used ?? { input: 0, output: 0, cached: 0 };
    const used = { input: before.input + input, output: before.output + output, cached: before.cached + cached };
    if (this.#turn !== undefined) this.#turn.used = used;
  }

  endTurn(stopReason: StopReason): void {
    this.#turn?.resolve({ stopReason, ...usageOf(this.#turn) });
    this.#turn = undefined;
  }

  failTurn(error: RpcError): void {
    this.#turn?.reject(error);
    this.#turn = undefined;
  }

  #cancel(turns: readonly Turn[]): void {
    if (this.ignoresCancel) return;
    for (const turn of turns) turn.cancellation.abort();
    this.#wake();
  }
}

const NEVER = new AbortController().signal;

/** The `usage` field of a prompt's response is not yet part of the stable protocol, but agents send it. */
function usageOf({ used }: Turn): object {
  if (used === undefined) return {};
  const { input, output, cached } = used;
  const usage = { inputTokens: input, outputTokens: output, cachedReadTokens: cached };
  return { usage: { totalTokens: input + output + cached, ...usage } };
}
