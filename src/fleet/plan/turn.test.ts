import { describe, expect, it } from 'vitest';
import { turnPauseMs } from './turn.ts';

const names = (count: number): string[] => Array.from({ length: count }, (_, n) => `host-${n}`);
const pausesAt = (seq: number, hosts: string[]): number[] => hosts.map((host) => turnPauseMs(host, hosts, seq));

describe('the pause before a host takes work that another one recorded', () => {
  it('is zero in a fleet of two', () => {
    for (let seq = 1; seq < 50; seq += 1) expect(pausesAt(seq, names(2))).toEqual([0, 0]);
  });

  it('is zero for two hosts of many, and grows for the others', () => {
    const pauses = pausesAt(7, names(20)).toSorted((a, b) => a - b);
    expect(pauses.slice(0, 4)).toEqual([0, 0, 8, 16]);
    expect(pauses.at(-1)).toBe(144);
  });

  it('is fair: every host is among the first about equally often', () => {
    const hosts = names(10);
    const first = hosts.map(
      (_, n) => Array.from({ length: 1000 }, (__, seq) => pausesAt(seq, hosts)[n]).filter((ms) => ms === 0).length,
    );
    for (const count of first) expect(count).toBeGreaterThan(100);
  });

  it("is the longest if it is not yet known that the host's sessions wait", () => {
    expect(turnPauseMs('new', [], 3)).toBe(0);
    expect(turnPauseMs('new', names(1), 3)).toBe(0);
    expect(turnPauseMs('new', names(5), 3)).toBe(32);
  });
});
