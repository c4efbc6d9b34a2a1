import { describe, expect, it } from 'vitest';
import type { ErrorSaid } from '../streams/said.ts';
import { ErrorDesk } from './error-desk.ts';

const said = (error: ErrorSaid['error'], resetAt: string | null = null): ErrorSaid => {
  return { kind: 'error', error, message: 'from the stream', resetAt, isRetrying: false };
};
const hooked = { kind: 'errored', error: 'no_internet', message: 'at the hook', reset_at: null } as const;
const AT = '2030-01-01T00:00:00.000Z';

describe('an API error that is heard twice', () => {
  it('is told once, with what the stream knows', async () => {
    const desk = new ErrorDesk();
    const told = desk.hook(hooked, false);
    desk.hear(said('rate_limited', AT));
    expect(await told).toEqual({ kind: 'errored', error: 'rate_limited', message: 'from the stream', reset_at: AT });
    expect(desk.take()).toBeUndefined();
  });

  it('is told once where the turn ends before its hook', async () => {
    const desk = new ErrorDesk();
    desk.hear(said('unauthorized'));
    expect(desk.take()).toMatchObject({ error: 'unauthorized' });
    expect(await desk.hook(hooked, false)).toBeUndefined();
    expect(await desk.hook(hooked, true)).toMatchObject({ error: 'no_internet' });
  });

  it('is told by the hook alone where the stream says nothing', async () => {
    expect(await new ErrorDesk().hook(hooked, false)).toEqual(hooked);
  });

  it('is another one after the agent has worked again', async () => {
    const desk = new ErrorDesk();
    expect(await desk.hook(hooked, true)).toEqual(hooked);
    desk.clear();
    desk.hear(said('out_of_credits'));
    expect(desk.take()).toMatchObject({ error: 'out_of_credits' });
  });

  it('without a kind is no matter of waiting, and one that the client gets over itself is none', () => {
    const desk = new ErrorDesk();
    desk.hear({ ...said('rate_limited'), isRetrying: true });
    desk.hear(said(null));
    expect(desk.take()).toBeUndefined();
    expect(desk.lastWords).toBe('from the stream');
  });
});
