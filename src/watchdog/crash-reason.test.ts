import { expect, it } from 'vitest';
import { crashReason } from './watch.ts';

const LINE = '{"at":"2026-01-01T00:00:00.000Z","level":"info","message":"started"}\n';
const CAUSE = `${JSON.stringify({ at: 'now', message: 'the daemon ends because of an internal error', cause: 'RangeError: too far\n  at x' })}\n`;

it.each([
  [
    'an uncaught error',
    `${LINE}/app/daemon.cjs:1\n  throw x\n\nRangeError: too far\n    at f (x)\n\nNode.js v26\n`,
    'RangeError: too far',
  ],
  ['no memory', `${LINE}<--- Last few GCs --->\nFATAL ERROR: heap out of memory\n`, 'FATAL ERROR: heap out of memory'],
  ['an error that the daemon logged', `${LINE}${CAUSE}`, 'RangeError: too far'],
  ['a kill', LINE, 'it was killed, or crashed without a message'],
  ['an older crash', `Error: old\n${LINE}`, 'it was killed, or crashed without a message'],
  ['no log', '', 'it was killed, or crashed without a message'],
])('names %s', (_, log, reason) => {
  expect(crashReason(log)).toBe(reason);
});
