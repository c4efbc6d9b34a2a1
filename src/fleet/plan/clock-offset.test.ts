import { describe, expect, it } from 'vitest';
import { betterOffset, isClockWrong, measureOffset } from './clock-offset.ts';

describe("a host's clock against the database's", () => {
  it('is measured to half a round trip', () => {
    expect(measureOffset({ sentMs: 1_000_000, tripMs: 20, databaseMs: 1_000_010 })).toEqual({
      offsetMs: 0,
      errorMs: 10,
    });
    expect(measureOffset({ sentMs: 4_600_000, tripMs: 2, databaseMs: 1_000_001 }).offsetMs).toBe(3_600_000);
  });

  it('is more accurate after a quicker round trip, and not less after a slow one', () => {
    const quick = { offsetMs: 3, errorMs: 1 };
    const slow = { offsetMs: 40, errorMs: 50 };
    expect(betterOffset(slow, quick, 1000)).toEqual(quick);
    expect(betterOffset(quick, slow, 1000)).toEqual({ offsetMs: 3, errorMs: 1.5 });
  });

  it('follows a clock that was set', () => {
    const set = { offsetMs: 3_600_000, errorMs: 50 };
    expect(betterOffset({ offsetMs: 3, errorMs: 1 }, set, 1000)).toEqual(set);
  });

  it('is measured again after a while, because clocks drift', () => {
    const later = { offsetMs: 8, errorMs: 10 };
    expect(betterOffset({ offsetMs: 3, errorMs: 1 }, later, 60_000)).toEqual(later);
  });

  it('is reported as wrong if it is certainly off by more than 5 s', () => {
    expect(isClockWrong({ offsetMs: -3_600_000, errorMs: 100 })).toBe(true);
    expect(isClockWrong({ offsetMs: 5_050, errorMs: 100 })).toBe(false);
  });
});
