import { expect, it } from 'vitest';
import { HostClock } from './host-clock.ts';

/** A host whose wall clock is an hour ahead of the database's. */
function scene() {
  const host = { wallMs: 3_600_000, bootMs: 50_000 };
  const clock = new HostClock({ wallMs: () => host.wallMs, bootMs: () => host.bootMs });
  const pass = (ms: number): void => {
    host.wallMs += ms;
    host.bootMs += ms;
  };
  return { host, clock, pass };
}

it('equals the wall clock until there is a measurement', () => {
  expect(scene().clock.now().getTime()).toBe(3_600_000);
});

it("shows the database's time after one answer, whatever its own clock shows", () => {
  const { clock, pass } = scene();
  clock.measure(0, 0);
  expect(clock.offsetMs).toBe(3_600_000);
  pass(1500);
  expect(clock.now().getTime()).toBe(1500);
});

it.each([3_600_000, -3_600_000])('does not follow a wall clock that is set by %i ms', (jumpMs) => {
  const { host, clock, pass } = scene();
  clock.measure(0, 0);
  host.wallMs += jumpMs;
  pass(500);
  expect(clock.now().getTime()).toBe(500);
  clock.measure(500, 0);
  expect([clock.now().getTime(), clock.offsetMs]).toEqual([500, 3_600_000 + jumpMs]);
});
