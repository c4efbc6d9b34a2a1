import { describe, expect, it } from 'vitest';
import { slotLimits, ConnectionSlots, type ConnectionKind } from './connections.ts';

const LIMITS = { total: 16, unknown: 4, worker: 5, session: 10, served: 10 };

/** Adds connections of a kind, idle or busy. Returns those that were closed to make room. */
function fill(
  seats: ConnectionSlots<string>,
  kind: Exclude<ConnectionKind, 'unknown'>,
  count: number,
  isBusy = false,
): string[] {
  const closed: string[] = [];
  for (let i = 0; i < count; i += 1) {
    const name = `${kind}-${i}`;
    close(seats, seats.add(name), closed);
    if (isBusy) seats.markBusy(name);
    const seated = seats.identify(name, kind);
    close(seats, seated === 'full' ? name : seated.close, closed);
  }
  return closed;
}

function close(seats: ConnectionSlots<string>, name: string | undefined, closed: string[]): void {
  if (name === undefined) return;
  seats.remove(name);
  closed.push(name);
}

describe('connection slots', () => {
  it('closes the longest idle connection without a request', () => {
    const seats = new ConnectionSlots<string>(LIMITS);
    const closed: string[] = [];
    for (let i = 0; i < 400; i += 1) close(seats, seats.add(`idle-${i}`), closed);
    expect(seats.size).toBe(4);
    expect(closed).toHaveLength(396);
    expect(closed[0]).toBe('idle-0');
  });

  it('never exceeds its total', () => {
    const seats = new ConnectionSlots<string>(LIMITS);
    fill(seats, 'session', 50);
    fill(seats, 'worker', 50, true);
    fill(seats, 'operator', 50, true);
    for (let i = 0; i < 50; i += 1) close(seats, seats.add(`idle-${i}`), []);
    expect(seats.size).toBeLessThanOrEqual(LIMITS.total);
  });

  it('closes the new connection if all others are busy', () => {
    const seats = new ConnectionSlots<string>(LIMITS);
    for (let i = 0; i < LIMITS.total; i += 1) {
      expect(seats.add(`busy-${i}`)).toBeUndefined();
      seats.markBusy(`busy-${i}`);
    }
    expect(seats.add('one more')).toBe('one more');
  });

  it('keeps slots for operators, however busy sessions and workers are', () => {
    const seats = new ConnectionSlots<string>(LIMITS);
    fill(seats, 'session', 50, true);
    fill(seats, 'worker', 50, true);
    expect(fill(seats, 'operator', 2, true)).toEqual([]);
    expect(seats.add('one more')).toBeUndefined();
    expect(seats.identify('one more', 'operator')).toBe('full');
  });

  it('does not let workers crowd out sessions', () => {
    const seats = new ConnectionSlots<string>(LIMITS);
    fill(seats, 'worker', 50, true);
    expect(fill(seats, 'session', 5, true)).toEqual([]);
  });

  it('closes an idle connection of the same kind, and refuses if all are busy', () => {
    const seats = new ConnectionSlots<string>(LIMITS);
    fill(seats, 'session', 10);
    seats.markBusy('session-0')();
    seats.add('late');
    expect(seats.identify('late', 'session')).toEqual({ close: 'session-1' });
    const busy = new ConnectionSlots<string>(LIMITS);
    fill(busy, 'session', 10, true);
    busy.add('late');
    expect(busy.identify('late', 'session')).toBe('full');
  });

  it('does not close a busy connection', () => {
    const seats = new ConnectionSlots<string>(LIMITS);
    seats.add('slow');
    const done = seats.markBusy('slow');
    const closed: string[] = [];
    for (let i = 0; i < 9; i += 1) close(seats, seats.add(`idle-${i}`), closed);
    expect(closed).not.toContain('slow');
    done();
    for (let i = 9; i < 18; i += 1) close(seats, seats.add(`idle-${i}`), closed);
    expect(closed).toContain('slow');
  });

  it.each([64, 256, 1024, 4096, 1_048_576])('leaves half of %d descriptors for files and programs', (descriptors) => {
    const limits = slotLimits(descriptors, 4096);
    expect(limits.total).toBeLessThanOrEqual(descriptors / 2);
    expect(limits.total).toBeLessThanOrEqual(4096);
    expect(limits.total - limits.unknown - limits.served).toBeGreaterThanOrEqual(2);
    expect(limits.session).toBeGreaterThan(limits.unknown);
  });
});
