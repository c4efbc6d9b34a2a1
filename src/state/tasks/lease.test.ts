import { describe, expect, it } from 'vitest';
import { createLeases, type Leases } from './lease.ts';

const TIMES = { expiryMs: 900_000, renewalMs: 30_000, tickMs: 1_000 };

/** Ticks once a second, as the daemon does, and returns the expired claims with their second. */
function tick(leases: Leases, fromMs: number, toMs: number, each: (nowMs: number) => void = () => {}): string[] {
  const expired: string[] = [];
  for (let nowMs = fromMs; nowMs <= toMs; nowMs += TIMES.tickMs) {
    each(nowMs);
    for (const { taskId, epoch } of leases.expired(nowMs)) {
      expired.push(`${taskId}/${epoch} at ${nowMs}`);
      leases.end(taskId);
    }
  }
  return expired;
}

describe('a lease', () => {
  it('expires without renewal, and not before', () => {
    const leases = createLeases(TIMES);
    leases.renew('A', 1, 0);
    expect(tick(leases, 1_000, 899_000)).toEqual([]);
    expect(tick(leases, 900_000, 2_000_000)).toEqual(['A/1 at 900000']);
  });

  it('lives as long as it is renewed', () => {
    const leases = createLeases(TIMES);
    leases.renew('A', 1, 0);
    const renewing = (nowMs: number): void => {
      if (nowMs % TIMES.renewalMs === 0) leases.renew('A', 1, nowMs);
    };
    expect(tick(leases, 1_000, 9_000_000, renewing)).toEqual([]);
    expect(leases.remaining('A', 9_000_000)).toBe(900_000);
    expect(tick(leases, 9_001_000, 10_000_000)).toEqual(['A/1 at 9900000']);
  });

  it('reports its remaining time', () => {
    const leases = createLeases(TIMES);
    leases.renew('A', 1, 5_000);
    expect(leases.remaining('A', 6_000)).toBe(899_000);
    expect(leases.remaining('A', 9_999_000)).toBe(0);
    expect(leases.remaining('B', 6_000)).toBeUndefined();
  });

  it('ends with its claim: a late renewal revives nothing', () => {
    const leases = createLeases(TIMES);
    expect(leases.renew('A', 1, 0)).toBe(true);
    leases.end('A');
    expect(leases.renew('A', 1, 1_000)).toBe(false);
    expect(leases.remaining('A', 1_000)).toBeUndefined();
    expect(leases.renew('A', 2, 2_000)).toBe(true);
  });

  it('of an older claim does not renew the newer one', () => {
    const leases = createLeases(TIMES);
    leases.renew('A', 1, 0);
    leases.renew('A', 2, 1_000);
    expect(leases.renew('A', 1, 500_000)).toBe(false);
    const nagging = (nowMs: number): void => void leases.renew('A', 1, nowMs);
    expect(tick(leases, 501_000, 1_000_000, nagging)).toEqual(['A/2 at 901000']);
  });
});

describe('a gap costs no live session its claim', () => {
  it('a machine that slept past the expiry: holders get one renewal interval', () => {
    const leases = createLeases(TIMES);
    leases.renew('alive', 1, 0);
    leases.renew('dead', 1, 0);
    expect(tick(leases, 1_000, 10_000)).toEqual([]);
    const wokeMs = 8 * 3_600_000;
    const renewing = (nowMs: number): void => {
      if (nowMs === wokeMs + TIMES.renewalMs) leases.renew('alive', 1, nowMs);
    };
    const expired = tick(leases, wokeMs, wokeMs + 100_000, renewing);
    expect(expired).toEqual([`dead/1 at ${wokeMs + TIMES.renewalMs + TIMES.tickMs}`]);
  });

  it('even before the first tick', () => {
    const leases = createLeases(TIMES);
    leases.renew('A', 1, 0);
    expect(leases.expired(3_600_000)).toEqual([]);
    expect(leases.remaining('A', 3_600_000)).toBe(TIMES.renewalMs + TIMES.tickMs);
  });

  it('even repeatedly', () => {
    const leases = createLeases(TIMES);
    leases.renew('A', 1, 0);
    for (let hour = 1; hour < 10; hour += 1) {
      const wokeMs = hour * 3_600_000;
      expect(tick(leases, wokeMs, wokeMs + 30_000)).toEqual([]);
      leases.renew('A', 1, wokeMs + 30_000);
    }
  });

  it('even if a lease is shorter than a few ticks', () => {
    const leases = createLeases({ expiryMs: 2_000, renewalMs: 500, tickMs: 1_000 });
    leases.renew('A', 1, 0);
    leases.expired(1_000);
    expect(leases.expired(3_500)).toEqual([]);
  });

  it('shortens no longer lease', () => {
    const leases = createLeases(TIMES);
    leases.renew('A', 1, 0);
    leases.expired(0);
    leases.expired(60_000);
    expect(leases.remaining('A', 60_000)).toBe(840_000);
  });

  it('a slightly late tick is not a gap', () => {
    const leases = createLeases(TIMES);
    leases.renew('A', 1, 0);
    tick(leases, 1_000, 899_000);
    expect(leases.expired(900_900)).toEqual([{ taskId: 'A', epoch: 1 }]);
  });
});

describe('the wall clock is not used', () => {
  it('by any code of the leases', () => {
    const { now } = Date;
    Date.now = () => {
      throw new Error('the lease looked at the clock');
    };
    try {
      const leases = createLeases(TIMES);
      leases.renew('A', 1, 0);
      expect(leases.expired(1_000)).toEqual([]);
    } finally {
      Date.now = now;
    }
  });
});
