import { parseXml, XmlElement, XmlError, XmlText } from '@rgrove/parse-xml';
import { PROTOCOL_LIMITS } from '../limits.ts';
import { accepted, type Parsed, quote, refused, type Refused, textPositionAt } from '../shape/problem.ts';
import type { Unreadable } from './node.ts';
import { decodeUtf8, utf8Length } from './text-format.ts';
import { findRefusedMarkup } from './xml-markup.ts';

/** An element has text or children, never both. `at` is its offset in the document's text. */
export interface ElementNode {
  readonly name: string;
  readonly at: number;
  readonly attributes: ReadonlyMap<string, string>;
  readonly text: string;
  readonly children: readonly ElementNode[];
}

export interface XmlDocument {
  readonly root: ElementNode;
  /** The text that the offsets refer to: the input without byte order mark, and with `\n` as line ends. */
  readonly text: string;
}

/**
 * Parses XML. Checks size, depth and markup before the parser runs. White space around text is layout; written as a
 * reference it is data.
 */
export function parseXmlTree(input: string): Parsed<XmlDocument> {
  if (input.length > PROTOCOL_LIMITS.handoffBytes || utf8Length(input) > PROTOCOL_LIMITS.handoffBytes)
    return refuseSize(utf8Length(input));
  const text = input.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
  const found = findRefusedMarkup(text);
  if (found) return refuseAt(text, found);
  try {
    const { root } = parseXml(text, { includeOffsets: true });
    if (!root) return refuseAt(text, noRoot(text));
    const mixed: Unreadable[] = [];
    const document = { root: elementOf(root, text, mixed), text };
    return mixed[0] ? refuseAt(text, mixed[0]) : accepted(document);
  } catch (error) {
    return refuseAt(text, unreadableOf(error, text));
  }
}

function refuseSize(bytes: number): Refused {
  const what = `XML too large: ${bytes} bytes > ${PROTOCOL_LIMITS.handoffBytes} bytes maximum`;
  return refuseAt('', { code: 'xml/too-large', what, at: 0, hint: 'Keep long text in a file, and name the file.' });
}

function refuseAt(text: string, { code, what, at, hint }: Unreadable): Refused {
  return refused({ code, message: what, path: '', ...textPositionAt(text, at), hint });
}

function noRoot(text: string): Unreadable {
  return { code: 'xml/no-root', what: 'XML has no root element', at: text.length, hint: MALFORMED_HINT };
}

function elementOf(element: XmlElement, source: string, mixed: Unreadable[]): ElementNode {
  const children: ElementNode[] = [];
  let text = '';
  let textAt: number | undefined;
  for (const child of element.children) {
    if (child instanceof XmlElement) children.push(elementOf(child, source, mixed));
    if (!(child instanceof XmlText)) continue;
    const trimmed = withoutLayout(child, source);
    if (trimmed !== '') textAt ??= child.start;
    text += trimmed;
  }
  if (children.length > 0 && textAt !== undefined) mixed.push(mixedContent(element.name, textAt, source));
  const attributes = new Map(Object.entries(element.attributes));
  return { name: element.name, at: element.start, attributes, text, children };
}

/**
 * Removes layout. The parser has replaced references, so only the source shows which white space was written as one.
 */
function withoutLayout({ text, start, end }: XmlText, source: string): string {
  const written = source.slice(start, end).replace(/<!--[^]*?-->/g, '');
  const before = /^[ \t\n]*/.exec(written)?.[0].length ?? 0;
  if (before === written.length) return '';
  let after = 0;
  while (isLayout(written.charCodeAt(written.length - 1 - after))) after += 1;
  return text.slice(before, text.length - after);
}

function isLayout(unit: number): boolean {
  return unit === 0x20 || unit === 0x09 || unit === 0x0a;
}

function mixedContent(name: string, at: number, source: string): Unreadable {
  const written = at + (/[^ \t\n]/.exec(source.slice(at))?.index ?? 0);
  const what = `Element ${name} has text beside child elements`;
  return { code: 'xml/mixed-content', what, at: written, hint: 'Put the text into an element of its own.' };
}

function unreadableOf(error: unknown, text: string): Unreadable {
  if (!(error instanceof XmlError)) {
    return { code: 'xml/not-well-formed', what: 'XML could not be read', at: 0, hint: MALFORMED_HINT };
  }
  return { ...describeMalformation(error.message), at: unitOffset(text, error.pos) };
}

/** Converts the parser's offset, which counts characters, to UTF-16 units. */
function unitOffset(text: string, characters: number): number {
  let at = 0;
  for (let i = 0; i < characters && at < text.length; i++) {
    at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  }
  return at;
}

/** Parses XML from bytes, which must be UTF-8, whatever encoding an XML declaration names. */
export function parseXmlBytes(bytes: Uint8Array): Parsed<XmlDocument> {
  if (bytes.length > PROTOCOL_LIMITS.handoffBytes) return refuseSize(bytes.length);
  const text = decodeUtf8(bytes);
  if (text !== undefined) return parseXmlTree(text);
  const lenient = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  const at = findReplaced(lenient, bytes);
  return refuseAt(lenient, { code: 'xml/not-utf-8', what: 'XML is not valid UTF-8', at, hint: 'Save it as UTF-8.' });
}

/** The offset of the first replacement character that the decoder inserted for an invalid byte. */
function findReplaced(text: string, bytes: Uint8Array): number {
  let byte = 0;
  let from = 0;
  for (let at = text.indexOf('\uFFFD'); at >= 0; at = text.indexOf('\uFFFD', from)) {
    byte += utf8Length(text.slice(from, at));
    const isWritten = bytes[byte] === 0xef && bytes[byte + 1] === 0xbf && bytes[byte + 2] === 0xbd;
    if (!isWritten) return at;
    byte += 3;
    from = at + 1;
  }
  return 0;
}

const MALFORMED_HINT = 'Close every element, quote every attribute, and write &amp; for & and &lt; for < in text.';

/** Messages of the parser that get their own code, because the sender can fix each in a different way. */
const NAMED: readonly (readonly [RegExp, string, string])[] = [
  [/^Duplicate attribute/, 'xml/duplicate-attribute', 'Keep one of the two.'],
  [/^Missing end tag for element (\S+)/, 'xml/not-closed', 'Close it with </$1>.'],
  [/^Unclosed/, 'xml/not-closed', MALFORMED_HINT],
  [/^Extra content/, 'xml/more-than-one-root', 'Send one message at a time, with nothing after its end tag.'],
  [/^Root element/, 'xml/no-root', 'Start with <handoff> or <workflow-complete>.'],
];

/** Keeps the first line of a parser message: the rest is an excerpt of the sender's text. */
function describeMalformation(message: string): Omit<Unreadable, 'at'> {
  const sentence = (message.split('\n')[0] ?? '').replace(/ \(line \d+, column \d+\)$/, '');
  const what = quote(sentence);
  for (const [pattern, code, hint] of NAMED) {
    const found = pattern.exec(sentence);
    if (found) return { code, what, hint: hint.replace('$1', () => quote(found[1] ?? '')) };
  }
  return { code: 'xml/not-well-formed', what, hint: MALFORMED_HINT };
}
