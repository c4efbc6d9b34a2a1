import { describe, expect, it } from 'vitest';
import { parseAgentReport } from './agent-report.ts';

describe('a report about an agent', () => {
  it('has the fields of its kind, and keeps nulls', () => {
    const exit = { start: 1, code: null, signal: 'SIGKILL', timed_out: true, blocks_used: false, output: null };
    const report = { kind: 'exited', ...exit };
    expect(parseAgentReport(JSON.stringify(report))).toEqual({ ok: true, value: report });
    expect(parseAgentReport(new TextEncoder().encode('{"kind":"stop"}'))).toEqual({
      ok: true,
      value: { kind: 'stop' },
    });
  });

  it.each([
    ['{', 'invalid JSON'],
    ['{}', 'Missing required field: kind'],
    ['{"kind":"left"}', 'kind'],
    ['{"kind":"started","start":1,"supervisor":"x"}', 'Missing required field: process'],
    ['{"kind":"stop","start":1}', 'start'],
    ['{"kind":"started","start":1,"supervisor":"x","process":"y","sandbox":{"kind":"vm"}}', 'sandbox.kind'],
    ['{"kind":"heard","start":0}', 'start'],
    ['{"kind":"errored","error":"rate_limited","message":"","reset_at":"soon"}', 'reset_at'],
  ])('is refused: %s', (text, message) => {
    const parsed = parseAgentReport(text);
    expect(parsed.ok ? '' : parsed.problems[0].message).toContain(message);
  });
});
