import { describe, expect, it } from 'vitest';
import { classifyAgentError, parseHook, parseResetTime } from './read-hook.ts';

describe('the kind of an API error', () => {
  it.each([
    ['rate_limit', 'rate_limited'],
    ['rate_limited', 'rate_limited'],
    ['billing_error', 'out_of_credits'],
    ['authentication_failed', 'unauthorized'],
    ['server_error', 'no_internet'],
    ['no_internet', 'no_internet'],
  ])('follows from the code %s', (code, kind) => expect(classifyAgentError(code)).toBe(kind));

  it.each([
    'HTTP 429 Too Many Requests',
    'rate limit exceeded',
    'not a rate_limit',
    '401 unauthorized',
    'insufficient_quota: buy credits',
    'constructor',
    429,
    null,
    undefined,
  ])('does not follow from a text like %s', (text) => expect(classifyAgentError(text)).toBe('no_internet'));

  it('does not depend on the details of a hook, nor does the end of a limit', () => {
    const input = {
      error: 'server_error',
      error_details: '429 rate limit|1893456000',
      message: 'usage limit reached|1893456000',
    };
    expect(parseHook('stop-failure', Buffer.from(JSON.stringify(input)))).toMatchObject({
      report: { error: 'no_internet', reset_at: null },
      isSure: false,
    });
  });

  it.each([
    [{ error: 'rate_limited', error_details: 'slow down' }, 'slow down'],
    [{ error: 'rate_limited', error_details: 'rate_limited' }, ''],
    [{ error: 'rate_limit', error_details: 'slow down', message: 'slow down' }, 'rate_limit: slow down'],
  ])('is reported without repeated text: %j', (input, message) => {
    expect(parseHook('stop-failure', Buffer.from(JSON.stringify(input)))).toMatchObject({
      report: { error: 'rate_limited', message },
    });
  });

  it('has an end if a field names it', () => {
    expect(parseResetTime('2030-01-01T00:00:00Z')).toBe('2030-01-01T00:00:00.000Z');
    for (const field of ['soon', 1893456000, null, undefined]) expect(parseResetTime(field)).toBeNull();
  });
});
