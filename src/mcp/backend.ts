import type { Answer } from '../api/answer.ts';

/** Who performs operations: the daemon itself, or a client of it. Never throws for anything that a caller did. */
export interface Backend {
  readonly call: (operation: string, input: unknown, options: BackendCall) => Promise<Answer>;
}

export interface BackendCall {
  /** Who speaks; the backend's own worker where left out. */
  readonly token?: string;
  /** A write with the same key happens once, however often it is sent. */
  readonly key?: string;
  /** The client's own name for the conversation, where it sends one along. */
  readonly conversation?: string;
  /** Aborted when whoever asked does not want the answer any more. */
  readonly signal?: AbortSignal;
}
