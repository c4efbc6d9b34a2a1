import type { Data, DataElement, Element, Elements } from './element.ts';

/** The elements of a checked message, in the order in which its edge declares them. */
export function messageTree(root: string, fields: object, elements: Elements): DataElement {
  const given = new Map<string, unknown>(Object.entries(fields));
  const content: DataElement[] = [];
  for (const [name, element] of Object.entries(elements)) {
    const value = given.get(name);
    if (value !== undefined) content.push(elementTree(name, value, element));
  }
  return { name: root, content };
}

function elementTree(name: string, value: unknown, element: Element): DataElement {
  if (element.kind === 'free') return { name, content: dataTree(value) };
  if (element.kind === 'group') return messageTree(name, isObject(value) ? value : {}, element.elements);
  if (element.kind !== 'list') return { name, content: textOf(value) };
  return { name, content: itemsOf(value).map((item) => itemTree(element.item, item)) };
}

function itemTree(name: string, item: unknown): DataElement {
  if (!isObject(item)) return { name, content: textOf(item) };
  const { text, ...attributes } = item;
  return { name, attributes: textsOf(attributes), content: textOf(text) };
}

function dataTree(value: unknown): Data {
  if (!Array.isArray(value)) return textOf(value);
  return itemsOf(value).map((item) => {
    const { name, attributes, content } = isObject(item) ? item : {};
    return { name: textOf(name), attributes: textsOf(attributes), content: dataTree(content) };
  });
}

function textsOf(fields: unknown): Record<string, string> {
  if (!isObject(fields)) return {};
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, textOf(value)]));
}

function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The check has let nothing else through than these three. */
function textOf(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' ? value : '';
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
