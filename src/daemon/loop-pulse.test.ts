import { describe, expect, it } from 'vitest';
import { LoopPulse } from './process-health.ts';

function pulseAt(): { pulse: LoopPulse; at: (ms: number) => void } {
  let nowMs = 0;
  const pulse = new LoopPulse(4000, () => nowMs);
  pulse[Symbol.dispose]();
  return { pulse, at: (ms) => void (nowMs = ms) };
}

describe('the pulse of the loop', () => {
  it('has no lag while it ticks on time', () => {
    const { pulse, at } = pulseAt();
    for (const ms of [500, 1000, 1500]) {
      at(ms);
      pulse.beat();
    }
    at(1900);
    expect(pulse.lagMs).toBe(0);
  });

  it('shows an overdue tick before it happens', () => {
    const { pulse, at } = pulseAt();
    at(10_500);
    expect(pulse.lagMs).toBe(10_000);
  });

  it('keeps the longest late tick for ten seconds', () => {
    const { pulse, at } = pulseAt();
    at(8500);
    pulse.beat();
    at(10_000);
    pulse.beat();
    expect(pulse.lagMs).toBe(8000);
    for (let ms = 10_500; ms <= 18_600; ms += 500) {
      at(ms);
      pulse.beat();
    }
    at(18_600);
    expect(pulse.lagMs).toBeLessThan(8000);
  });
});
