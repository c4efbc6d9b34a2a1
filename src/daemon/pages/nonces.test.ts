import { describe, expect, it } from 'vitest';
import { MAX_PAGE_SKEW_MS } from '../../api/page-access.ts';
import { Nonces } from './nonces.ts';

describe('the memory of nonces', () => {
  it('refuses a nonce for as long as its request could be valid', () => {
    let now = 0;
    const nonces = new Nonces(() => now);
    expect(nonces.add('a')).toBe('new');
    expect(nonces.add('b')).toBe('new');
    // The last moment at which the time of a request from a fast clock is valid, plus a slow check.
    now = 2 * MAX_PAGE_SKEW_MS + 5000;
    expect(nonces.add('a')).toBe('used');
  });

  it('forgets a nonce after that, and has room again', () => {
    let now = 0;
    const nonces = new Nonces(() => now, 2);
    expect([nonces.add('a'), nonces.add('b')]).toEqual(['new', 'new']);
    now = 3 * MAX_PAGE_SKEW_MS;
    expect([nonces.add('a'), nonces.add('c')]).toEqual(['new', 'new']);
  });

  it('forgets nothing early to make room', () => {
    const nonces = new Nonces(() => 0, 2);
    expect([nonces.add('a'), nonces.add('b'), nonces.add('c')]).toEqual(['new', 'new', 'full']);
    expect(nonces.add('a')).toBe('used');
  });
});
