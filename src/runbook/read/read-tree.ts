import { parse, TomlError } from 'smol-toml';
import { PROTOCOL_LIMITS } from '../../protocol/limits.ts';
import { quote } from '../../protocol/shape/problem.ts';
import { parseJsonTree } from '../../protocol/text/json.ts';
import {
  type Node,
  type ObjectField,
  readOrStop,
  type ReadResult,
  Stopped,
  type Unreadable,
} from '../../protocol/text/node.ts';
import { parseYamlTree } from '../../protocol/text/yaml.ts';
import { locateToml, type TomlLocation } from './locate-toml.ts';

/** Parses TOML into the tree of JSON and YAML. The library parses it, and `locateToml` adds the positions. */
export function parseTomlTree(text: string): ReadResult<Node> {
  return readOrStop(() => nodeOf(parseToml(text), locateToml(text), text, 1));
}

function parseToml(text: string): unknown {
  try {
    return parse(text, { maxDepth: PROTOCOL_LIMITS.nesting });
  } catch (error) {
    if (error instanceof TomlError) throw new Stopped(syntaxError(error, text));
    throw error;
  }
}

function stop(at: number, what: string, hint: string): never {
  throw new Stopped({ code: 'invalid-toml', what, at, hint });
}

const SYNTAX_HINT = 'Check quotes, brackets and commas around this place.';

function syntaxError({ message, line, column }: TomlError, text: string): Unreadable {
  const [first = ''] = message.split('\n', 1);
  const what = quote(first.replace(/^Invalid TOML document: /, ''));
  return { code: 'invalid-toml', what, at: offsetOf(text, line, column), hint: SYNTAX_HINT };
}

/** The library counts lines and UTF-16 units; the tree has offsets. */
function offsetOf(text: string, line: number, column: number): number {
  let start = 0;
  for (let passed = 1; passed < line; passed++) start = text.indexOf('\n', start) + 1;
  return Math.min(start + column - 1, text.length);
}

function nodeOf(value: unknown, place: TomlLocation, text: string, depth: number): Node {
  const { at } = place;
  if (depth > PROTOCOL_LIMITS.nesting) {
    stop(at, `nesting deeper than ${PROTOCOL_LIMITS.nesting} levels`, 'Flatten it: no runbook needs such depth.');
  }
  if (typeof value === 'string') {
    if (!value.isWellFormed()) stop(at, 'lone surrogate in a string', 'Use valid Unicode.');
    return { kind: 'text', at, text: value };
  }
  const source = text.slice(at, place.end);
  if (typeof value === 'number') return { kind: 'number', at, value, source, plain: false };
  if (typeof value === 'boolean') return { kind: 'boolean', at, value, source, plain: false };
  if (Array.isArray(value)) {
    const items = value.map((item: unknown, index) => nodeOf(item, place.items[index] ?? place, text, depth + 1));
    return { kind: 'list', at, items };
  }
  if (isTable(value)) return { kind: 'object', at, end: place.end, fields: fieldsOf(value, place, text, depth) };
  // No field of a runbook is a date or time.
  return { kind: 'other', at, value: null, source, plain: false };
}

function isTable(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof Date);
}

function fieldsOf(table: object, place: TomlLocation, text: string, depth: number): Map<string, ObjectField> {
  const fields = new Map<string, ObjectField>();
  for (const [name, value] of Object.entries(table)) {
    const field = place.fields.get(name) ?? { keyAt: place.at, place };
    if (name === '__proto__') {
      stop(field.keyAt, 'field name `__proto__` is not allowed', 'Remove it: no runbook has such a field.');
    }
    fields.set(name, { at: field.keyAt, value: nodeOf(value, field.place, text, depth + 1) });
  }
  return fields;
}

const SYNTAXES = ['TOML', 'YAML', 'JSON'] as const;
export type Syntax = (typeof SYNTAXES)[number];

const BY_ENDING: Readonly<Record<string, Syntax>> = { toml: 'TOML', yaml: 'YAML', yml: 'YAML', json: 'JSON' };

export const RUNBOOK_ENDINGS: readonly string[] = Object.keys(BY_ENDING);

const READERS: Readonly<Record<Syntax, (text: string) => ReadResult<Node>>> = {
  TOML: parseTomlTree,
  YAML: parseYamlTree,
  JSON: parseJsonTree,
};

export function parseTree(syntax: Syntax, text: string): ReadResult<Node> {
  const read = READERS[syntax](text);
  // An empty file is an empty runbook in every syntax.
  if (read.ok && read.node.kind === 'null') return { ok: true, node: EMPTY };
  return read;
}

const EMPTY: Node = { kind: 'object', at: 0, end: 0, fields: new Map() };

/** Detects the syntax by file ending, or by the start of the text, for example for standard input. */
export function syntaxOf(path: string, text: string): Syntax {
  const ending = /\.([A-Za-z]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
  const known = Object.hasOwn(BY_ENDING, ending) ? BY_ENDING[ending] : undefined;
  if (known !== undefined) return known;
  if (/^\s*\{/.test(text)) return 'JSON';
  return TOML_START.test(text) ? 'TOML' : 'YAML';
}

/** A table, or a key and an equals sign, after comments. */
const TOML_START = /^(?:[ \t]*(?:#[^\n]*)?\r?\n)*[ \t]*(?:\[|(?:[\w.-]|"[^"\n]*"|'[^'\n]*'|[ \t])+=)/;
