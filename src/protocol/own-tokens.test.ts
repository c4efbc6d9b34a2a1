import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redactTokens, REDACTED_TOKEN, secretForms, secretPartOf } from './redact-tokens.ts';
import { anyEmbedding, anyToken } from './own-tokens.cases.ts';

describe("Baton's own tokens", () => {
  it('are removed from any text, in every spelling', () => {
    fc.assert(
      fc.property(anyToken, anyEmbedding, (token, embed) => {
        const clean = redactTokens(embed(token));
        expect(clean).not.toContain(secretPartOf(token));
        expect(clean).toContain(REDACTED_TOKEN);
        expect(redactTokens(clean)).toBe(clean);
      }),
      { numRuns: 2000 },
    );
  });

  it('are removed from a text that was cut inside a token', () => {
    const token = `s.eyJwIjoicmVwbyIsInMiOiJ4In0.${'aB3'.repeat(14)}x`;
    for (let length = 30; length < token.length; length += 1)
      expect(redactTokens(`see ${token.slice(0, length)}`)).toBe(`see ${REDACTED_TOKEN}`);
    expect(redactTokens(`see ${`o.${'aB3'.repeat(14)}x`.slice(0, 40)}…`)).toBe(`see ${REDACTED_TOKEN}…`);
  });

  it('are found by their secret part alone if they are known', () => {
    const token = `s.eyJwIjoicmVwbyJ9.${'aB3'.repeat(14)}x`;
    expect(redactTokens(`wIjoicmVwbyJ9.${secretPartOf(token)} and more`, secretForms(token))).toBe(
      `wIjoicmVwbyJ9.${REDACTED_TOKEN} and more`,
    );
  });

  it.each([
    's.abc',
    'a.b.c and o.ops, w.x',
    'src/foo.ts, src/video.service.test.ts',
    `foo.${'a'.repeat(43)}`,
    `commit o.${'0123456789abcdef'.repeat(4)}`,
    `the hash ${'aB3'.repeat(14)}x alone`,
    `com.example.${'VeryLong'.repeat(5)}Cls`,
    'as.eyJ is short',
    'https://example.org/a%2Eb?c=d%2e',
    `sha256-${'aB3'.repeat(14)}x=`,
  ])('text that only resembles them is kept: %s', (text) => {
    expect(redactTokens(text)).toBe(text);
  });

  it('are searched in linear time', () => {
    const parts = ['s.', 'o.', 'w.', 'eyJ', 's.eyJ', 'o%2E', 'aB3', '.', '%2E', '\\u002e', '\\n', 'o.aB3', '[1;', ' '];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...parts), { minLength: 1, maxLength: 4 }), (seed) => {
        const before = performance.now();
        redactTokens(seed.join('').repeat(100_000).slice(0, 256_000));
        // A quadratic pattern needs minutes for this.
        expect(performance.now() - before).toBeLessThan(10_000);
      }),
      { numRuns: 50 },
    );
  }, 120_000);
});
