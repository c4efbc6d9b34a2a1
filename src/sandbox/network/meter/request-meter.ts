/** The tokens of one request, as an API bills them. `input` excludes `cached`, and includes what is written to a cache. */
export interface TokenUse {
  /** Null if the answer names no model. */
  readonly model: string | null;
  readonly input: number;
  readonly output: number;
  readonly cached: number;
}

export const NO_TOKENS: TokenUse = { model: null, input: 0, output: 0, cached: 0 };

/** A request that will use an injected key. */
export interface MeteredRequest {
  /** The estimated input, before the answer is known. */
  readonly input: number;
  /** Ends the request and settles it, because its process has ended. */
  abandon(): void;
}

export type Admission =
  | { readonly ok: true; /** Called once, when the answer has ended. */ settle(used: TokenUse): void }
  | { readonly ok: false; readonly reason: string };

/** Counts the requests that use an injected key, and stops them at the budget. The supervisor implements it. */
export interface RequestMeter {
  admit(request: MeteredRequest): Promise<Admission>;
}
