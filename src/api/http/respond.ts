import type { ServerResponse } from 'node:http';
import { ERROR_STATUS, type Answer } from '../answer.ts';

export interface RespondOptions {
  /** Closes the connection after the response; needed if the body was not read. */
  readonly closes?: boolean;
  readonly otherStatus?: number;
}

/** What a server adds to its responses, such as a signature or compression. */
export interface ResponseFinish {
  /** Sends a whole response; called at most once. */
  readonly send: (status: number, headers: readonly string[], text: string) => void;
  /** Added to the headers of an event stream. */
  readonly streamHeaders: () => Readonly<Record<string, string>>;
}

const FINISHES = new WeakMap<ServerResponse, ResponseFinish>();

export function setFinish(response: ServerResponse, finish: ResponseFinish): void {
  FINISHES.set(response, finish);
}

export function streamHeadersOf(response: ServerResponse): Readonly<Record<string, string>> {
  return FINISHES.get(response)?.streamHeaders() ?? {};
}

export function sendAnswer(response: ServerResponse, answer: Answer, options: RespondOptions = {}): void {
  const { closes = false, otherStatus = 409 } = options;
  sendJson(response, answer.ok ? 200 : (ERROR_STATUS[answer.error.code] ?? otherStatus), answer, closes);
}

/** Sends nothing if a response has begun or the client has disconnected. */
export function sendJson(response: ServerResponse, status: number, value: object, closes = false): void {
  if (response.headersSent || response.destroyed) return;
  const text = JSON.stringify(value);
  const headers = ['content-type', 'application/json; charset=utf-8', 'cache-control', 'no-store'];
  headers.push('x-content-type-options', 'nosniff');
  if (status === 401) headers.push('www-authenticate', 'Bearer');
  if (closes) headers.push('connection', 'close');
  const finish = FINISHES.get(response);
  if (finish !== undefined) return finish.send(status, headers, text);
  response.writeHead(status, [...headers, 'content-length', String(Buffer.byteLength(text))]);
  response.end(text);
}
