import { checkExitSignal } from './exit-signal-checks.ts';
import type { ExitSignal } from './exit-signal-shape.ts';
import { exitSignalShape } from './exit-signal-shape.ts';
import { PROTOCOL_LIMITS } from './limits.ts';
import type { Node, ObjectNode } from './text/node.ts';
import { textPositionAt } from './shape/place.ts';
import type { Parsed, Problem } from './shape/problem.ts';
import { accepted, refused, tooLarge } from './shape/problem.ts';
import { quote } from './shape/quote.ts';
import { parseJsonTree } from './text/json.ts';
import type { Shape } from './shape/shape.ts';
import { didYouMean } from './shape/suggest.ts';
import { decodeUtf8, isTextOrBytes, byteLengthOf } from './text/utf8.ts';

/**
 * Makes the checks 1 to 8 of the specification, in that order, and stops at the first that fails. A value that is not text
 * is checked as the JSON it would be sent as, so that sizes and places mean the same for both.
 */
export function parseExitSignal(input: unknown): Parsed<ExitSignal> {
  const received = receive(input);
  if (!received.ok) return received;
  const text = received.value;
  const read = parseJsonTree(text);
  if (!read.ok) return refused(invalidJson(text, read.unreadable.what, '', read.unreadable.at, read.unreadable.hint));
  const signal = readFields(text, read.node);
  return signal.ok ? checkExitSignal(signal.value, text, read.node) : signal;
}

/** The text of the first check that fails, in an array; empty where the signal is valid. Never throws. */
export function validateExitSignal(signal: unknown): string[] {
  const parsed = parseExitSignal(typeof signal === 'string' ? JSON.stringify(signal) : signal);
  return parsed.ok ? [] : parsed.problems.map(({ message }) => message);
}

export function renderExitSignal(signal: ExitSignal): string {
  return JSON.stringify(signal, null, 2);
}

function receive(input: unknown): Parsed<string> {
  const received = isTextOrBytes(input) ? input : toJson(input);
  if (received === undefined)
    return refused(invalidJson('', 'value cannot be written as JSON', '', 0, 'Pass plain data.'));
  const bytes = byteLengthOf(received);
  if (bytes > PROTOCOL_LIMITS.exitSignalBytes) return refused(tooLarge(bytes, PROTOCOL_LIMITS.exitSignalBytes));
  const text = decodeUtf8(received);
  return text === undefined ? refused(invalidJson('', 'not valid UTF-8', '', 0, 'Send UTF-8.')) : accepted(text);
}

/** Every value takes at least a byte and a comma, so past a number of them the text is too large, however it ends. */
function toJson(value: unknown): string | undefined {
  let values = 0;
  const count = (_: string, part: unknown): unknown => {
    values += 1;
    if (values > PROTOCOL_LIMITS.exitSignalBytes) throw new RangeError('too many values');
    return part;
  };
  try {
    // The declared type leaves out that functions, symbols and undefined give undefined.
    const text: unknown = JSON.stringify(value, count);
    return typeof text === 'string' ? text : undefined;
  } catch {
    return undefined;
  }
}

/** Check 2, in the words of the source document's own parser: shape, unknown and missing fields, enum values. */
function readFields(text: string, node: Node): Parsed<ExitSignal> {
  if (node.kind !== 'object') {
    return refused(invalidJson(text, `invalid type: ${typeName(node)}, expected an object`, '', node.at, OBJECT_HINT));
  }
  for (const [name, field] of node.fields) {
    const misfit = checkField(text, name, field.at, field.value);
    if (misfit) return refused(misfit);
  }
  for (const name of REQUIRED) {
    const field = node.fields.get(name);
    if (field !== undefined && field.value.kind !== 'null') continue;
    return refused(
      invalidJson(text, `missing field \`${name}\``, name, field?.at ?? node.end, 'Add it: it is required.'),
    );
  }
  return accepted(signalOf(node));
}

const OBJECT_HINT = 'Send one JSON object; `baton schema exit` describes it.';
const FIELDS: Readonly<Record<string, Shape>> = exitSignalShape.fields;
const NAMES = Object.keys(FIELDS);
const REQUIRED = ['protocol', 'version', 'phase_completed', 'exit_reason'];

function checkField(text: string, name: string, at: number, value: Node): Problem | undefined {
  const shape = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
  if (shape === undefined) {
    const what = `unknown field \`${quote(name)}\`, expected one of ${listed(NAMES)}`;
    return invalidJson(
      text,
      what,
      quote(name),
      at,
      didYouMean(name, NAMES) ?? 'Remove it: unknown fields are refused.',
    );
  }
  if (value.kind === 'null') return undefined;
  if (value.kind !== 'text') {
    return invalidJson(
      text,
      `invalid type: ${typeName(value)}, expected a string`,
      name,
      value.at,
      'Put the value in quotes.',
    );
  }
  if (shape.kind === 'choice' && !shape.values.includes(value.text)) {
    const what = `unknown variant \`${quote(value.text)}\`, expected one of ${listed(shape.values)}`;
    const hint = didYouMean(value.text, shape.values) ?? 'Values are case-sensitive.';
    return invalidJson(text, what, name, value.at, hint);
  }
  return undefined;
}

function signalOf(node: ObjectNode): ExitSignal {
  const fields: Record<string, string> = {};
  for (const name of NAMES) {
    const value = node.fields.get(name)?.value;
    if (value?.kind === 'text') fields[name] = value.text;
  }
  // Every field was compared with the shape above.
  return fields as ExitSignal; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

function invalidJson(text: string, what: string, path: string, at: number, hint: string): Problem {
  const { line, column } = textPositionAt(text, at);
  const message = `invalid JSON: ${what} at line ${line} column ${column}`;
  return { code: 'invalid-json', message, path, line, column, hint };
}

function typeName(node: Node): string {
  if (node.kind === 'list') return 'array';
  return node.kind === 'text' ? 'string' : node.kind;
}

function listed(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}
