import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyEmbedding, anyToken } from '../../protocol/own-tokens.cases.ts';
import { REDACTED_TOKEN, secretForms, secretPartOf } from '../../protocol/redact-tokens.ts';
import { TokenFilter } from './output.ts';

function filtered(pieces: readonly Buffer[], known: readonly string[] = []): Buffer {
  const kept: Uint8Array[] = [];
  const filter = new TokenFilter(known, (chunk) => kept.push(chunk));
  for (const piece of pieces) filter.push(piece);
  filter.end();
  return Buffer.concat(kept);
}

function cut(bytes: Buffer, at: readonly number[]): Buffer[] {
  const places = [...new Set(at.map((each) => each % (bytes.length + 1)))].toSorted((a, b) => a - b);
  return [...places, bytes.length].map((end, i) => bytes.subarray(places[i - 1] ?? 0, end));
}

describe('the token filter', () => {
  it('passes no token, however the output is cut into pieces', () => {
    fc.assert(
      fc.property(anyToken, anyEmbedding, fc.array(fc.nat(), { maxLength: 8 }), (token, embed, at) => {
        const text = embed(token);
        const kept = filtered(cut(Buffer.from(text), at)).toString();
        expect(kept).not.toContain(secretPartOf(token));
        expect(kept).toContain(REDACTED_TOKEN);
      }),
      { numRuns: 2000 },
    );
  });

  it('leaves all other bytes unchanged', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.array(fc.nat(), { maxLength: 8 }), (bytes, at) => {
        const whole = Buffer.from(bytes);
        expect(filtered(cut(whole, at)).equals(whole)).toBe(true);
      }),
    );
  });

  it('finds the secret part of a known token, whatever precedes it', () => {
    const secret = `${'aB3'.repeat(14)}x`;
    const known = secretForms(`s.payload.${secret}`);
    expect(filtered([Buffer.from('half of it'), Buffer.from(` xyz${secret}`)], known).toString()).not.toContain(secret);
  });

  it('holds back only what may begin a token', () => {
    const kept: string[] = [];
    const filter = new TokenFilter([], (chunk) => kept.push(Buffer.from(chunk).toString()));
    filter.push(Buffer.from('Working on it ... '));
    filter.push(Buffer.from('[y/n]'));
    expect(kept.join('')).toBe('Working on it ... [y/n]');
    filter.push(Buffer.from(' s.eyJ'));
    filter.push(Buffer.from('abc'));
    expect(kept.join('')).toBe('Working on it ... [y/n] ');
    filter.push(Buffer.from(' it was none'));
    expect(kept.join('')).toBe('Working on it ... [y/n] s.eyJabc it was none');
  });

  it('holds a few kilobytes at most', () => {
    let size = 0;
    const filter = new TokenFilter([], (chunk) => void (size += chunk.length));
    const piece = Buffer.from('o.a'.repeat(20_000));
    for (let i = 0; i < 10; i += 1) filter.push(piece);
    expect(10 * piece.length - size).toBeLessThan(5000);
  });
});
