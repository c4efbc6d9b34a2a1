/**
 * The behaviour of a scripted model: a list of turns, played in order, one for each request of the conversation. After
 * the last turn the model answers with status 418, which no client retries, so that the test fails with a reason.
 */
export type Script = readonly Turn[];

/** A turn is a reply, or a function that chooses one for a request. */
export type Turn = Reply | ((asked: Asked) => Reply);

export type Reply =
  | { readonly kind: 'text'; readonly text: string; readonly usage?: Partial<Usage> }
  | {
      readonly kind: 'tool';
      readonly tool: string;
      readonly input: object;
      readonly text?: string;
      readonly usage?: Partial<Usage>;
    }
  /** An answer with this status, in the API's format; `more` is added to its error object. */
  | {
      readonly kind: 'error';
      readonly status: number;
      readonly error: string;
      readonly message: string;
      readonly headers?: Headers;
      readonly more?: object;
    }
  /** The connection breaks before the answer. */
  | { readonly kind: 'cut' }
  /** No answer until the client gives up or the server is closed. */
  | { readonly kind: 'silence' };

type Headers = Readonly<Record<string, string>>;

export interface Usage {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
}

/** A request for a turn, through any API. */
export interface Asked {
  readonly model: string;
  readonly messages: readonly Message[];
  /** The names of the tools that the model may use. */
  readonly tools: readonly string[];
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Message {
  readonly role: 'user' | 'model' | 'tool';
  readonly text: string;
}

export function says(text: string, usage: Partial<Usage> = {}): Reply {
  return { kind: 'text', text, usage };
}

export function uses(tool: string, input: object, usage: Partial<Usage> = {}): Reply {
  return { kind: 'tool', tool, input, usage };
}

export function fails(status: number, error: string, message: string, headers: Headers = {}, more: object = {}): Reply {
  return { kind: 'error', status, error, message, headers, more };
}

/** The usage of every reply, if the script sets none. */
export function usageOf(usage: Partial<Usage> | undefined): Usage {
  return { input: 100, cached: 20, output: 7, ...usage };
}
