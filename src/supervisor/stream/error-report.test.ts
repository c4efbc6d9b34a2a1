import { describe, expect, it } from 'vitest';
import type { AgentErrorEvent } from '../../streams/stream-event.ts';
import { ErrorReport } from './error-report.ts';

const streamError = (error: AgentErrorEvent['error'], resetAt: string | null = null): AgentErrorEvent => {
  return { kind: 'error', error, message: 'from the stream', resetAt, isRetrying: false };
};
const hooked = { kind: 'errored', error: 'no_internet', message: 'at the hook', reset_at: null } as const;
const AT = '2030-01-01T00:00:00.000Z';

describe('an API error that arrives twice', () => {
  it("is reported once, with the stream's details", async () => {
    const report = new ErrorReport();
    const reported = report.addHookError(hooked, false);
    report.addStreamError(streamError('rate_limited', AT));
    expect(await reported).toEqual({
      kind: 'errored',
      error: 'rate_limited',
      message: 'from the stream',
      reset_at: AT,
    });
    expect(report.takeReport()).toBeUndefined();
  });

  it('is reported once if the turn ends before its hook', async () => {
    const report = new ErrorReport();
    report.addStreamError(streamError('unauthorized'));
    expect(report.takeReport()).toMatchObject({ error: 'unauthorized' });
    expect(await report.addHookError(hooked, false)).toBeUndefined();
    expect(await report.addHookError(hooked, true)).toMatchObject({ error: 'no_internet' });
  });

  it('is reported by the hook alone if the stream has nothing', async () => {
    expect(await new ErrorReport().addHookError(hooked, false)).toEqual(hooked);
  });

  it('is a new one after the agent has worked again', async () => {
    const report = new ErrorReport();
    expect(await report.addHookError(hooked, true)).toEqual(hooked);
    report.clear();
    report.addStreamError(streamError('out_of_credits'));
    expect(report.takeReport()).toMatchObject({ error: 'out_of_credits' });
  });

  it('is not reported without a kind, nor if the client recovers by itself', () => {
    const report = new ErrorReport();
    report.addStreamError({ ...streamError('rate_limited'), isRetrying: true });
    report.addStreamError(streamError(null));
    expect(report.takeReport()).toBeUndefined();
    expect(report.lastMessage).toBe('from the stream');
  });
});
