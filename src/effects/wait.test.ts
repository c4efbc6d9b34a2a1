import { describe, expect, it, vi } from 'vitest';
import { waitForAnswer, waitForTimer } from './wait.ts';

const effect = (due: string, kind: 'leave' | 'reset' = 'leave') =>
  ({ kind: 'wait', key: 'timer:t', timerId: 't', due, purpose: { kind, agent_id: 'a' } }) as const;

it('ends at once if the time passed while no daemon ran', async () => {
  expect(await waitForTimer(effect('2020-01-01T00:00:00.000Z'), () => new Date(), new AbortController().signal)).toBe(
    true,
  );
});

it("exceeds the limit of Node's timers, and ends early if the clock is set forward", async () => {
  vi.useFakeTimers();
  try {
    let now = Date.parse('2026-01-01T00:00:00Z');
    const over = waitForTimer(effect('2026-03-01T00:00:00.000Z'), () => new Date(now), new AbortController().signal);
    await vi.advanceTimersByTimeAsync(60_000);
    now = Date.parse('2026-03-01T00:00:00.000Z');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await over).toBe(true);
  } finally {
    vi.useRealTimers();
  }
});

it('is not lengthened if the clock is set back', async () => {
  vi.useFakeTimers();
  try {
    let now = Date.parse('2026-01-01T00:00:00Z');
    const over = waitForTimer(effect('2026-01-01T00:01:30.000Z'), () => new Date(now), new AbortController().signal);
    now -= 3_600_000;
    await vi.advanceTimersByTimeAsync(90_000);
    expect(await Promise.race([over, Promise.resolve('waits on')])).toBe(true);
  } finally {
    vi.useRealTimers();
  }
});

it('for a time of day continues if the clock is set back', async () => {
  vi.useFakeTimers();
  try {
    let now = Date.parse('2026-01-01T00:00:00Z');
    let isOver = false;
    const until = effect('2026-01-01T00:00:10.000Z', 'reset');
    const over = waitForTimer(until, () => new Date(now), new AbortController().signal).then(() => {
      isOver = true;
    });
    now -= 3_600_000;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(isOver).toBe(false);
    now += 3_610_000;
    await vi.advanceTimersByTimeAsync(60_000);
    await over;
    expect(isOver).toBe(true);
  } finally {
    vi.useRealTimers();
  }
});

it('can be cancelled', async () => {
  const controller = new AbortController();
  const over = waitForTimer(effect('2999-01-01T00:00:00.000Z'), () => new Date(), controller.signal);
  controller.abort();
  expect(await over).toBe(false);
});

describe('an answer to a decision', () => {
  const AT = Date.parse('2026-01-01T00:00:00.000Z');
  const IN_5_S = '2026-01-01T00:00:05.000Z';

  it.each([
    ['the clock stays', 0, 5000],
    ['the clock is put forward: a person has the whole time', 3_600_000, 5000],
    ['the clock is put back', -3_600_000, 5000],
  ])('takes effect after its delay if %s', async (_, jumpMs, afterMs) => {
    vi.useFakeTimers();
    try {
      let now = AT;
      let isOver = false;
      const over = waitForAnswer(IN_5_S, () => new Date(now), new AbortController().signal);
      void over.then(() => (isOver = true));
      now += jumpMs;
      await vi.advanceTimersByTimeAsync(afterMs - 1);
      expect(isOver).toBe(false);
      await vi.advanceTimersByTimeAsync(1);
      expect(await over).toBe(true);
    } finally {
      vi.useRealTimers();
    }
  });

  it('takes effect at once if that time has passed, and at most after the longest delay', async () => {
    vi.useFakeTimers();
    try {
      const { signal } = new AbortController();
      expect(await waitForAnswer(IN_5_S, () => new Date(AT + 6000), signal)).toBe(true);
      const over = waitForAnswer(IN_5_S, () => new Date(AT - 3_600_000), signal);
      await vi.advanceTimersByTimeAsync(60_000);
      expect(await Promise.race([over, Promise.resolve('waits on')])).toBe(true);
    } finally {
      vi.useRealTimers();
    }
  });

  it('does not take effect once it is withdrawn', async () => {
    const withdrawn = new AbortController();
    const over = waitForAnswer(IN_5_S, () => new Date(AT), withdrawn.signal);
    withdrawn.abort();
    expect(await over).toBe(false);
    expect(await waitForAnswer(IN_5_S, () => new Date(AT), withdrawn.signal)).toBe(false);
  });
});
