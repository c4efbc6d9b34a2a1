import { describe, expect, it } from 'vitest';
import { LastReports } from './silence.ts';

describe('the last reports', () => {
  it('count from the start of the daemon until an agent has reported', () => {
    const reports = new LastReports(1000);
    expect(reports.lastReportMs('a')).toBe(undefined);
    expect(reports.silentMs('a', 1500)).toBe(500);
  });

  it('keep the newest report of each agent', () => {
    const reports = new LastReports(0);
    reports.noteAgent('a', 30);
    reports.noteAgent('a', 20);
    reports.noteAgent('b', 10);
    expect(reports.lastReportMs('a')).toBe(30);
    expect(reports.silentMs('b', 25)).toBe(15);
  });

  it('come from supervisors only: an agent cannot report for its own supervisor', () => {
    const reports = new LastReports(0);
    reports.note({ kind: 'supervisor', agentId: 'a' }, 10);
    reports.note({ kind: 'agent', agentId: 'a' }, 20);
    reports.note({ kind: 'session', sessionId: 'a', taskId: 't', epoch: 1 }, 30);
    expect(reports.lastReportMs('a')).toBe(10);
  });

  it('forget agents that no longer run', () => {
    const reports = new LastReports(0);
    reports.noteAgent('a', 1);
    reports.noteAgent('b', 2);
    reports.keepOnly((id) => id === 'b');
    expect([reports.lastReportMs('a'), reports.lastReportMs('b')]).toEqual([undefined, 2]);
  });
});
