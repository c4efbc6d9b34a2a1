import { PROTOCOL_LIMITS } from '../limits.ts';
import { quote } from '../shape/problem.ts';
import {
  type ListNode,
  type Node,
  type ObjectField,
  type ObjectNode,
  readOrStop,
  type ReadResult,
  type ScalarNode,
  Stopped,
  type SyntaxDocument,
  type TextNode,
} from './node.ts';

/**
 * Parses strict RFC 8259. `JSON.parse` accepts duplicate keys, `__proto__` and lone surrogates, and keeps no offsets.
 */
export function parseJsonTree(text: string): ReadResult<Node> {
  const cursor: Cursor = { text, at: 0, depth: 0 };
  return readOrStop(() => {
    skipSpace(cursor);
    const node = readValue(cursor);
    skipSpace(cursor);
    if (cursor.at < text.length) stop(cursor.at, 'trailing characters', 'Send one JSON value and nothing after it.');
    return node;
  });
}

interface Cursor {
  readonly text: string;
  at: number;
  depth: number;
}

function stop(at: number, what: string, hint: string): never {
  throw new Stopped({ code: 'invalid-json', what, at, hint });
}

const SYNTAX_HINT = 'Check quotes, commas and brackets around this place; a JSON linter shows the same spot.';

function readValue(cursor: Cursor): Node {
  switch (cursor.text.charCodeAt(cursor.at)) {
    case OPEN_BRACE:
      return nested(cursor, readObject);
    case OPEN_BRACKET:
      return nested(cursor, readList);
    case QUOTE:
      return readText(cursor);
    default:
      return readScalar(cursor);
  }
}

function nested(cursor: Cursor, read: (cursor: Cursor) => Node): Node {
  cursor.depth += 1;
  if (cursor.depth > PROTOCOL_LIMITS.nesting) {
    const hint = 'Flatten the message: no message needs such depth.';
    stop(cursor.at, `nesting deeper than ${PROTOCOL_LIMITS.nesting} levels`, hint);
  }
  const node = read(cursor);
  cursor.depth -= 1;
  return node;
}

function readObject(cursor: Cursor): ObjectNode {
  const at = cursor.at;
  const fields = new Map<string, ObjectField>();
  cursor.at += 1;
  skipSpace(cursor);
  if (cursor.text.charCodeAt(cursor.at) !== CLOSE_BRACE) {
    readField(cursor, fields);
    while (endsWithComma(cursor, CLOSE_BRACE)) readField(cursor, fields);
  }
  const end = cursor.at;
  cursor.at += 1;
  return { kind: 'object', at, end, fields };
}

function readField(cursor: Cursor, fields: Map<string, ObjectField>): void {
  const at = cursor.at;
  if (cursor.text.charCodeAt(at) !== QUOTE) expected(cursor, '`"`');
  const name = readText(cursor).text;
  if (name === '__proto__')
    stop(at, 'field name `__proto__` is not allowed', 'Remove it: no message has such a field.');
  if (fields.has(name))
    stop(at, `duplicate field \`${quote(name)}\``, 'Remove one of the two: which one counts is not defined.');
  skipSpace(cursor);
  if (cursor.text.charCodeAt(cursor.at) !== COLON) expected(cursor, '`:`');
  cursor.at += 1;
  skipSpace(cursor);
  fields.set(name, { at, value: readValue(cursor) });
  skipSpace(cursor);
}

function readList(cursor: Cursor): ListNode {
  const at = cursor.at;
  const items: Node[] = [];
  cursor.at += 1;
  skipSpace(cursor);
  if (cursor.text.charCodeAt(cursor.at) !== CLOSE_BRACKET) {
    do {
      items.push(readValue(cursor));
      skipSpace(cursor);
    } while (endsWithComma(cursor, CLOSE_BRACKET));
  }
  cursor.at += 1;
  return { kind: 'list', at, items };
}

/**
 * Consumes a comma and returns true, or returns false at the closing bracket. Stops the reader at any other character.
 */
function endsWithComma(cursor: Cursor, close: number): boolean {
  const unit = cursor.text.charCodeAt(cursor.at);
  if (unit === close) return false;
  if (unit !== COMMA) expected(cursor, `\`,\` or \`${String.fromCharCode(close)}\``);
  cursor.at += 1;
  skipSpace(cursor);
  return true;
}

function readText(cursor: Cursor): TextNode {
  const { text, at } = cursor;
  let escaped = false;
  let i = at + 1;
  for (; ; i++) {
    const unit = text.charCodeAt(i);
    if (unit === QUOTE) break;
    if (unit === BACKSLASH) {
      escaped = true;
      i += 1;
    } else if (unit < 0x20) {
      stop(i, 'control character in a string', 'Write it as an escape, such as \\n or \\u0000.');
    } else if (Number.isNaN(unit)) {
      stop(text.length, 'unterminated string', 'Close the string with a double quote.');
    }
  }
  const raw = text.slice(at + 1, i);
  const value = escaped ? unescape(raw, at + 1) : raw;
  if (!value.isWellFormed()) {
    stop(at, 'lone surrogate in a string', 'Use valid Unicode: a \\uD800–\\uDFFF escape must be one of a pair.');
  }
  cursor.at = i + 1;
  return { kind: 'text', at, text: value };
}

const ESCAPES: Record<string, string> = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

function unescape(raw: string, offset: number): string {
  return raw.replace(
    /\\(?:u([0-9a-fA-F]{4})|([^]?))/gu,
    (all, hex: string | undefined, simple: string | undefined, at: number) => {
      if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
      const hint = 'JSON knows \\" \\\\ \\/ \\b \\f \\n \\r \\t and \\uXXXX.';
      return ESCAPES[simple ?? ''] ?? stop(offset + at, `invalid escape \`${printable(all)}\``, hint);
    },
  );
}

function printable(escape: string): string {
  return escape.toWellFormed().replace(/\p{Cc}/gu, ' ');
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![0-9A-Za-z.+-])/y;
const WORDS = [
  { word: 'true', kind: 'boolean', value: true },
  { word: 'false', kind: 'boolean', value: false },
  { word: 'null', kind: 'null', value: null },
] as const;

function readScalar(cursor: Cursor): ScalarNode {
  const { text, at } = cursor;
  for (const { word, kind, value } of WORDS) {
    if (!text.startsWith(word, at)) continue;
    cursor.at += word.length;
    return { kind, at, value, source: word, plain: false };
  }
  NUMBER.lastIndex = at;
  const source = NUMBER.exec(text)?.[0];
  if (source === undefined) expected(cursor, 'a value');
  const value = Number(source);
  if (!Number.isFinite(value)) stop(at, 'number out of range', 'Use a number that a 64-bit float can hold.');
  cursor.at += source.length;
  return { kind: 'number', at, value, source, plain: false };
}

function expected(cursor: Cursor, what: string): never {
  const ended = cursor.at >= cursor.text.length;
  stop(cursor.at, ended ? `unexpected end, expected ${what}` : `expected ${what}`, SYNTAX_HINT);
}

function skipSpace(cursor: Cursor): void {
  for (;;) {
    const unit = cursor.text.charCodeAt(cursor.at);
    if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return;
    cursor.at += 1;
  }
}

/** The parser of dialects that are JSON only. It does not load the YAML parser, which would slow down hooks. */
export function parseJsonDocument(text: string): SyntaxDocument {
  return { syntax: 'JSON', read: parseJsonTree(text) };
}

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_BRACKET = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSE_BRACKET = 0x5d;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;

export function renderJson(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
