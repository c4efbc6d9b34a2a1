import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { samples } from '../../../test/lanes.ts';
import type { Node } from './node.ts';
import { parseJsonTree } from './json.ts';

const PIECES = [
  ['{', '}', '[', ']', ',', ':', '"a"', '"b"', '"', '\\', '\\n', '\\u0041', '\\ud83d\\ude00', '\\x', 'é', '😀'],
  ['0', '-', '1', '00', '.', '.5', 'e', 'E+1', '-0', '1e5', 'true', 'false', 'null', 'nul', 'NaN', 'Infinity'],
  [' ', '\n', '\r', '\t', '\v', '\u00a0', '\ufeff', '\0', '//', '/**/', "'", '{"a":', '["a",', '{}', '[]'],
].flat();

describe('readJson against JSON.parse', () => {
  it('reads the same values from what JSON.stringify writes', () => {
    const values = fc.jsonValue({ maxDepth: 8, stringUnit: 'binary' });
    fc.assert(
      fc.property(values, fc.constantFrom(undefined, 2, '\t'), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        fc.pre(!text.includes('__proto__'));
        expect(valueOf(text)).toEqual({ value: JSON.parse(text) });
      }),
      { numRuns: samples(500) },
    );
  });

  it('accepts what JSON.parse accepts and nothing else, made of pieces of JSON', () => {
    const pieces = fc.constantFrom(...PIECES);
    const texts = fc.array(pieces, { maxLength: 8 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(texts, (text) => {
        expect(valueOf(text)).toEqual(expected(text));
      }),
      { numRuns: samples(20_000) },
    );
  });

  it('accepts what JSON.parse accepts and nothing else, after one change to valid JSON', () => {
    const valid = JSON.stringify({ a: [1, -2.5e-3, 'x\n"é😀', null, true], b: { c: {}, d: [[]] } });
    const change = fc.tuple(fc.nat(valid.length), fc.nat(3), fc.string({ unit: 'binary', maxLength: 3 }));
    fc.assert(
      fc.property(change, ([at, removed, added]) => {
        const text = valid.slice(0, at) + added + valid.slice(at + removed);
        expect(valueOf(text)).toEqual(expected(text));
      }),
      { numRuns: samples(5_000) },
    );
  });
});

describe('readJson refuses what JSON.parse accepts', () => {
  it.each([
    ['{"a":1,"b":2,"a":3}', 'duplicate field `a`', 13],
    ['[{"a":{"b":1,"\\u0062":2}}]', 'duplicate field `b`', 13],
    ['{"__proto__":1}', 'field name `__proto__` is not allowed', 1],
    ['["\\ud800"]', 'lone surrogate in a string', 1],
    ['["\\udc00\\ud800"]', 'lone surrogate in a string', 1],
    ['["\ud800"]', 'lone surrogate in a string', 1],
    ['1e309', 'number out of range', 0],
    ['['.repeat(33) + ']'.repeat(33), 'nesting deeper than 32 levels', 32],
  ])('%j', (text, what, at) => {
    expect(JSON.parse(text)).toBeDefined();
    expect(parseJsonTree(text)).toMatchObject({ ok: false, unreadable: { code: 'invalid-json', what, at } });
  });

  it('accepts values just within the limits', () => {
    expect(parseJsonTree('['.repeat(32) + ']'.repeat(32))).toMatchObject({ ok: true });
    expect(valueOf('1.7976931348623157e308')).toEqual({ value: Number.MAX_VALUE });
    expect(valueOf('{"a":{"a":1},"A":2}')).toEqual({ value: { a: { a: 1 }, A: 2 } });
  });
});

describe('readJson reports where it stopped', () => {
  it.each([
    ['', 'unexpected end, expected a value', 0],
    ['  ', 'unexpected end, expected a value', 2],
    ['{"a"', 'unexpected end, expected `:`', 4],
    ['{"a":', 'unexpected end, expected a value', 5],
    ['{"a":1', 'unexpected end, expected `,` or `}`', 6],
    ['[1', 'unexpected end, expected `,` or `]`', 2],
    ['[1,', 'unexpected end, expected a value', 3],
    ['[1,]', 'expected a value', 3],
    ['{,}', 'expected `"`', 1],
    ['{"a":1,}', 'expected `"`', 7],
    ['[1 2]', 'expected `,` or `]`', 3],
    ['{"a" 1}', 'expected `:`', 5],
    ['[01]', 'expected a value', 1],
    ['[1.]', 'expected a value', 1],
    ['[.5]', 'expected a value', 1],
    ['[+1]', 'expected a value', 1],
    ['[-]', 'expected a value', 1],
    ['[1e]', 'expected a value', 1],
    ['[True]', 'expected a value', 1],
    ['[undefined]', 'expected a value', 1],
    ["['a']", 'expected a value', 1],
    ['\ufeff1', 'expected a value', 0],
    ['1 1', 'trailing characters', 2],
    ['"a', 'unterminated string', 2],
    ['"a\\', 'unterminated string', 3],
    ['"a\\"', 'unterminated string', 4],
    ['"a\tb"', 'control character in a string', 2],
    ['"ab\\u12g4"', 'invalid escape `\\u`', 3],
    ['"ab\\x41"', 'invalid escape `\\x`', 3],
    ['"\\n\\\n"', 'invalid escape `\\ `', 3],
    ['"\\😀"', 'invalid escape `\\😀`', 1],
    ['"\\\ud83d"', 'invalid escape `\\\ufffd`', 1],
  ])('%j: %s at %i', (text, what, at) => {
    expect(parseJsonTree(text)).toMatchObject({ ok: false, unreadable: { what, at } });
  });

  it.each(Array.from({ length: 0x20 }, (_, unit) => unit))(
    'at the control character %i, which needs an escape',
    (unit) => {
      const character = String.fromCharCode(unit);
      expect(parseJsonTree(`"${character}"`)).toMatchObject({
        unreadable: { what: 'control character in a string', at: 1 },
      });
      expect(valueOf(JSON.stringify(character))).toEqual({ value: character });
    },
  );

  it('keeps the offset of every node', () => {
    expect(parseJsonTree(' {"a": [1, "b"]}')).toEqual({
      ok: true,
      node: {
        kind: 'object',
        at: 1,
        end: 15,
        fields: new Map([
          [
            'a',
            {
              at: 2,
              value: {
                kind: 'list',
                at: 7,
                items: [
                  { kind: 'number', at: 8, value: 1, source: '1', plain: false },
                  { kind: 'text', at: 11, text: 'b' },
                ],
              },
            },
          ],
        ]),
      },
    });
  });
});

/** The result of JSON.parse, except for the few inputs that only JSON.parse accepts. */
function expected(text: string): { value: unknown } | undefined {
  let refusesMore = false;
  try {
    const value: unknown = JSON.parse(text, (key, part: unknown) => {
      if (key === '__proto__' || !key.isWellFormed()) refusesMore = true;
      if (typeof part === 'string' && !part.isWellFormed()) refusesMore = true;
      if (part === Infinity || part === -Infinity) refusesMore = true;
      return part;
    });
    return refusesMore || hasDuplicates(text) ? undefined : { value };
  } catch {
    return undefined;
  }
}

/** JSON.parse drops duplicate fields, so rendering such an object again gives fewer colons. */
function hasDuplicates(text: string): boolean {
  const outsideStrings = (json: string) => json.replace(/"(?:[^"\\]|\\.)*"/g, '').split(':').length;
  return outsideStrings(text) !== outsideStrings(JSON.stringify(JSON.parse(text)));
}

function valueOf(text: string): { value: unknown } | undefined {
  const read = parseJsonTree(text);
  return read.ok ? { value: plain(read.node) } : undefined;
}

function plain(node: Node): unknown {
  if (node.kind === 'list') return node.items.map(plain);
  if (node.kind === 'text') return node.text;
  if (node.kind !== 'object') return node.value;
  return Object.fromEntries([...node.fields].map(([name, field]) => [name, plain(field.value)]));
}
