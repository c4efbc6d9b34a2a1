import { expect, it } from 'vitest';
import { ThrottledLog } from './log.ts';

it('logs a repeated message once, and later its count', () => {
  const lines: unknown[] = [];
  let nowMs = 0;
  const log = {
    info: () => undefined,
    error: (message: string, fields = {}) => void lines.push({ message, ...fields }),
  };
  const rare = new ThrottledLog(log, () => nowMs);
  for (let i = 0; i < 500; i += 1) rare.error('full', { code: 'EMFILE' });
  rare.error('other');
  nowMs = 61_000;
  rare.error('full', { code: 'EMFILE' });
  expect(lines).toEqual([
    { message: 'full', code: 'EMFILE' },
    { message: 'other' },
    { message: 'full', code: 'EMFILE', suppressed: 499 },
  ]);
});
