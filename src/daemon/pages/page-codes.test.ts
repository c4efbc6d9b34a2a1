import { describe, expect, it } from 'vitest';
import { CODE_MS, PageCodes } from './page-codes.ts';

const use = { projectPath: '/repo' };

describe('a code of `baton web`', () => {
  it('can be used once', () => {
    const codes = new PageCodes(() => 0);
    const { code } = codes.make(use);
    expect(codes.use(code)).toMatchObject(use);
    expect(codes.use(code)).toBeUndefined();
  });

  it('expires after a minute, and is used up by the late attempt', () => {
    let now = 1000;
    const codes = new PageCodes(() => now);
    const [early, late] = [codes.make(use), codes.make(use)];
    expect(early.expiresAtMs).toBe(1000 + CODE_MS);
    now = early.expiresAtMs - 1;
    expect(codes.use(early.code)).toMatchObject(use);
    now = late.expiresAtMs;
    expect(codes.use(late.code)).toBeUndefined();
    now = 1000;
    expect(codes.use(late.code)).toBeUndefined();
  });

  it('is random and unknown to others', () => {
    const codes = new PageCodes(() => 0);
    const made = Array.from({ length: 10 }, () => codes.make(use).code);
    expect(new Set(made).size).toBe(10);
    expect(made.every((code) => /^[A-Za-z0-9_-]{43}$/.test(code))).toBe(true);
    expect(codes.use('')).toBeUndefined();
    expect(codes.use(`${made[0]}x`)).toBeUndefined();
  });

  it('is dropped when many newer ones are made', () => {
    const codes = new PageCodes(() => 0);
    const first = codes.make(use).code;
    const newer = Array.from({ length: 16 }, () => codes.make(use).code);
    expect(codes.use(first)).toBeUndefined();
    expect(newer.map((code) => codes.use(code))).not.toContain(undefined);
  });
});
