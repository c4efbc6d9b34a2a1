import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Io } from './command.ts';
import { showElapsed, showSilence } from './show-elapsed.ts';

let err = '';
const io: Io = {
  env: {},
  cwd: '/',
  isTerminal: true,
  out: () => undefined,
  err: (text) => {
    err += text;
  },
  readInput: async () => new Uint8Array(),
};

beforeEach(() => {
  err = '';
  vi.useFakeTimers();
});
afterEach(() => void vi.useRealTimers());

const CLEAR = '\r\u001B[K';

it('counts the seconds in one line, and removes it', () => {
  {
    using _elapsed = showElapsed(io, { isShown: true });
    vi.advanceTimersByTime(999);
    expect(err).toBe('');
    vi.advanceTimersByTime(1001);
    expect(err).toBe(`${CLEAR}Waiting, 1 s${CLEAR}Waiting, 2 s`);
  }
  expect(err.endsWith(`2 s${CLEAR}`)).toBe(true);
  const ended = err;
  vi.advanceTimersByTime(5000);
  expect(err).toBe(ended);
});

it('lets other messages start on a new line', () => {
  using elapsed = showElapsed(io, { isShown: true });
  vi.advanceTimersByTime(1000);
  elapsed.io.err('Copying the repository: 10%\n');
  expect(err).toBe(`${CLEAR}Waiting, 1 s${CLEAR}Copying the repository: 10%\n`);
});

it.each([
  ['the output is no terminal', { ...io, isTerminal: false }, true],
  ['the errors go to a file', io, false],
  ['the terminal is dumb', { ...io, env: { TERM: 'dumb' } }, true],
])('prints nothing if %s', (_why, place, isShown) => {
  {
    using _elapsed = showElapsed(place, { isShown });
    vi.advanceTimersByTime(5000);
  }
  expect(err).toBe('');
});

it.each([
  ['prints', (place: Io) => place.out('done\n')],
  ['reports an error', (place: Io) => place.err('Error: no\n')],
  ['reads what is typed', (place: Io) => void place.readInput()],
])('counts the seconds of a silent command until it %s', (_what, act) => {
  using silence = showSilence(io, { isShown: true });
  vi.advanceTimersByTime(1000);
  expect(err).toBe(`${CLEAR}Working, 1 s`);
  act(silence.io);
  expect(err.startsWith(`${CLEAR}Working, 1 s${CLEAR}`)).toBe(true);
  const ended = err;
  vi.advanceTimersByTime(5000);
  expect(err).toBe(ended);
});

it('leaves the line to a counter inside the command', () => {
  using silence = showSilence(io, { isShown: true });
  vi.advanceTimersByTime(500);
  using _elapsed = showElapsed(silence.io, { isShown: true });
  vi.advanceTimersByTime(1500);
  expect(err).toBe(`${CLEAR}Working, 1 s${CLEAR}${CLEAR}Waiting, 1 s`);
});
