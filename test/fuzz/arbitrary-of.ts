import fc from 'fast-check';
import type { ObjectShape, Shape, TextShape } from '../../src/protocol/shape/shape.ts';
import { elementFormats } from '../../src/protocol/handoff/arbitrary.cases.ts';
import { TEXT_FORMATS, type TextFormat } from '../../src/protocol/text/text-format.ts';

/** Words that some parser takes for a number, a boolean, a date or null. */
const DECEPTIVE = [
  ['no', 'No', 'NO', 'yes', 'on', 'off', 'y', 'n', 'true', 'False', 'null', 'Null', '~', ''],
  ['1', '0', '-0', '1e5', '1E5', '012', '0o12', '0x1F', '0b11', '1_000', '.5', '5.', '+1', '-1'],
  ['.inf', '-.inf', '.nan', 'NaN', 'Infinity', '1:30', '12:30:45', '2025-01-15', '2025-01-15T10:30:00Z'],
  ['<<', '=', '-', '- a', '? a', ': a', 'a: b', 'a #b', '#a', '&a', '*a', '!a', '!!str a', '%a', '@a', '`a'],
  ['---', '--- a', '...', '|', '>', '"', "'", '"a"', "'a'", '[', ']', '{}', '[a]', '{a: b}', ',', '\\', '\\n'],
  [' a', 'a ', '\ta', 'a\t', '\n', 'a\n', '\na', ' \n a', 'a\n\n\nb\n\n', 'a \nb', 'a\r\nb', 'a\rb', '\r'],
  ['\0', '\b', '\x1b[31m', '\x7f', '\x85', '\xa0', '\u2028', '\u2029', '\ufeff', '\ufffe', '\uffff'],
  ['é', '漢', '😀', '\u{10ffff}', 'e\u0301', '__proto__', 'constructor', 'toString'],
].flat();

/** Any Unicode text, with a preference for what breaks parsers. */
export const anyText = fc.oneof(
  fc.constantFrom(...DECEPTIVE),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.array(fc.constantFrom(...DECEPTIVE, 'word', ' ', '\n', '\n  '), { maxLength: 8 }).map((parts) => parts.join('')),
);

/** Any data that the ledger can record, except what every parser refuses. */
const anyData = fc
  .jsonValue({ maxDepth: 4, stringUnit: 'binary' })
  .map((value) => JSON.stringify(value))
  .filter((json) => !json.includes('__proto__'))
  // Removes -0 by a round trip through JSON, and fractions, which the ledger does not allow.
  .map((json): unknown => JSON.parse(json, (_, value: unknown) => (isFraction(value) ? 7 : value)));

/** Generators for fields with constraints that a shape cannot express, by name. */
export type Overrides = Readonly<Record<string, fc.Arbitrary<unknown>>>;

/** Generates valid values from the same shape as the checker and the JSON Schema. */
export function arbitraryOf(shape: ObjectShape, overrides: Overrides = {}): fc.Arbitrary<object> {
  const fields = Object.entries(shape.fields);
  const known = fc.record(
    Object.fromEntries(fields.map(([name, field]) => [name, overrides[name] ?? arbitraryOfShape(field)])),
    {
      requiredKeys: fields.filter(([, field]) => !field.optional).map(([name]) => name),
      noNullPrototype: true,
    },
  );
  if (!shape.open) return known;
  const others = fc.dictionary(anyText, anyData, { maxKeys: 4, noNullPrototype: true });
  return fc
    .tuple(others, known)
    .filter(([extra]) => !Object.hasOwn(extra, '__proto__'))
    .map(([extra, own]) => ({ ...extra, ...own }));
}

function arbitraryOfShape(shape: Shape): fc.Arbitrary<unknown> {
  switch (shape.kind) {
    case 'text':
      return arbitraryText(shape);
    case 'choice':
      return fc.constantFrom(...shape.values);
    case 'number': {
      const { min = -1e9, max = 1e9, whole } = shape;
      const numbers = whole ? fc.integer({ min, max }) : fc.double({ min, max, noNaN: true });
      return numbers.map((number) => (number === 0 ? 0 : number));
    }
    case 'flag':
      return shape.only === undefined ? fc.boolean() : fc.constant(shape.only);
    case 'list':
      return fc.array(arbitraryOfShape(shape.of), {
        minLength: shape.min ?? 0,
        maxLength: (shape.min ?? 0) + 3,
      });
    case 'object':
      return arbitraryOf(shape);
    case 'map':
      return fc.dictionary(arbitraryText({ kind: 'text', ...shape.names }), arbitraryOfShape(shape.of), {
        maxKeys: 3,
        noNullPrototype: true,
      });
    case 'either':
      return fc.oneof(...shape.options.map((option) => arbitraryOfShape(option)));
    case 'any':
      return anyData;
  }
}

function arbitraryText(shape: TextShape): fc.Arbitrary<string> {
  const { pattern, format, notEmpty } = shape;
  if (format !== undefined) return FORMATS[format].filter((text) => TEXT_FORMATS[format].fits(text));
  if (pattern !== undefined && pattern.startsWith('^')) {
    // Negative lookaheads cannot be generated from, only filtered by.
    const fitting = fc.stringMatching(new RegExp(pattern.replaceAll(/\(\?![^)]*\)/g, ''), 'u'));
    return fitting.filter((text) => new RegExp(pattern, 'u').test(text));
  }
  const texts = pattern === undefined ? anyText : anyText.filter((text) => new RegExp(pattern, 'u').test(text));
  return notEmpty ? texts.filter((text) => text !== '') : texts;
}

const FORMATS: Record<TextFormat, fc.Arbitrary<string>> = {
  ...elementFormats,
  'iso-8601': fc
    .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
    .map((date) => date.toISOString()),
  'relative-path': fc.array(anyText, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/')),
  'git-ref': fc.oneof(
    anyText,
    fc.stringMatching(/^[a-z0-9]{1,8}(\/[a-z0-9._-]{1,8}){0,3}$/),
    fc.constantFrom('no', '1e5', '012', '0x1F', '2025-01-15', 'null', 'feature/p0-1-1-package-setup'),
  ),
  'git-sha': fc.oneof(
    fc.stringMatching(/^[0-9a-fA-F]{7,40}$/),
    fc.constantFrom('1e5', '0123456', '1234567', '00000000', '12e34567'),
  ),
};

function isFraction(value: unknown): boolean {
  return typeof value === 'number' && !Number.isSafeInteger(value);
}
