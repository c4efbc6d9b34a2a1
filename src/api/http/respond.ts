import type { ServerResponse } from 'node:http';
import { ERROR_STATUS, type Answer } from '../answer.ts';

export interface RespondOptions {
  /** Closes the connection after the response; needed if the body was not read. */
  readonly closes?: boolean;
  readonly otherStatus?: number;
}

export function sendAnswer(response: ServerResponse, answer: Answer, options: RespondOptions = {}): void {
  const { closes = false, otherStatus = 409 } = options;
  sendJson(response, answer.ok ? 200 : (ERROR_STATUS[answer.error.code] ?? otherStatus), answer, closes);
}

/** Sends nothing if a response has begun or the client has gone. */
export function sendJson(response: ServerResponse, status: number, value: object, closes = false): void {
  if (response.headersSent || response.destroyed) return;
  const text = JSON.stringify(value);
  const headers = [
    'content-type',
    'application/json; charset=utf-8',
    'content-length',
    String(Buffer.byteLength(text)),
    'cache-control',
    'no-store',
    'x-content-type-options',
    'nosniff',
  ];
  if (status === 401) headers.push('www-authenticate', 'Bearer');
  if (closes) headers.push('connection', 'close');
  response.writeHead(status, headers);
  response.end(text);
}
