import { ELEMENT_FORMATS } from './element-format.ts';
import type { Element, Scalar } from './element.ts';

/** A small example of an element as it would be written, for hints: `<branch>feature/issue-123-user-auth</branch>`. */
export function exampleOf(name: string, element: Element, attributes: Readonly<Record<string, Scalar>> = {}): string {
  const written = Object.entries(attributes).map(([key, scalar]) => ` ${key}="${contentOf(scalar)}"`);
  return `<${name}${written.join('')}>${contentOf(element)}</${name}>`;
}

function contentOf(element: Element): string {
  switch (element.kind) {
    case 'text':
      return element.format === undefined ? '…' : ELEMENT_FORMATS[element.format].example;
    case 'choice':
      return element.values[0] ?? '…';
    case 'count':
      return String(element.min ?? 0);
    case 'flag':
      return 'true';
    case 'list':
      return exampleOf(element.item, { kind: 'text' }, element.attributes);
    case 'group':
      return Object.entries(element.elements)
        .map(([name, inner]) => exampleOf(name, inner))
        .join('');
    case 'free':
      return '…';
  }
}
