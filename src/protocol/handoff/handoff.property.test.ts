import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyMessage, anyText, baseForm, handoffOn } from './arbitrary.cases.ts';
import {
  EDGES,
  parseHandoff,
  renderHandoff,
  validateHandoff,
  WORKFLOW_COMPLETE,
  type Edge,
} from './index.ts';

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
      { numRuns: 150 },
    );
  });
});

describe('characters', () => {
  it('a text is carried whole or refused, never changed', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map(String.fromCharCode) }),
        (data) => {
          const message = {
            from: 'a',
            to: 'b',
            timestamp: '2024-01-15T10:30:00Z',
            issue_number: '1',
            summary: 'x',
            data,
          };
          const parsed = parseHandoff(message);
          if (!parsed.ok) {
            expect(parsed.problems[0].code).toBe('handoff/illegal-character');
            return;
          }
          expect(parseHandoff(renderHandoff(parsed.value))).toMatchObject({ ok: true, value: { data } });
        },
      ),
      { numRuns: 1_000 },
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
  it('are accepted as something that can be sent on, or refused with a place; nothing is thrown', () => {
    fc.assert(
      fc.property(anyMessage, fc.array(edit, { minLength: 1, maxLength: 4 }), (message, edits) => {
        const text = edits.reduce(applied, render(message));
        const parsed = parseHandoff(text);
        if (parsed.ok) {
          expect(parseHandoff(renderHandoff(parsed.value))).toEqual(parsed);
          return;
        }
        for (const { code, message: sentence, line, column, hint } of parsed.problems) {
          expect(code).toMatch(/^(?:xml|handoff)\/[a-z0-9-]+$/);
          expect([sentence, hint].every((part) => part.length > 0 && part.length < 1_000)).toBe(true);
          expect(line).toBeGreaterThan(0);
          expect(column).toBeGreaterThan(0);
        }
      }),
      { numRuns: 3_000 },
    );
  });

  it('any value at all is answered', () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }),
        (value) => {
          expect(validateHandoff(value).length).toBeGreaterThan(0);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('any field may be anything', () => {
    fc.assert(
      fc.property(anyMessage, fc.nat(), fc.anything(), (message, index, value) => {
        const names = Object.keys(message);
        const name = names[index % names.length] ?? 'from';
        const parsed = parseHandoff({ ...message, [name]: value });
        if (parsed.ok) expect(parseHandoff(renderHandoff(parsed.value))).toEqual(parsed);
      }),
      { numRuns: 1_000 },
    );
  });
});

function applied(text: string, { at, remove, insert }: Edit): string {
  const from = Math.floor(at * text.length);
  return text.slice(0, from) + insert + text.slice(from + remove);
}

function render(message: unknown): string {
  const parsed = parseHandoff(message);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return renderHandoff(parsed.value);
}
