import { type FieldLocation, type Finding, locateField, locateItem, rootSpot } from '../shape/finding.ts';
import { quote } from '../shape/problem.ts';
import type { Element, Elements, ListElement } from '../shape/shape.ts';
import type { ListNode, Node, ObjectField, ObjectNode, TextNode } from '../text/node.ts';
import type { ElementNode } from '../text/xml.ts';

/**
 * Finds only mistakes specific to XML (duplicates, unknown attributes, text in place of elements); the checker finds
 * others.
 */
export function readElements(root: ElementNode, elements: Elements, findings: Finding[]): ObjectNode {
  const spot = rootSpot(root.name, root.at);
  refuseAttributes(root, spot, findings);
  return readGroup(root, elements, spot, findings);
}

function readGroup(element: ElementNode, elements: Elements, spot: FieldLocation, findings: Finding[]): ObjectNode {
  refuseText(element, spot, findings);
  const fields = new Map<string, ObjectField>();
  for (const child of element.children) {
    const { name, at } = child;
    const childSpot = locateField(spot, quote(name), at);
    if (fields.has(name)) {
      const hint = 'Keep one of them: the element may occur only once.';
      findings.push(finding('handoff/duplicate-element', `Duplicate element: ${childSpot.path}`, childSpot, hint));
      continue;
    }
    const shape = Object.hasOwn(elements, name) ? elements[name] : undefined;
    fields.set(name, { at, value: shape ? readElement(child, shape, childSpot, findings) : text(child) });
  }
  return { kind: 'object', at: element.at, end: element.at, fields };
}

function readElement(element: ElementNode, shape: Element, spot: FieldLocation, findings: Finding[]): Node {
  refuseAttributes(element, spot, findings);
  switch (shape.kind) {
    case 'group':
      return readGroup(element, shape.elements, spot, findings);
    case 'list':
      return readList(element, shape, spot, findings);
    case 'free':
      return dataNode(element);
    case 'count':
    case 'flag': {
      const { at, text: source } = onlyText(element, spot, findings);
      const scalar = { at, source, plain: false };
      if (shape.kind === 'flag' && (source === 'true' || source === 'false'))
        return { ...scalar, kind: 'boolean', value: source === 'true' };
      if (shape.kind === 'count' && /^(?:0|[1-9][0-9]*)$/.test(source))
        return { ...scalar, kind: 'number', value: Number(source) };
      return text(element);
    }
    case 'text':
    case 'choice':
      return onlyText(element, spot, findings);
  }
}

function readList(element: ElementNode, list: ListElement, spot: FieldLocation, findings: Finding[]): ListNode {
  refuseText(element, spot, findings);
  const items: Node[] = [];
  for (const child of element.children) {
    if (child.name !== list.item) {
      const childSpot = locateField(spot, quote(child.name), child.at);
      const hint = `Only <${list.item}> is allowed in <${spot.path}>.`;
      findings.push(finding('handoff/unknown-element', `Unknown element: ${childSpot.path}`, childSpot, hint));
      continue;
    }
    const itemSpot = locateItem(spot, items.length, child.at);
    refuseAttributes(child, itemSpot, findings, list.attributes);
    const content = onlyText(child, itemSpot, findings);
    items.push(list.attributes ? itemNode(child, content, list.attributes) : content);
  }
  return { kind: 'list', at: element.at, items };
}

function itemNode({ at, attributes }: ElementNode, content: TextNode, known: object): ObjectNode {
  const given = [...attributes].filter(([name]) => Object.hasOwn(known, name));
  const fields = new Map<string, ObjectField>(
    given.map(([name, value]) => [name, { at, value: { kind: 'text', at, text: value } }]),
  );
  return { kind: 'object', at, end: at, fields: fields.set('text', { at, value: content }) };
}

function dataNode(element: ElementNode): Node {
  const { at, children } = element;
  if (children.length === 0) return text(element);
  const items = children.map((child): ObjectNode => {
    const place = { at: child.at, end: child.at };
    const textField = (value: string): ObjectField => ({
      at: child.at,
      value: { kind: 'text', at: child.at, text: value },
    });
    const attributes = new Map([...child.attributes].map(([name, value]) => [name, textField(value)]));
    const fields = new Map<string, ObjectField>([
      ['name', textField(child.name)],
      ['attributes', { at: child.at, value: { kind: 'object', ...place, fields: attributes } }],
      ['content', { at: child.at, value: dataNode(child) }],
    ]);
    return { kind: 'object', ...place, fields };
  });
  return { kind: 'list', at, items };
}

function text({ at, text: content }: ElementNode): TextNode {
  return { kind: 'text', at, text: content };
}

function onlyText(element: ElementNode, spot: FieldLocation, findings: Finding[]): TextNode {
  const child = element.children[0];
  if (child) {
    const hint = `Write &lt;${quote(child.name)}&gt; if the tag is meant as text.`;
    const message = `Element ${spot.path} must contain only text`;
    findings.push(finding('handoff/unexpected-element', message, { ...spot, at: child.at }, hint));
  }
  return text(element);
}

function refuseText({ name, text: content }: ElementNode, spot: FieldLocation, findings: Finding[]): void {
  if (content === '') return;
  const message = `Element ${spot.path || name} must contain elements, not text`;
  findings.push(finding('handoff/unexpected-text', message, spot, 'Put the text into an element of its own.'));
}

function refuseAttributes(element: ElementNode, spot: FieldLocation, findings: Finding[], allowed: object = {}): void {
  const known = Object.keys(allowed);
  const hint = known.length > 0 ? `Allowed here: ${known.join(', ')}.` : 'Remove it: this element has no attributes.';
  for (const name of element.attributes.keys()) {
    if (known.includes(name)) continue;
    const message = `Unknown attribute: ${quote(name)} of ${spot.path || element.name}`;
    findings.push(finding('handoff/unknown-attribute', message, locateField(spot, quote(name), element.at), hint));
  }
}

function finding(code: string, message: string, { path, at }: FieldLocation, hint: string): Finding {
  return { code, message, path, at, hint };
}
