import type { ApiError } from '../../api/answer.ts';
import type { AwayReason } from './messages.ts';

/** The daemon did not answer, so its state and the outcome of a write are unknown. */
export class NoAnswer extends Error {
  readonly why: AwayReason;

  constructor(why: AwayReason) {
    super(why);
    this.why = why;
  }
}

/** The daemon does not accept this page's key. */
export class Locked extends Error {
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

const NO_ANSWER = 'no-answer';

export function noAnswerError(why: AwayReason): ApiError {
  return { code: NO_ANSWER, message: WORDS[why], hint: 'The page asks again every second.' };
}

const WORDS: Readonly<Record<AwayReason, string>> = {
  gone: 'the daemon cannot be reached',
  hung: 'the daemon does not respond',
  foreign: 'another program answers at this address, and it is not the daemon that gave this page its key',
  failing: 'the daemon responds with errors',
};
