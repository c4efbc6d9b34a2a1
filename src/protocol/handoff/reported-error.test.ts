import { describe, expect, it } from 'vitest';
import { fixture } from './fixtures.cases.ts';
import { findReportedError, summarizeError, validateHandoff } from './index.ts';

const xml = fixture('error');

describe('an error handoff', () => {
  it('reports type, message, details, whether a retry can help, and the suggested action', () => {
    expect(findReportedError({ to: 'orchestrator', xml })).toEqual({
      type: 'BuildError',
      message: 'TypeScript compilation failed',
      details: "Cannot find module '@/auth/types'",
      recoverable: true,
      suggestedAction: 'Check import paths and module resolution',
    });
  });

  it('is recognised by its receiver, not by its text', () => {
    expect(findReportedError({ to: 'reviewer-agent', xml })).toBeUndefined();
    expect(findReportedError({ to: null, xml })).toBeUndefined();
    expect(findReportedError({ to: 'orchestrator', xml: '<handoff/>' })).toBeUndefined();
  });

  it('must state whether it is recoverable', () => {
    expect(validateHandoff(xml.replace(/<recoverable>.*<\/recoverable>/, ''))).toEqual([
      'Missing required element: error.recoverable',
    ]);
  });
});

describe('its summary', () => {
  const error = { type: 'E', message: 'm', details: 'd', recoverable: true, suggestedAction: 'a' };

  it('is one line for any text of the agent', () => {
    expect(summarizeError({ ...error, message: ' one\n\n\ttwo ' })).toBe('E: one two; suggested action: a');
  });

  it('is short, and splits no character', () => {
    const summary = summarizeError({ ...error, message: `x${'👍'.repeat(5_000)}`, suggestedAction: 'y'.repeat(5_000) });
    expect(summary.length).toBeLessThan(1_200);
    expect(summary.isWellFormed()).toBe(true);
  });
});
