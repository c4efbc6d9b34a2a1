import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import canonicalize from 'canonicalize';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from './canonical-json.ts';

const vectors = join(import.meta.dirname, '..', '../../test/fixtures/vectors/canonical-json');

describe('canonicalJson', () => {
  it.each(['arrays', 'french', 'structures', 'unicode', 'values', 'weird'])(
    'writes the vector %s byte by byte',
    (name) => {
      const input: unknown = JSON.parse(readFileSync(join(vectors, `${name}.input.json`), 'utf8'));
      const output = readFileSync(join(vectors, `${name}.output.json`), 'utf8');
      expect(canonicalJson(input, 'any')).toEqual({ ok: true, value: output });
    },
  );

  it('agrees with another implementation on everything that is JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue({ depthSize: 'medium', stringUnit: 'grapheme' }), (value) => {
        const ours = canonicalJson(value, 'any');
        expect(ours).toEqual({ ok: true, value: canonicalize(value) });
      }),
      { numRuns: 500 },
    );
  });

  it('does not depend on the insertion order of keys, including numbers and __proto__', () => {
    const key = fc.oneof(fc.string({ unit: 'grapheme' }), fc.nat().map(String), fc.constant('__proto__'));
    const pairs = fc.uniqueArray(fc.tuple(key, fc.integer()), { selector: ([name]) => name });
    fc.assert(
      fc.property(pairs, (entries) => {
        const [forth, back] = [entries, entries.toReversed()].map((list) =>
          canonicalJson({ inner: [Object.fromEntries(list)] }),
        );
        expect(forth).toEqual(back);
        expect(forth).toEqual({ ok: true, value: canonicalize({ inner: [Object.fromEntries(entries)] }) });
      }),
    );
  });

  it('parses back to the original value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'grapheme' }), (value) => {
        const text = canonicalJson(value, 'any');
        // Negative zero is the one value that JSON cannot hold.
        expect(text.ok && JSON.parse(text.value)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it.each([
    ['a fraction', 1.5],
    ['a number that others cannot hold', 2 ** 53],
    ['not a number', Number.NaN],
    ['infinity', Number.POSITIVE_INFINITY],
    ['undefined', undefined],
    ['a field that is undefined', { a: undefined }],
    ['a hole', Array.from({ length: 2 })],
    ['a function', () => 1],
    ['a big integer', 1n],
    ['a symbol', Symbol('x')],
    ['a date', new Date(0)],
    ['a map', new Map()],
    ['bytes', new Uint8Array(1)],
    ['a lone surrogate', '\ud800'],
    ['a lone surrogate behind a backslash', '\\\udfff'],
    ['a lone surrogate in a key', { '\udc00': 1 }],
    ['a lone surrogate beside a number as a key', { 1: '\udc00' }],
  ])('refuses %s', (_name, value) => {
    expect(canonicalJson({ value: [value] }).ok).toBe(false);
  });

  it('accepts a backslash before ud as text', () => {
    expect(canonicalJson('\\ud800 \u{1f600}')).toEqual({ ok: true, value: '"\\\\ud800 \u{1f600}"' });
  });

  it('accepts 32 levels and no more', () => {
    expect(canonicalJson(nested(32)).ok).toBe(true);
    expect(canonicalJson(nested(33)).ok).toBe(false);
    const loop: unknown[] = [];
    loop.push(loop);
    expect(canonicalJson(loop).ok).toBe(false);
  });

  it('writes negative zero as zero', () => {
    expect(canonicalJson(-0)).toEqual({ ok: true, value: '0' });
  });
});

function nested(depth: number): unknown {
  return depth === 1 ? {} : [nested(depth - 1)];
}
