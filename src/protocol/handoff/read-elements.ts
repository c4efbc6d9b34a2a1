import { quote } from '../shape/problem.ts';
import type { ElementNode } from '../text/xml.ts';
import type { ElementFinding } from './check-values.ts';
import type { Data, Element, Elements, ListElement } from './element.ts';

/** What the text says, in the form of a value that is not checked yet, and where it says so. */
export interface ReadElements {
  readonly value: Readonly<Record<string, unknown>>;
  readonly places: ReadonlyMap<string, number>;
  readonly findings: readonly ElementFinding[];
}

/**
 * From elements to a value: what only XML can get wrong (twice the same element, stray attributes, text where elements
 * belong) is found here; everything else is left to the check that values from outside go through too.
 */
export function readElements(root: ElementNode, elements: Elements): ReadElements {
  const reading: Reading = { places: new Map([['', root.at]]), findings: [] };
  refuseAttributes(root, '', reading);
  return { ...reading, value: readGroup(root, elements, '', reading) };
}

interface Reading {
  readonly places: Map<string, number>;
  readonly findings: ElementFinding[];
}

function readGroup(node: ElementNode, elements: Elements, path: string, reading: Reading): Record<string, unknown> {
  refuseText(node, path, reading);
  const fields = new Map<string, unknown>();
  for (const child of node.children) {
    const name = quote(child.name);
    const childPath = path === '' ? name : `${path}.${name}`;
    if (fields.has(child.name)) {
      reading.findings.push(duplicate(child, childPath));
      continue;
    }
    reading.places.set(childPath, child.at);
    const element = Object.hasOwn(elements, child.name) ? elements[child.name] : undefined;
    fields.set(child.name, element ? readElement(child, element, childPath, reading) : child.text);
  }
  return Object.fromEntries(fields);
}

function readElement(node: ElementNode, element: Element, path: string, reading: Reading): unknown {
  refuseAttributes(node, path, reading);
  switch (element.kind) {
    case 'group':
      return readGroup(node, element.elements, path, reading);
    case 'list':
      return readList(node, element, path, reading);
    case 'free':
      return dataOf(node);
    case 'count':
      return /^(?:0|[1-9][0-9]*)$/.test(node.text) ? Number(textOf(node, path, reading)) : textOf(node, path, reading);
    case 'flag':
      return FLAGS.get(node.text) ?? textOf(node, path, reading);
    case 'text':
    case 'choice':
      return textOf(node, path, reading);
  }
}

const FLAGS = new Map([
  ['true', true],
  ['false', false],
]);

function readList(node: ElementNode, list: ListElement, path: string, reading: Reading): unknown[] {
  refuseText(node, path, reading);
  const items: unknown[] = [];
  for (const child of node.children) {
    if (child.name !== list.item) {
      reading.findings.push(foreignItem(child, list.item, path));
      continue;
    }
    const itemPath = `${path}[${items.length}]`;
    reading.places.set(itemPath, child.at);
    refuseAttributes(child, itemPath, reading, list.attributes);
    const text = textOf(child, itemPath, reading);
    items.push(list.attributes ? { ...knownAttributes(child, list.attributes), text } : text);
  }
  return items;
}

function knownAttributes(node: ElementNode, known: object): Record<string, string> {
  return Object.fromEntries([...node.attributes].filter(([name]) => Object.hasOwn(known, name)));
}

function textOf(node: ElementNode, path: string, reading: Reading): string {
  const child = node.children[0];
  if (child) {
    reading.findings.push({
      code: 'handoff/unexpected-element',
      message: `Element ${path} must contain only text`,
      path,
      hint: `Write &lt;${quote(child.name)}&gt; where the tag is meant as text.`,
      at: child.at,
    });
  }
  return node.text;
}

function dataOf(node: ElementNode): Data {
  if (node.children.length === 0) return node.text;
  return node.children.map((child) => ({
    name: child.name,
    ...(child.attributes.size > 0 && { attributes: Object.fromEntries(child.attributes) }),
    content: dataOf(child),
  }));
}

function refuseText(node: ElementNode, path: string, reading: Reading): void {
  if (node.text === '') return;
  reading.findings.push({
    code: 'handoff/unexpected-text',
    message: `Element ${path === '' ? node.name : path} must contain elements, not text`,
    path,
    hint: 'Put the text into an element of its own.',
    at: node.at,
  });
}

function refuseAttributes(node: ElementNode, path: string, reading: Reading, allowed: object = {}): void {
  for (const name of node.attributes.keys()) {
    if (name !== 'text' && Object.hasOwn(allowed, name)) continue;
    const known = Object.keys(allowed);
    reading.findings.push({
      code: 'handoff/unknown-attribute',
      message: `Unknown attribute: ${quote(name)} of ${path === '' ? node.name : path}`,
      path: path === '' ? quote(name) : `${path}.${quote(name)}`,
      hint: known.length > 0 ? `Allowed here: ${known.join(', ')}.` : 'Remove it: this element has no attributes.',
      at: node.at,
    });
  }
}

function duplicate(node: ElementNode, path: string): ElementFinding {
  return {
    code: 'handoff/duplicate-element',
    message: `Duplicate element: ${path}`,
    path,
    hint: 'Keep one of them: what occurs once occurs once.',
    at: node.at,
  };
}

function foreignItem(node: ElementNode, item: string, path: string): ElementFinding {
  return {
    code: 'handoff/unknown-element',
    message: `Unknown element: ${path}.${quote(node.name)}`,
    path: `${path}.${quote(node.name)}`,
    hint: `Only <${item}> may stand in <${path}>.`,
    at: node.at,
  };
}
