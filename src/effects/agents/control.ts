import { request } from 'node:http';
import type { Control } from '../../supervisor/contract.ts';

export type ControlResult =
  | { readonly ok: true }
  /** `unheard`: nobody listens there, or no answer came; otherwise the supervisor refused. */
  | { readonly ok: false; readonly unheard: boolean; readonly reason: string };

export interface ControlOptions {
  readonly port: number;
  readonly token: string;
  readonly timeoutMs: number;
}

/** Says something to a supervisor, and waits until it is done. */
export async function sendControl(said: Control, { port, token, timeoutMs }: ControlOptions): Promise<ControlResult> {
  const body = JSON.stringify(said);
  return new Promise((resolve) => {
    const lost = (reason: string): void => resolve({ ok: false, unheard: true, reason });
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    const sent = request(
      { host: '127.0.0.1', port, method: 'POST', path: '/control', headers, agent: false, timeout: timeoutMs },
      (response) => {
        response.toArray().then(
          (pieces) => resolve(answerOf(Buffer.concat(pieces as Buffer[]).toString(), response.statusCode)), // oxlint-disable-line typescript/no-unsafe-type-assertion
          () => lost('the supervisor broke off'),
        );
      },
    );
    sent.once('timeout', () => sent.destroy(new Error('the supervisor does not answer')));
    sent.once('error', ({ message }) => lost(message));
    sent.end(body);
  });
}

function answerOf(text: string, status: number | undefined): ControlResult {
  try {
    const answer: unknown = JSON.parse(text);
    if (typeof answer === 'object' && answer !== null && 'ok' in answer) {
      if (answer.ok === true) return { ok: true };
      return { ok: false, unheard: false, reason: 'error' in answer ? wordsOf(answer.error) : 'refused' };
    }
  } catch {
    // Not one of ours.
  }
  return { ok: false, unheard: true, reason: `the supervisor's port answered with status ${status}` };
}

function wordsOf(error: unknown): string {
  if (typeof error === 'string') return error;
  const isObject = typeof error === 'object' && error !== null;
  return isObject && 'message' in error ? String(error.message) : 'refused';
}
