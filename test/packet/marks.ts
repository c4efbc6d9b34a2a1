import { elementsOfEdge } from '../../src/protocol/handoff/edges.ts';
import type { HandoffEdge } from '../../src/protocol/handoff/index.ts';
import type { Element, Elements, ObjectShape, Shape } from '../../src/protocol/shape/shape.ts';

/** The mark of each field by its path, such as `issues[].description`. */
export type Marked = ReadonlyMap<string, string>;

interface Filled {
  readonly value: Readonly<Record<string, unknown>>;
  readonly marks: Marked;
}

export function shapeFields(shape: ObjectShape): readonly string[] {
  return [...fillShape(shape).marks.keys()];
}

export function elementFields(edge: HandoffEdge): readonly string[] {
  return [...fillElements(edge).marks.keys()];
}

/**
 * Returns a value of the shape with a different mark in every field. Fields in `given` have that value instead, which
 * is then their mark.
 */
export function fillShape(shape: ObjectShape, given: Readonly<Record<string, unknown>> = {}): Filled {
  const marks = new Map<string, string>();
  const value = fill(shape, '', given, marks) as Readonly<Record<string, unknown>>; // oxlint-disable-line typescript/no-unsafe-type-assertion
  return { value, marks };
}

function fill(
  shape: Shape,
  path: string,
  given: Readonly<Record<string, unknown>>,
  marks: Map<string, string>,
): unknown {
  if (shape.kind === 'object') {
    const own = given[path];
    const deeper = typeof own === 'object' ? prefixed(own as Record<string, unknown>, path) : {};
    const fields = Object.entries(shape.fields).map(([name, field]) => [
      name,
      fill(field, path === '' ? name : `${path}.${name}`, { ...given, ...deeper }, marks),
    ]);
    const open = shape.open === true ? [['anything', mark(marks, `${path}.*`)]] : [];
    return Object.fromEntries([...fields, ...open]);
  }
  if (path in given) {
    marks.set(path, String(given[path]));
    return given[path];
  }
  switch (shape.kind) {
    case 'list':
      return [fill(shape.of, `${path}[]`, given, marks)];
    case 'text':
      return mark(marks, path, shape.format ?? shape.pattern);
    case 'choice': {
      const value = shape.values.at(-1) ?? '';
      marks.set(path, value);
      return value;
    }
    case 'number': {
      const value = Math.min(shape.max ?? 9000, (shape.min ?? 0) + 11 + marks.size);
      marks.set(path, String(value));
      return value;
    }
    case 'flag':
      marks.set(path, path);
      return true;
    case 'map':
    case 'either':
    case 'any':
      return mark(marks, path);
  }
}

function prefixed(own: Readonly<Record<string, unknown>>, path: string): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(own).map(([name, value]) => [`${path}.${name}`, value]));
}

export function fillElements(edge: HandoffEdge): Filled {
  const marks = new Map<string, string>();
  const value = fillAll(elementsOfEdge(edge), '', marks);
  const { from: _from, to: _to, ...rest } = value;
  marks.delete('from');
  marks.delete('to');
  return { value: rest, marks };
}

function fillAll(elements: Elements, path: string, marks: Map<string, string>): Record<string, unknown> {
  const entries = Object.entries(elements).map(([name, element]) => [
    name,
    fillElement(element, `${path}${name}`, marks),
  ]);
  return Object.fromEntries(entries);
}

function fillElement(element: Element, path: string, marks: Map<string, string>): unknown {
  switch (element.kind) {
    case 'text':
      return mark(marks, path, element.format);
    case 'choice': {
      const value = element.values.at(-1) ?? '';
      marks.set(path, value);
      return value;
    }
    case 'count': {
      const value = Math.min(element.max ?? 9000, (element.min ?? 0) + 11 + marks.size);
      marks.set(path, `${path.split('.').at(-1)}: ${value}`);
      return value;
    }
    case 'flag':
      marks.set(path, 'true');
      return true;
    case 'list': {
      if (element.attributes === undefined) return [mark(marks, `${path}[]`)];
      const attributes = fillAll(element.attributes, `${path}[].`, marks);
      return [{ ...attributes, text: mark(marks, `${path}[]`) }];
    }
    case 'group':
      return fillAll(element.elements, `${path}.`, marks);
    case 'free':
      return [
        {
          name: mark(marks, `${path}.name`),
          attributes: { key: mark(marks, `${path}.attribute`) },
          content: mark(marks, `${path}.content`),
        },
      ];
  }
}

/** Returns a text of the format that no other field has. */
function mark(marks: Map<string, string>, path: string, format?: string): string {
  const n = marks.size + 1;
  const word = `mark${n}q`;
  const hex = `${n}`.padStart(4, '0').padEnd(40, 'c');
  const byFormat: Readonly<Record<string, string>> = {
    url: `https://example.invalid/${word}`,
    digits: `77${n}`,
    branch: `feature/${word}`,
    'git-ref': `feature/${word}`,
    sha: hex,
    'git-sha': hex,
    timestamp: `2026-01-01T00:00:${String(n).padStart(2, '0')}Z`,
    'relative-path': `src/${word}.ts`,
  };
  const known = byFormat[format ?? ''] ?? (format?.includes('[0-9a-f]{40}') === true ? hex : undefined);
  const text = known ?? (format?.includes('0-9a-f]{64}') === true ? 'd'.repeat(60) + String(n).padStart(4, '0') : word);
  marks.set(path, text);
  return text;
}
