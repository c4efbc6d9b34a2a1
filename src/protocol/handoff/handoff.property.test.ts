import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { samples } from '../../../test/lanes.ts';
import type { Problem } from '../shape/problem.ts';
import { anyMessage, anyText, baseForm, handoffOn } from './arbitrary.cases.ts';
import { type Edge, EDGES, WORKFLOW_COMPLETE } from './edges.ts';
import { parseHandoff, renderHandoff, validateHandoff } from './index.ts';

const edges: readonly (readonly [string, fc.Arbitrary<Record<string, unknown>>])[] = [
  ...EDGES.map((edge: Edge) => [`${edge.from} → ${edge.to}`, handoffOn(edge)] as const),
  ['workflow-complete', handoffOn(WORKFLOW_COMPLETE)],
  ['base form', baseForm()],
];

describe('rendering, then parsing, changes nothing', () => {
  it.each(edges)('%s', (_, arbitrary) => {
    fc.assert(
      fc.property(arbitrary, (message) => {
        const parsed = parseHandoff(message);
        if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
        expect(parsed.value).toEqual(message);
        const text = renderHandoff(parsed.value);
        const again = parseHandoff(text);
        if (!again.ok) throw new Error(JSON.stringify(again.problems));
        expect(again.value).toEqual(message);
        expect(renderHandoff(again.value)).toBe(text);
      }),
      { numRuns: samples(150) },
    );
  });
});

describe('characters', () => {
  it('a text is kept unchanged or refused', () => {
    const anyUnits = fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) });
    const rest = { from: 'a', to: 'b', timestamp: '2024-01-15T10:30:00Z', issue_number: '1', summary: 'x' };
    fc.assert(
      fc.property(anyUnits, (data) => {
        const parsed = parseHandoff({ ...rest, data });
        const carried = parsed.ok ? parseHandoff(renderHandoff(parsed.value)) : parsed;
        const illegal = { ok: false, problems: [{ code: 'handoff/illegal-character' }] };
        expect(carried).toMatchObject(parsed.ok ? { ok: true, value: { data } } : illegal);
      }),
      { numRuns: samples(1_000) },
    );
  });
});

const fragments = fc.constantFrom(
  '<',
  '>',
  '/',
  '&',
  ';',
  '"',
  "'",
  '=',
  '<!--',
  '-->',
  '<![CDATA[',
  ']]>',
  '<!DOCTYPE a [',
  '<?x ?>',
  '&lol;',
  '&#0;',
  '&#32;',
  '<data>',
  '</data>',
  '<handoff>',
  '</handoff>',
  '<from>x</from>',
  '\u0000',
  '\uD800',
  '\uFEFF',
  ' ',
  '\r',
);

interface Edit {
  readonly at: number;
  readonly remove: number;
  readonly insert: string;
}

const edit = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  remove: fc.oneof(fc.constant(0), fc.nat(40)),
  insert: fc.oneof(fc.constant(''), fragments, anyText),
});

describe('mutated messages', () => {
  it('are accepted and can be rendered, or are refused with a place; the parser never throws', () => {
    fc.assert(
      fc.property(anyMessage, fc.array(edit, { minLength: 1, maxLength: 4 }), (message, edits) => {
        expect(findBroken(edits.reduce(applied, render(message)))).toBeUndefined();
      }),
      { numRuns: samples(3_000) },
    );
  });

  it('any value is refused with a problem', () => {
    const anything = fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true });
    fc.assert(
      fc.property(anything, (value) => {
        expect(validateHandoff(value).length).toBeGreaterThan(0);
      }),
      { numRuns: samples(1_000) },
    );
  });

  it('with any value in a field are accepted and can be rendered, or are refused', () => {
    fc.assert(
      fc.property(anyMessage, fc.nat(), fc.anything(), (message, index, value) => {
        const names = Object.keys(message);
        const name = names[index % names.length] ?? 'from';
        expect(findBroken({ ...message, [name]: value })).toBeUndefined();
      }),
      { numRuns: samples(1_000) },
    );
  });
});

/**
 * Returns the first violation of the parser's contract, which is: the same value after rendering, or problems with
 * code, place and hint.
 */
function findBroken(input: unknown): string | undefined {
  const parsed = parseHandoff(input);
  if (!parsed.ok) return parsed.problems.find((found) => !isUseful(found, typeof input === 'string'))?.message;
  const again = parseHandoff(renderHandoff(parsed.value));
  return isDeepStrictEqual(again, parsed) ? undefined : 'rendering and parsing changed it';
}

function isUseful({ code, message, line, column, hint }: Problem, isText: boolean): boolean {
  const isShort = [message, hint].every((part) => part.length > 0 && part.length < 1_000);
  const isPlaced = isText ? Number(line) > 0 && Number(column) > 0 : line === null && column === null;
  return /^(?:xml|handoff)\/[a-z0-9-]+$/.test(code) && isShort && isPlaced;
}

function applied(text: string, { at, remove, insert }: Edit): string {
  const from = Math.floor(at * text.length);
  return text.slice(0, from) + insert + text.slice(from + remove);
}

function render(message: unknown): string {
  const parsed = parseHandoff(message);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return renderHandoff(parsed.value);
}
