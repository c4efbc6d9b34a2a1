import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { samples } from '../../test/lanes.ts';
import { arbitraryMessage } from '../../test/fuzz/arbitrary-message.ts';
import { DECLARED_DIALECTS } from '../../test/fuzz/dialects.ts';

describe.each(DECLARED_DIALECTS)('any valid message of $name', (dialect) => {
  const messages = arbitraryMessage(dialect);

  it('is the same after rendering and parsing', () => {
    fc.assert(
      fc.property(messages, (message) => {
        expect(dialect.parse(dialect.render(message))).toEqual({ ok: true, value: message });
      }),
      { numRuns: samples(300) },
    );
  });

  it('is the same as plain JSON, as text and as bytes', () => {
    fc.assert(
      fc.property(messages, (message) => {
        const json = JSON.stringify(message);
        expect(dialect.parse(json)).toEqual({ ok: true, value: message });
        expect(dialect.parse(new TextEncoder().encode(json))).toEqual({ ok: true, value: message });
      }),
    );
  });

  it('is rendered the same way twice', () => {
    fc.assert(
      fc.property(messages, (message) => {
        const text = dialect.render(message);
        const parsed = dialect.parse(text);
        expect(parsed.ok && dialect.render(parsed.value)).toBe(text);
      }),
    );
  });
});
