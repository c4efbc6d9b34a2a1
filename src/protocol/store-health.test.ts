import { describe, expect, it } from 'vitest';
import { healthAfter, parseStoreHealth, WRITABLE } from './resource-faults.ts';

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

  it('is read back as it was sent', () => {
    const broken = healthAfter(WRITABLE, FULL, '2026-01-01T00:00:00.000Z');
    for (const health of [WRITABLE, broken]) {
      expect(parseStoreHealth(JSON.parse(JSON.stringify(health)))).toEqual(health);
    }
  });

  it.each([undefined, null, 'yes', {}, { writable: 'true' }, { writable: false }, []])(
    'is not writable if the answer does not prove it: %j',
    (value) => {
      const { writable, ...why } = parseStoreHealth(value);
      expect(writable).toBe(false);
      expect(why).toMatchObject({ reason: expect.stringMatching(/./), hint: expect.stringMatching(/./) });
    },
  );
});
