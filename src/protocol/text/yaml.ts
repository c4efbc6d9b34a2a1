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
import type { Node, ObjectField, ReadResult, SyntaxDocument, Unreadable } from './node.ts';

/**
 * YAML as a plain tree of data. What makes YAML dangerous or surprising is refused rather than interpreted: anchors,
 * aliases, merge keys, tags, directives, several documents, keys that are not text, two equal keys.
 */
export function parseYamlTree(text: string): ReadResult<Node> {
  try {
    return { ok: true, node: nodeOf(contentsOf(compose(text)), 1) };
  } catch (error) {
    if (error instanceof Stopped) return { ok: false, unreadable: error.unreadable };
    throw error;
  }
}

class Stopped extends Error {
  readonly unreadable: Unreadable;
  constructor(unreadable: Unreadable) {
    super(unreadable.what);
    this.unreadable = unreadable;
  }
}

function stop(at: number, what: string, hint: string): never {
  throw new Stopped({ code: 'invalid-yaml', what, at, hint });
}

const SYNTAX_HINT = 'Check indentation, quotes and colons around this place.';
const DEPTH_HINT = 'Flatten the message: no message needs such depth.';

/** The library's own check for equal keys compares each with each; `readPairs` does it with a set. */
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

/**
 * The composer recurses and collects every error, so what is deep, long or broken is stopped on the flat stream of lexemes,
 * before it gets there.
 */
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
  // A tag that the library does not know is one of those that `nodeOf` refuses, with a better text.
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

interface Pair {
  readonly key: ParsedNode | null;
  readonly value: ParsedNode | null;
}

function readPairs(pairs: readonly Pair[], depth: number): Map<string, ObjectField> {
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

/** A key as text: `no:`, `1e5:` and `012:` are names here, whatever YAML takes them for. */
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

/** A value that was left out has no place of its own: it stands where its name stands. */
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

/** YAML that every reader takes for the same thing: whatever could be read as something else than text is quoted. */
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

/** Text to YAML 1.1, which the library writes for, and a number to YAML 1.2: the only word of that kind. */
const OCTAL = /^0o[0-7]+$/;

/** The first line of a block sets its indentation, and where it is blank the library loses its spaces. */
const BLANK_START = /^\s/;

/**
 * What YAML forbids in a text, or takes for a line break, or drops: it survives only in double quotes, as an escape. The
 * library writes the first few as escapes there by itself.
 */
const UNPRINTABLE = /[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/; // oxlint-disable-line no-control-regex
const STILL_UNPRINTABLE = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g; // oxlint-disable-line no-control-regex

function escape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** A message that may be written in either: what starts with a brace or a bracket is JSON, everything else is YAML. */
export function parseJsonOrYaml(text: string): SyntaxDocument {
  return /^\s*[[{]/.test(text)
    ? { syntax: 'JSON', read: parseJsonTree(text) }
    : { syntax: 'YAML', read: parseYamlTree(text) };
}
