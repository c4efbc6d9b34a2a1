import { describe, expect, it } from 'vitest';
import type { Admission } from '../../sandbox/network/meter/request-meter.ts';
import { RequestGate } from './request-gate.ts';

/** A gate of a budget: `used` grows with each settled request, and requests in progress are reserved. */
function gateOf(limit: number) {
  const seen = { used: 0, reserved: 0, isHeld: false };
  const gate = new RequestGate({
    report: async ({ input, output }) => {
      seen.reserved = input + output;
      seen.isHeld ||= seen.used + seen.reserved >= limit;
    },
    isHeld: () => seen.isHeld,
    onSettled: ({ input, output }) => (seen.used += input + output),
  });
  const ask = async (input = 10): Promise<Admission> => gate.admit({ input, abandon: () => {} });
  return { gate, seen, ask };
}

const settle = (admission: Admission, output: number): void => {
  if (admission.ok) admission.settle({ model: 'm', input: 10, output, cached: 0 });
};

describe('the gate of requests with an injected key', () => {
  it('lets a budget be exceeded by one request at most', async () => {
    const { seen, ask } = gateOf(1000);
    let forwarded = 0;
    for (let i = 0; i < 40; i++) {
      const admission = await ask();
      if (admission.ok) forwarded++;
      settle(admission, 100);
    }
    expect([forwarded, seen.used]).toEqual([10, 1100]);
  });

  it('counts requests in progress, so that parallel ones do not pass together', async () => {
    const { ask, seen } = gateOf(10_000);
    const admissions = await Promise.all(Array.from({ length: 40 }, async () => ask()));
    expect(admissions.filter(({ ok }) => ok)).toHaveLength(10);
    for (const each of admissions) settle(each, 900);
    expect(seen.used).toBeLessThan(10_000);
    expect(await ask()).toMatchObject({ ok: false, reason: expect.stringContaining('baton decision list') });
  });

  it('expects the longest answer so far of a request in progress', async () => {
    const { ask, seen } = gateOf(100_000);
    settle(await ask(), 20_000);
    await ask(500);
    await ask();
    expect(seen.reserved).toBe(20_500);
  });

  it('ends the requests in progress with their process', async () => {
    const { gate } = gateOf(1000);
    const ended: string[] = [];
    await gate.admit({ input: 1, abandon: () => ended.push('first') });
    await gate.admit({ input: 1, abandon: () => ended.push('refused') });
    gate.settleOpen();
    expect(ended).toEqual(['first']);
  });
});
