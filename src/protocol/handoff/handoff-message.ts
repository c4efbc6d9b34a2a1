import { PROTOCOL_LIMITS } from '../limits.ts';
import { checkShape } from '../shape/check-shape.ts';
import { type Finding, problemAt } from '../shape/finding.ts';
import { accepted, didYouMean, type Parsed, quote, refused, type Refused } from '../shape/problem.ts';
import { fieldsOf, isObject, listOf } from '../shape/read-unknown.ts';
import type { DataElement, Element, Elements } from '../shape/shape.ts';
import { type Node, sourceOf, treeOfValue } from '../text/node.ts';
import { utf8Length } from '../text/text-format.ts';
import { parseXmlBytes, parseXmlTree, type XmlDocument } from '../text/xml.ts';
import { ELEMENT_WORDING } from './element-wording.ts';
import type { HandoffMessage } from './handoff.ts';
import { readElements } from './read-elements.ts';

export type HandoffKind = HandoffMessage['kind'];
export type FindExpectation = (kind: HandoffKind, from: unknown, to: unknown) => ExpectedHandoff;

interface ExpectedHandoff {
  readonly elements: Elements;
  /** Reported instead of all other findings, which would distract if the sender or receiver is wrong. */
  readonly otherwise?: Finding;
}

const HANDOFF_KINDS: readonly HandoffKind[] = ['handoff', 'workflow-complete'];

/**
 * Parses XML (text or UTF-8 bytes), or an object in value form. Returns a checked message, or problems with their
 * places.
 */
export function parseHandoffMessage(input: unknown, expect: FindExpectation): Parsed<HandoffMessage> {
  try {
    if (typeof input === 'string') return parseXml(parseXmlTree(input), expect);
    if (input instanceof Uint8Array) return parseXml(parseXmlBytes(input), expect);
    return parseValue(input, expect);
  } catch {
    // A proxy can throw even if its class is read.
    return refuse([UNREADABLE]);
  }
}

function parseXml(xml: Parsed<XmlDocument>, expect: FindExpectation): Parsed<HandoffMessage> {
  if (!xml.ok) return xml;
  const { root, text } = xml.value;
  const kind = HANDOFF_KINDS.find((name) => name === root.name);
  if (!kind) return refuse([unknownKind('root element', root.name, root.at)], text);
  const end = (name: string) => root.children.find((child) => child.name === name);
  const { elements, otherwise } = expect(kind, end('from')?.text, end('to')?.text);
  const misread: Finding[] = [];
  const node = readElements(root, elements, misread);
  const checked = checkMessage(kind, node, elements);
  const findings = [
    ...misread,
    ...checked.findings.filter(({ path }) => !misread.some((found) => covers(found, path))),
  ];
  if (findings.length === 0) return accepted(checked.message);
  return refuse(relevant(findings, otherwise && { ...otherwise, at: end('to')?.at ?? root.at }), text);
}

function parseValue(input: unknown, expect: FindExpectation): Parsed<HandoffMessage> {
  const budget = { units: PROTOCOL_LIMITS.handoffBytes * UNITS_PER_BYTE, isLenient: true };
  const read = treeOfValue(input, budget);
  if (!read.ok) return refuse([budget.units < 0 ? tooLarge(`more than ${PROTOCOL_LIMITS.handoffBytes}`) : UNREADABLE]);
  const fields = new Map(read.node.kind === 'object' ? read.node.fields : []);
  const given = fields.get('kind')?.value;
  const name = given === undefined || given.kind === 'null' ? 'handoff' : sourceOf(given);
  const kind = HANDOFF_KINDS.find((each) => each === name);
  if (!kind) return refuse([unknownKind('kind', name)]);
  fields.delete('kind');
  const node = read.node.kind === 'object' ? { ...read.node, fields } : read.node;
  const { elements, otherwise } = expect(kind, textIn(node, 'from'), textIn(node, 'to'));
  const { message, findings } = checkMessage(kind, node, elements);
  return findings.length > 0 ? refuse(relevant(findings, otherwise)) : accepted(message);
}

/** In value form, field names of free content cost more than `<a/>` does in XML: 15 units for 4 bytes. */
const UNITS_PER_BYTE = 4;

function textIn(node: Node, name: string): string | undefined {
  const value = node.kind === 'object' ? node.fields.get(name)?.value : undefined;
  return value?.kind === 'text' ? value.text : undefined;
}

/** Checks a message. Refuses one that is too large as XML, so that an accepted handoff can always be sent on. */
function checkMessage(
  kind: HandoffKind,
  node: Node,
  elements: Elements,
): { readonly message: HandoffMessage; readonly findings: readonly Finding[] } {
  const { value, findings } = checkShape({ kind: 'group', elements }, node, 'Handoff', ELEMENT_WORDING);
  const bytes = findings.length === 0 ? utf8Length(renderHandoffMessage(kind, value, elements)) : 0;
  // The only place where checked data gets its type.
  const message = { kind, ...(value as object) } as HandoffMessage; // oxlint-disable-line typescript/no-unsafe-type-assertion
  return { message, findings: bytes > PROTOCOL_LIMITS.handoffBytes ? [tooLarge(String(bytes), node.at)] : findings };
}

/** Indents the XML for people, unless only the compact form is small enough. */
export function renderHandoffMessage(kind: HandoffKind, fields: unknown, elements: Elements): string {
  const tree = messageTree(kind, fields, elements);
  const indented = renderXml(tree, 'indented');
  return utf8Length(indented) > PROTOCOL_LIMITS.handoffBytes ? renderXml(tree, 'compact') : indented;
}

/** Sender and receiver determine which elements are required, so problems with them are reported alone. */
function relevant(findings: readonly Finding[], otherwise: Finding | undefined): readonly Finding[] {
  const ends = findings.filter(({ path }) => path === 'from' || path === 'to');
  if (ends.length > 0) return ends;
  return otherwise ? [otherwise] : findings;
}

/**
 * Reports whether a finding makes another one redundant: an element with the wrong kind of content is one problem, and
 * missing elements inside it are not reported.
 */
function covers({ code, path }: Finding, other: string): boolean {
  if (!code.startsWith('handoff/unexpected-')) return false;
  return path === '' || other === path || other.startsWith(`${path}.`) || other.startsWith(`${path}[`);
}

function refuse(findings: readonly Finding[], text?: string): Refused {
  const reported = findings.slice(0, PROTOCOL_LIMITS.problems);
  const sorted = text === undefined ? reported : reported.toSorted((a, b) => a.at - b.at);
  const [first, ...rest] = sorted.map((finding) => problemAt(finding, text));
  if (!first) throw new Error('a refusal needs a problem');
  return refused(first, ...rest);
}

function unknownKind(what: string, given: string, at = 0): Finding {
  const message = `Unknown ${what}: ${quote(given)} (expected ${HANDOFF_KINDS.join(' or ')})`;
  const hint = didYouMean(given, HANDOFF_KINDS) ?? 'Start with <handoff>.';
  return { code: 'handoff/unknown-kind', message, path: '', at, hint };
}

const UNREADABLE: Finding = {
  code: 'handoff/unreadable',
  message: 'Handoff could not be read',
  path: '',
  at: 0,
  hint: 'Send XML text, or plain data.',
};

function tooLarge(bytes: string, at = 0): Finding {
  const message = `Handoff too large: ${bytes} bytes as XML, ${PROTOCOL_LIMITS.handoffBytes} bytes maximum`;
  return { code: 'handoff/too-large', message, path: '', at, hint: 'Keep long text in a file, and name the file.' };
}

function messageTree(name: string, value: unknown, elements: Elements): DataElement {
  const fields = fieldsOf(value);
  const content = Object.entries(elements).flatMap(([child, element]) =>
    fields[child] === undefined ? [] : [elementTree(child, fields[child], element)],
  );
  return { name, content };
}

function elementTree(name: string, value: unknown, element: Element): DataElement {
  if (element.kind === 'free') return dataTree(name, value);
  if (element.kind === 'group') return messageTree(name, value, element.elements);
  if (element.kind !== 'list') return { name, content: String(value) };
  return { name, content: listOf(value).map((item) => itemTree(element.item, item)) };
}

function itemTree(name: string, item: unknown): DataElement {
  if (!isObject(item)) return { name, content: String(item) };
  const { text, ...attributes } = item;
  return { name, attributes: textsOf(attributes), content: String(text) };
}

function dataTree(name: string, content: unknown): DataElement {
  if (!Array.isArray(content)) return { name, content: String(content) };
  const children = listOf(content).map((child) => {
    const { name: childName, attributes, content: inner } = fieldsOf(child);
    return { ...dataTree(String(childName), inner), attributes: textsOf(attributes) };
  });
  return { name, content: children };
}

function textsOf(fields: unknown): Record<string, string> {
  return Object.fromEntries(Object.entries(fieldsOf(fields)).map(([name, value]) => [name, String(value)]));
}

/** Escapes white space and characters that a parser would change. The compact layout is the shortest spelling. */
function renderXml(element: DataElement, layout: 'indented' | 'compact'): string {
  return layout === 'indented' ? write(element, '', '  ', '\n') : write(element, '', '', '');
}

function write({ name, attributes = {}, content }: DataElement, indent: string, step: string, end: string): string {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}=${quoteAttribute(value)}`);
  const start = `${indent}<${name}${written.join('')}`;
  if (content.length === 0) return `${start}/>${end}`;
  if (typeof content === 'string') return `${start}>${escapeText(content)}</${name}>${end}`;
  const children = content.map((child) => write(child, indent + step, step, end)).join('');
  return `${start}>${end}${children}${indent}</${name}>${end}`;
}

/**
 * Escapes white space at the ends, which a parser reads as layout, carriage returns, which it reads as line feeds, and
 * `]]>`.
 */
function escapeText(text: string): string {
  const escaped = text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(']]>', ']]&gt;')
    .replaceAll('\r', '&#13;');
  const start = /^[ \t\n]*/.exec(escaped)?.[0].length ?? 0;
  let end = escaped.length;
  while (end > start && ' \t\n'.includes(escaped.charAt(end - 1))) end -= 1;
  return (
    asReferences(escaped.slice(0, start), /[ \t\n]/g) +
    escaped.slice(start, end) +
    asReferences(escaped.slice(end), /[ \t\n]/g)
  );
}

/**
 * Uses the kind of quotes that occurs less often in the value, and escapes white space that a parser would read as
 * spaces.
 */
function quoteAttribute(value: string): string {
  const escaped = value.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const quote = value.split('"').length > value.split("'").length ? "'" : '"';
  return quote + asReferences(escaped, quote === '"' ? /["\t\n\r]/g : /['\t\n\r]/g) + quote;
}

function asReferences(text: string, characters: RegExp): string {
  return text.replace(characters, (character) => `&#${character.charCodeAt(0)};`);
}
