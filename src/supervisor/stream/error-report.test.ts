import { describe, expect, it } from 'vitest';
import type { AgentErrorEvent } from '../../streams/stream-event.ts';
import { ErrorReport } from './error-report.ts';

const said = (error: AgentErrorEvent['error'], resetAt: string | null = null): AgentErrorEvent => {
  return { kind: 'error', error, message: 'from the stream', resetAt, isRetrying: false };
};
const hooked = { kind: 'errored', error: 'no_internet', message: 'at the hook', reset_at: null } as const;
const AT = '2030-01-01T00:00:00.000Z';

describe('an API error that arrives twice', () => {
  it("is reported once, with the stream's details", async () => {
    const desk = new ErrorReport();
    const told = desk.addHookError(hooked, false);
    desk.addStreamError(said('rate_limited', AT));
    expect(await told).toEqual({ kind: 'errored', error: 'rate_limited', message: 'from the stream', reset_at: AT });
    expect(desk.takeReport()).toBeUndefined();
  });

  it('is reported once if the turn ends before its hook', async () => {
    const desk = new ErrorReport();
    desk.addStreamError(said('unauthorized'));
    expect(desk.takeReport()).toMatchObject({ error: 'unauthorized' });
    expect(await desk.addHookError(hooked, false)).toBeUndefined();
    expect(await desk.addHookError(hooked, true)).toMatchObject({ error: 'no_internet' });
  });

  it('is reported by the hook alone if the stream has nothing', async () => {
    expect(await new ErrorReport().addHookError(hooked, false)).toEqual(hooked);
  });

  it('is a new one after the agent has worked again', async () => {
    const desk = new ErrorReport();
    expect(await desk.addHookError(hooked, true)).toEqual(hooked);
    desk.clear();
    desk.addStreamError(said('out_of_credits'));
    expect(desk.takeReport()).toMatchObject({ error: 'out_of_credits' });
  });

  it('is not reported without a kind, nor if the client recovers by itself', () => {
    const desk = new ErrorReport();
    desk.addStreamError({ ...said('rate_limited'), isRetrying: true });
    desk.addStreamError(said(null));
    expect(desk.takeReport()).toBeUndefined();
    expect(desk.lastMessage).toBe('from the stream');
  });
});
