import fc from 'fast-check';
import type { CountElement, Data, DataElement, Element, Elements } from '../shape/shape.ts';
import { type ElementFormat, isGitRef } from '../text/text-format.ts';
import { BASE_ELEMENTS, type Edge, EDGES, elementsOfEdge, WORKFLOW_COMPLETE } from './edges.ts';

/** Any text that XML can contain, with more difficult characters than chance would give. */
export const anyText = fc.string({
  unit: fc.oneof(
    fc.constantFrom(' ', '\t', '\n', '\r', '\r\n', '<', '>', '&', ']]>', '"', "'", '&amp;', '<!--', '\u0085', '\u2028'),
    fc.integer({ min: 0x20, max: 0xd7ff }).map((code) => String.fromCodePoint(code)),
    fc.integer({ min: 0xe000, max: 0xfffd }).map((code) => String.fromCodePoint(code)),
    fc.integer({ min: 0x10000, max: 0x10ffff }).map((code) => String.fromCodePoint(code)),
    fc.constantFrom('a', 'b', '1e5', '00123', 'no', 'true'),
  ),
  maxLength: 20,
});

const someText = anyText.filter((text) => text !== '');

/** Texts of each format that a runbook may name. */
export const elementFormats: Record<ElementFormat, fc.Arbitrary<string>> = {
  agent: fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,20}$/),
  branch: fc.oneof(
    fc.constantFrom('no', '1e5', 'a&b', 'ü/x<y'),
    someText.filter((text) => text !== '' && isGitRef(text)),
  ),
  digits: fc.stringMatching(/^[0-9]{1,12}$/),
  sha: fc.stringMatching(/^[0-9a-fA-F]{1,40}$/),
  timestamp: fc
    .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
    .map((date) => date.toISOString()),
  url: fc.webUrl({ withQueryParameters: true, withFragments: true }),
};

const names = fc.oneof(
  fc.constantFrom('a', '_b', 'c:d', 'é-1', '__proto__', 'constructor', 'name', 'text', '\u{10400}x', 'xml'),
  fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_.-]{0,8}$/),
);

const attributes = fc
  .array(fc.tuple(names, anyText), { minLength: 1, maxLength: 3 })
  .map((entries): Readonly<Record<string, string>> => Object.fromEntries(entries));

const { data } = fc.letrec<{ data: Data; element: DataElement }>((tie) => ({
  data: fc.oneof({ maxDepth: 4 }, anyText, fc.array(tie('element'), { minLength: 1, maxLength: 3 })),
  element: fc.record({ name: names, attributes, content: tie('data') }, { requiredKeys: ['name', 'content'] }),
}));

function valueFor(element: Element): fc.Arbitrary<unknown> {
  switch (element.kind) {
    case 'text':
      if (element.format !== undefined) return elementFormats[element.format];
      return element.may_be_empty === true ? anyText : someText;
    case 'choice':
      return fc.constantFrom(...element.values);
    case 'count':
      return fc.integer({ min: element.min ?? 0, max: element.max ?? Number.MAX_SAFE_INTEGER });
    case 'flag':
      return fc.boolean();
    case 'list': {
      const text = { kind: 'text' } as const;
      const item: fc.Arbitrary<unknown> = element.attributes ? groupFor({ ...element.attributes, text }) : someText;
      return fc.array(item, { minLength: element.min ?? 0, maxLength: 4 });
    }
    case 'group':
      return groupFor(element.elements);
    case 'free':
      return data;
  }
}

function groupFor(elements: Elements): fc.Arbitrary<Record<string, unknown>> {
  const fields = Object.entries(elements);
  const required = fields.filter(([, element]) => element.optional !== true).map(([name]) => name);
  return fc
    .record(Object.fromEntries(fields.map(([name, element]) => [name, valueFor(element)])), {
      requiredKeys: required,
    })
    .map((group) => ({ ...group }));
}

/** Raises counts to the number of listed items, because lower counts are invalid. */
function countHonestly(elements: Elements, value: Record<string, unknown>): Record<string, unknown> {
  const raised = Object.entries(elements).flatMap(([name, element]) => {
    const given = value[name];
    if (element.kind !== 'count' || !element.counts || typeof given !== 'number') return [];
    return [[name, Math.max(given, countListed(value, element.counts))]];
  });
  return { ...value, ...Object.fromEntries(raised) };
}

function countListed(value: Record<string, unknown>, counts: NonNullable<CountElement['counts']>): number {
  const items: unknown = value[counts.list];
  if (!Array.isArray(items)) return 0;
  return items.filter((item: Record<string, unknown>) => item[counts.attribute] === counts.value).length;
}

/** Any valid handoff on this edge. */
export function handoffOn(edge: Edge): fc.Arbitrary<Record<string, unknown>> {
  const elements = elementsOfEdge(edge);
  const ends = { ...(edge.from !== '*' && { from: edge.from }), to: edge.to };
  const known = edge.to === null ? { kind: 'workflow-complete' } : { kind: 'handoff', ...ends };
  return groupFor(elements).map((value) => ({ ...countHonestly(elements, value), ...known }));
}

/** Any valid message. */
export const anyMessage: fc.Arbitrary<Record<string, unknown>> = fc.oneof(
  ...EDGES.map(handoffOn),
  handoffOn(WORKFLOW_COMPLETE),
  baseForm(),
);

export function baseForm(): fc.Arbitrary<Record<string, unknown>> {
  const elements = elementsOfEdge({ to: '', elements: BASE_ELEMENTS });
  return groupFor(elements).map((value) => ({
    ...value,
    kind: 'handoff',
    from: `${String(value['from'])}-x`,
  }));
}
