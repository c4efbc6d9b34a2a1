import { describe, expect, it } from 'vitest';
import { healthAfter, WRITABLE } from './resource-faults.ts';

const FULL = { message: 'no space left to write ledger.db', hint: 'Make room.' };
const LOCKED = { message: 'ledger.db is locked', hint: 'End the transaction.' };

describe('the health of a store', () => {
  it('is writable after a success', () => {
    const broken = healthAfter(WRITABLE, FULL, '2026-01-01T00:00:00.000Z');
    expect(healthAfter(broken, undefined, '2026-01-01T00:00:01.000Z')).toEqual({ writable: true });
  });

  it('has the time of the first failure and the reason of the last', () => {
    const first = healthAfter(WRITABLE, FULL, '2026-01-01T00:00:00.000Z');
    const second = healthAfter(first, LOCKED, '2026-01-01T00:00:01.000Z');
    expect(second).toEqual({
      writable: false,
      since: '2026-01-01T00:00:00.000Z',
      reason: LOCKED.message,
      hint: LOCKED.hint,
    });
  });
});
