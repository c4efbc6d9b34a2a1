import { describe, expect, it } from 'vitest';
import { decideRecovery, type ReplicaReport } from './decide-recovery.ts';

describe('after the server was replaced or restarted', () => {
  it('opens once all hosts have reported, if the chain contains every replica', () => {
    const reports = [report('a'), report('b')];
    expect(decideRecovery(reports, ['a', 'b'])).toEqual({ kind: 'open' });
  });

  it('waits for a host that has not reported, up to 10 s after the last one did', () => {
    const reports = (sinceMs: number): ReplicaReport[] => [
      report('a', { sinceMs: sinceMs + 3000 }),
      report('b', { sinceMs }),
    ];
    expect(decideRecovery(reports(9_999), ['a', 'b', 'c'])).toEqual({ kind: 'wait' });
    expect(decideRecovery(reports(10_000), ['a', 'b', 'c'])).toEqual({ kind: 'open' });
  });

  it('lets the longest replica complete a chain that lost its end', () => {
    const reports = [
      report('a', { verdict: 'longer', size: 12 }),
      report('b', { verdict: 'longer', size: 14 }),
      report('c'),
    ];
    expect(decideRecovery(reports, ['a', 'b', 'c'])).toEqual({ kind: 'complete', host: 'b' });
  });

  it('lets one of two equal replicas complete it', () => {
    const reports = [report('b', { verdict: 'longer', size: 12 }), report('a', { verdict: 'longer', size: 12 })];
    expect(decideRecovery(reports, ['a', 'b'])).toEqual({ kind: 'complete', host: 'a' });
  });

  it('completes nothing before all have reported, because a longer replica may come', () => {
    expect(decideRecovery([report('a', { verdict: 'longer', size: 12 })], ['a', 'b'])).toEqual({ kind: 'wait' });
  });

  it('continues without a host that died, however long its replica was', () => {
    const reports = [
      report('a', { verdict: 'longer', size: 14, silentMs: 10_000 }),
      report('b', { verdict: 'longer', size: 12 }),
    ];
    expect(decideRecovery(reports, ['b'])).toEqual({ kind: 'complete', host: 'b' });
  });

  it('stops every host at a fork, even if the host that found it has left', () => {
    const reports = [report('a'), report('b', { verdict: 'forked', silentMs: 3_600_000 })];
    expect(decideRecovery(reports, ['a'])).toEqual({ kind: 'forked', hosts: ['b'] });
  });

  it('stops if two replicas would complete the chain differently', () => {
    const reports = [
      report('a', { verdict: 'longer', size: 12, hash: '0a' }),
      report('b', { verdict: 'longer', size: 12, hash: '0b' }),
    ];
    expect(decideRecovery(reports, ['a', 'b'])).toEqual({ kind: 'forked', hosts: ['a', 'b'] });
  });

  it('waits for itself', () => {
    expect(decideRecovery([], [])).toEqual({ kind: 'wait' });
  });
});

function report(host: string, more: Partial<ReplicaReport> = {}): ReplicaReport {
  return { host, size: 10, hash: '00', verdict: 'contained', sinceMs: 0, silentMs: 0, ...more };
}
