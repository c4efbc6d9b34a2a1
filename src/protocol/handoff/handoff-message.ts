import { PROTOCOL_LIMITS } from '../limits.ts';
import {
  accepted,
  didYouMean,
  type Parsed,
  type Problem,
  quote,
  refused,
  type Refused,
  type TextPosition,
  textPositionAt,
} from '../shape/problem.ts';
import { utf8Length } from '../text/text-format.ts';
import { parseXmlBytes, parseXmlTree, type XmlDocument } from '../text/xml.ts';
import { checkElements } from './check-elements.ts';
import { type ElementFinding, ElementFindings, handoffTooLarge } from './check-values.ts';
import type { Data, DataElement, Element, Elements } from './element.ts';
import type { HandoffMessage } from './handoff.ts';
import { readElements } from './read-elements.ts';

export type HandoffKind = HandoffMessage['kind'];

/** What is expected of a message, by what it is and who sends it to whom. */
export type FindExpectation = (kind: HandoffKind, from: unknown, to: unknown) => ExpectedHandoff;

export interface ExpectedHandoff {
  readonly elements: Elements;
  /** Said instead of anything else where it does not fit: with the wrong agents, all the rest would be noise. */
  readonly otherwise?: ElementFinding;
}

export const HANDOFF_KINDS: readonly HandoffKind[] = ['handoff', 'workflow-complete'];

/** XML as text or as UTF-8 bytes, or an object in value form: to a checked message, or to problems with their places. */
export function parseHandoffMessage(input: unknown, expect: FindExpectation): Parsed<HandoffMessage> {
  try {
    if (typeof input === 'string') return parseXml(parseXmlTree(input), expect);
    if (input instanceof Uint8Array) return parseXml(parseXmlBytes(input), expect);
    return parseValue(input, expect);
  } catch {
    // Objects from outside can run code when they are looked at. Whatever it threw is none of our business.
    return refuse([finding('handoff/unreadable', 'Handoff could not be read', 'Send XML text, or plain data.')]);
  }
}

function parseXml(xml: Parsed<XmlDocument>, expect: FindExpectation): Parsed<HandoffMessage> {
  if (!xml.ok) return xml;
  const { root } = xml.value;
  const kind = HANDOFF_KINDS.find((name) => name === root.name);
  if (!kind) return refuse([unknownKind('root element', root.name)], xml.value);
  const end = (name: string) => root.children.find((child) => child.name === name)?.text;
  const expected = expect(kind, end('from'), end('to'));
  const read = readElements(root, expected.elements);
  const checked = checkMessage(kind, read.value, expected.elements);
  const isCovered = ({ path }: ElementFinding) => read.findings.some((found) => covers(found, path));
  const findings = [...read.findings, ...checked.findings.filter((found) => !isCovered(found))];
  if (findings.length === 0) return accepted(checked.message);
  return refuse(dropCoveredFindings(findings, expected), xml.value, read.places);
}

function parseValue(input: unknown, expect: FindExpectation): Parsed<HandoffMessage> {
  const isObject = typeof input === 'object' && input !== null && !Array.isArray(input);
  const { kind: given, ...fields }: Record<string, unknown> = isObject ? { ...input } : {};
  const kind = HANDOFF_KINDS.find((name) => name === (given ?? 'handoff'));
  if (!kind) return refuse([unknownKind('kind', String(given))]);
  const expected = expect(kind, fields['from'], fields['to']);
  const { message, findings } = checkMessage(kind, isObject ? fields : input, expected.elements);
  return findings.length > 0 ? refuse(dropCoveredFindings(findings, expected)) : accepted(message);
}

interface CheckedMessage {
  readonly message: HandoffMessage;
  readonly findings: readonly ElementFinding[];
}

/** What Baton would write must fit too: an accepted handoff can always be sent on. */
function checkMessage(kind: HandoffKind, value: unknown, elements: Elements): CheckedMessage {
  const findings = new ElementFindings();
  const fields = checkElements(value, elements, '', findings);
  if (findings.list.length === 0) {
    const bytes = utf8Length(renderHandoffMessage(kind, fields, elements));
    if (bytes > PROTOCOL_LIMITS.handoffBytes) findings.add(handoffTooLarge(String(bytes)));
  }
  // The one place where checked data gets the type that it was checked against.
  const message = { kind, ...fields } as HandoffMessage; // oxlint-disable-line typescript/no-unsafe-type-assertion
  return { message, findings: findings.list };
}

/** Indented for people, unless only the compact form is small enough. */
export function renderHandoffMessage(kind: HandoffKind, fields: object, elements: Elements): string {
  const tree = messageTree(kind, fields, elements);
  const indented = renderXml(tree, 'indented');
  return utf8Length(indented) > PROTOCOL_LIMITS.handoffBytes ? renderXml(tree, 'compact') : indented;
}

/** Who speaks to whom decides what else is asked for; while that is wrong, it is all there is to say. */
function dropCoveredFindings(
  findings: readonly ElementFinding[],
  { otherwise }: ExpectedHandoff,
): readonly ElementFinding[] {
  const ends = findings.filter(({ path }) => path === 'from' || path === 'to');
  if (ends.length > 0) return ends;
  return otherwise ? [otherwise] : findings;
}

/** An element with the wrong kind of content is one problem, not one more for everything that is missing in it. */
function covers({ code, path }: ElementFinding, other: string): boolean {
  if (!code.startsWith('handoff/unexpected-')) return false;
  return path === '' || other === path || other.startsWith(`${path}.`) || other.startsWith(`${path}[`);
}

function refuse(
  found: readonly ElementFinding[],
  xml?: XmlDocument,
  places: ReadonlyMap<string, number> = new Map(),
): Refused {
  const placed = found
    .slice(0, PROTOCOL_LIMITS.problems)
    .map((finding) => ({ finding, at: offsetOf(finding, places) }));
  if (xml) placed.sort((a, b) => a.at - b.at);
  const [first, ...rest] = placed.map(({ finding, at }) => problemOf(finding, xml && textPositionAt(xml.text, at)));
  if (!first) throw new Error('a refusal needs a problem');
  return refused(first, ...rest);
}

function problemOf({ code, message, path, hint }: ElementFinding, place?: TextPosition): Problem {
  return { code, message, path, line: place?.line ?? null, column: place?.column ?? null, hint };
}

/** What is missing is reported at the element that lacks it. */
function offsetOf({ at, path }: ElementFinding, places: ReadonlyMap<string, number>): number {
  if (at !== undefined) return at;
  for (let part = path; part !== ''; part = part.slice(0, Math.max(part.lastIndexOf('.'), part.lastIndexOf('['), 0))) {
    const found = places.get(part);
    if (found !== undefined) return found;
  }
  return places.get('') ?? 0;
}

function unknownKind(what: string, given: string): ElementFinding {
  const message = `Unknown ${what}: ${quote(given)} (expected ${HANDOFF_KINDS.join(' or ')})`;
  return finding('handoff/unknown-kind', message, didYouMean(given, HANDOFF_KINDS) ?? 'Start with <handoff>.');
}

function finding(code: string, message: string, hint: string): ElementFinding {
  return { code, message, path: '', hint };
}

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

/**
 * Writes an element so that reading it gives the same again: what white space and characters would lose is escaped. Compact,
 * no spelling of the same element is shorter, so that what could arrive can always be sent on.
 */
export function renderXml(element: DataElement, layout: 'indented' | 'compact'): string {
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

/** White space at the ends would be taken for layout, and a carriage return for a line feed. `>` matters only after `]]`. */
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

/** In the quotes that occur less often in the value. Other white space than spaces would be read as spaces. */
function quoteAttribute(value: string): string {
  const escaped = value.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const quote = value.split('"').length > value.split("'").length ? "'" : '"';
  return quote + asReferences(escaped, quote === '"' ? /["\t\n\r]/g : /['\t\n\r]/g) + quote;
}

function asReferences(text: string, characters: RegExp): string {
  return text.replace(characters, (character) => `&#${character.charCodeAt(0)};`);
}
