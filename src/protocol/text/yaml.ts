import {
  Composer,
  type CST,
  Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  type ParsedNode,
  Parser,
  type Scalar,
  visit,
} from 'yaml';
import { PROTOCOL_LIMITS } from '../limits.ts';
import { quote } from '../shape/problem.ts';
import { parseJsonTree } from './json.ts';
import { type Node, type ObjectField, readOrStop, type ReadResult, Stopped, type SyntaxDocument } from './node.ts';

/**
 * Parses YAML. Refuses anchors, aliases, merge keys, tags, directives, several documents, keys that are not text, and
 * duplicate keys.
 */
export function parseYamlTree(text: string): ReadResult<Node> {
  return readOrStop(() => nodeOf(contentsOf(compose(text)), 1));
}

function stop(at: number, what: string, hint: string): never {
  throw new Stopped({ code: 'invalid-yaml', what, at, hint });
}

const SYNTAX_HINT = 'Check indentation, quotes and colons around this place.';
const DEPTH_HINT = 'Flatten the message: no message needs such depth.';

/** Skips the library's check for duplicate keys, which takes quadratic time; `readPairs` makes it. */
function compose(text: string): Document.Parsed | undefined {
  const lone = /\p{Surrogate}/u.exec(text);
  if (lone) stop(lone.index, 'lone surrogate in the text', 'Use valid Unicode.');
  const control = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]/.exec(text); // oxlint-disable-line no-control-regex
  if (control) stop(control.index, 'control character', 'Remove it, or write it as an escape in double quotes.');
  const composer = new Composer({
    version: '1.2',
    schema: 'core',
    uniqueKeys: false,
    prettyErrors: false,
    strict: true,
  });
  const [document] = composer.compose(tokenize(text), true, text.length);
  return document;
}

/** Checks the flat stream of lexemes, because the composer recurses and collects every error. */
function tokenize(text: string): CST.Token[] {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  let lexemes = 0;
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) tokens.push(allowed(token, tokens));
    lexemes += 1;
    if (lexemes > PROTOCOL_LIMITS.yamlLexemes) {
      const what = `more than ${PROTOCOL_LIMITS.yamlLexemes} words and signs`;
      stop(parser.offset, what, 'Send a smaller message, or send it as JSON.');
    }
    if (parser.stack.length > PROTOCOL_LIMITS.nesting * 2) {
      stop(parser.offset, `nesting deeper than ${PROTOCOL_LIMITS.nesting} levels`, DEPTH_HINT);
    }
  }
  for (const token of parser.end()) tokens.push(allowed(token, tokens));
  return tokens;
}

function allowed(token: CST.Token, before: readonly CST.Token[]): CST.Token {
  if (token.type === 'error') stop(token.offset, sentence(token.message), SYNTAX_HINT);
  if (token.type === 'document' && before.some(({ type }) => type === 'document'))
    stop(token.offset, 'more than one document', 'Send one document: remove the `---` and what follows it.');
  if (token.type === 'byte-order-mark') stop(token.offset, 'byte order mark', 'Remove it.');
  if (token.type === 'directive')
    stop(token.offset, `directive \`${quote(token.source)}\` is not allowed`, 'Remove the line.');
  return token;
}

function contentsOf(document: Document.Parsed | undefined): ParsedNode | null {
  if (document === undefined) return null;
  // `nodeOf` refuses every tag, with a better message than the library's for unknown ones.
  const warnings = document.warnings.filter(({ code }) => code !== 'TAG_RESOLVE_FAILED');
  const [error] = [...document.errors, ...warnings];
  if (error) stop(error.pos[0], sentence(error.message), SYNTAX_HINT);
  return document.contents;
}

function sentence(message: string): string {
  return quote(message.replace(/\s+/g, ' ').trim());
}

function nodeOf(node: ParsedNode | null | undefined, depth: number): Node {
  if (node === null || node === undefined) return { kind: 'null', at: 0, value: null, source: '', plain: true };
  const at = node.range[0];
  if (depth > PROTOCOL_LIMITS.nesting) stop(at, `nesting deeper than ${PROTOCOL_LIMITS.nesting} levels`, DEPTH_HINT);
  if (isAlias(node)) stop(at, `alias \`*${quote(node.source)}\` is not allowed`, 'Write the value out.');
  if (node.anchor !== undefined)
    stop(at, `anchor \`&${quote(node.anchor)}\` is not allowed`, 'Remove it and write values out.');
  if (node.tag !== undefined)
    stop(at, `tag \`${quote(node.tag)}\` is not allowed`, 'Remove it: fields have their types already.');
  if (isSeq(node)) return { kind: 'list', at, items: node.items.map((item) => nodeOf(item, depth + 1)) };
  if (isMap(node)) return { kind: 'object', at, end: at, fields: readPairs(node.items, depth) };
  return scalarOf(node);
}

function readPairs(
  pairs: readonly Readonly<Record<'key' | 'value', ParsedNode | null>>[],
  depth: number,
): Map<string, ObjectField> {
  const fields = new Map<string, ObjectField>();
  for (const { key, value } of pairs) {
    const name = nameOf(key, depth);
    const at = key?.range[0] ?? 0;
    if (fields.has(name))
      stop(at, `duplicate field \`${quote(name)}\``, 'Remove one of the two: which one counts is not defined.');
    fields.set(name, { at, value: atLeast(nodeOf(value, depth + 1), at) });
  }
  return fields;
}

/** The text of a key: `no:`, `1e5:` and `012:` are field names, although YAML has other types for them. */
function nameOf(key: ParsedNode | null, depth: number): string {
  const at = key?.range[0] ?? 0;
  if (!isScalar(key)) stop(at, 'a field name must be text', 'Use a plain word before the colon.');
  const node = nodeOf(key, depth);
  const name = node.kind === 'text' ? node.text : 'source' in node ? node.source : '';
  if (name === '<<') stop(at, 'merge key `<<` is not allowed', 'Write the fields out.');
  if (name === '__proto__')
    stop(at, 'field name `__proto__` is not allowed', 'Remove it: no message has such a field.');
  return name;
}

/** Gives an empty value, which has no offset, the offset of its name. */
function atLeast(node: Node, at: number): Node {
  return node.at < at ? { ...node, at } : node;
}

function scalarOf(node: Scalar.Parsed): Node {
  const at = node.range[0];
  const { value } = node;
  const plain = node.type === 'PLAIN';
  const source = node.source;
  if (typeof value === 'string') {
    if (!value.isWellFormed()) stop(at, 'lone surrogate in a string', 'Use valid Unicode.');
    return { kind: 'text', at, text: value };
  }
  if (value === null) return { kind: 'null', at, value, source, plain };
  if (typeof value === 'boolean') return { kind: 'boolean', at, value, source, plain };
  if (typeof value === 'number') return { kind: 'number', at, value, source, plain };
  return stop(at, 'unknown kind of scalar', 'Put the value in quotes.');
}

/** Renders YAML that every parser reads alike: text that some parser takes for another type is quoted. */
export function renderYaml(value: object): string {
  const document = new Document(value, { version: '1.1', aliasDuplicateObjects: false });
  visit(document, {
    Scalar: (_, node) => {
      if (typeof node.value === 'string' && needsQuotes(node.value)) node.type = 'QUOTE_DOUBLE';
    },
  });
  const text = document.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER });
  return text.replace(STILL_UNPRINTABLE, escape);
}

function needsQuotes(text: string): boolean {
  return [UNPRINTABLE, BLANK_START, OCTAL].some((pattern) => pattern.test(text));
}

/**
 * `0o17` is text in YAML 1.1, for which the library renders, but a number in YAML 1.2. No other form differs this way.
 */
const OCTAL = /^0o[0-7]+$/;
/** The library loses leading white space in block scalars, because the first line sets the indentation. */
const BLANK_START = /^\s/;
/**
 * YAML forbids these characters, reads them as a line break, or drops them; they survive only as escapes in double
 * quotes.
 */
const UNPRINTABLE = /[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/; // oxlint-disable-line no-control-regex
const STILL_UNPRINTABLE = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g; // oxlint-disable-line no-control-regex

function escape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Parses a message in JSON or YAML: text that starts with a brace or a bracket is JSON. */
export function parseJsonOrYaml(text: string): SyntaxDocument {
  return /^\s*[[{]/.test(text)
    ? { syntax: 'JSON', read: parseJsonTree(text) }
    : { syntax: 'YAML', read: parseYamlTree(text) };
}
