import type { Answer, ApiError } from '../answer.ts';

/** What the daemon sent, as an answer; something else is an error that says so. */
export function parseAnswer(body: string): Answer {
  try {
    const answer: unknown = JSON.parse(body);
    if (isAnswer(answer)) return answer;
  } catch {
    // Said below.
  }
  return { ok: false, error: noResponseError('garbled') };
}

function isAnswer(value: unknown): value is Answer {
  if (typeof value !== 'object' || value === null || !('ok' in value)) return false;
  return value.ok === true ? 'result' in value : 'error' in value;
}

/** Nobody answered: the call may have been heard or not. */
export function noResponseError(lost: 'closed' | 'timeout' | 'aborted' | 'garbled'): ApiError {
  const messages = {
    closed: 'the daemon went away before it answered',
    timeout: 'the daemon did not answer in time',
    aborted: 'the call was given up',
    garbled: 'the answer cannot be read: is that a daemon of Baton?',
  };
  const code = lost === 'aborted' ? 'aborted' : 'no-answer';
  return { code, message: messages[lost], hint: 'See whether it runs: baton up' };
}
