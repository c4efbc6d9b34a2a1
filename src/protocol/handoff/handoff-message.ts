import { PROTOCOL_LIMITS } from '../limits.ts';
import { textPositionAt, type TextPosition } from '../shape/place.ts';
import { accepted, refused, type Parsed, type Problem, type Refused } from '../shape/problem.ts';
import { quote } from '../shape/quote.ts';
import { parseXmlBytes } from '../text/read-xml-bytes.ts';
import { parseXmlTree, type XmlDocument } from '../text/xml.ts';
import { didYouMean } from '../shape/suggest.ts';
import { utf8Length } from '../text/utf8.ts';
import { checkElements } from './check-elements.ts';
import type { Elements } from './element.ts';
import { ElementFindings, handoffTooLarge, type ElementFinding } from './finding.ts';
import type { HandoffMessage } from './handoff.ts';
import { messageTree } from './message-tree.ts';
import { readElements } from './read-elements.ts';
import { renderXml } from './write-xml.ts';

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
