import { PROTOCOL_LIMITS } from '../limits.ts';
import { type Node, type SyntaxDocument, treeOfValue, type Unreadable } from '../text/node.ts';
import { byteLengthOf, decodeUtf8, isTextOrBytes } from '../text/text-format.ts';
import { checkShape } from './check-shape.ts';
import type { Finding } from './finding.ts';
import { accepted, type Parsed, type Problem, problem, refused, textPositionAt, tooLarge } from './problem.ts';
import { type JsonSchema, jsonSchemaOf, type ObjectShape, type ValueOf } from './shape.ts';

/** What every dialect that is declared as a shape can do. */
export interface Message<T> {
  /** Text (or its bytes), or a value somebody already holds, to a typed value or all that is wrong with it. */
  readonly parse: (input: unknown) => Parsed<T>;
  /** The texts of all problems of a value; empty where it is valid. Never throws, whatever the value is. */
  readonly validate: (value: unknown) => string[];
  readonly schema: JsonSchema;
}

export interface MessageOptions<S extends ObjectShape> {
  readonly title: string;
  readonly shape: S;
  /** How its text is read: `readDocument` for YAML or JSON, `readJsonOnly` for JSON. */
  readonly read: (text: string) => SyntaxDocument;
  /** For the few that may be larger than a message is. */
  readonly maxBytes?: number;
  /** What a shape cannot say: rules between fields. */
  readonly rules?: (value: ValueOf<S>) => readonly Finding[];
}

export function defineMessage<const S extends ObjectShape>(options: MessageOptions<S>): Message<ValueOf<S>> {
  return {
    parse: (input) => (isTextOrBytes(input) ? parseText(options, input) : parseValue(options, input)),
    validate: (value) => {
      const parsed = parseValue(options, value);
      return parsed.ok ? [] : parsed.problems.map(({ message }) => message);
    },
    schema: jsonSchemaOf(options.title, options.shape),
  };
}

function parseText<S extends ObjectShape>(options: MessageOptions<S>, input: string | Uint8Array): Parsed<ValueOf<S>> {
  const bytes = byteLengthOf(input);
  const { maxBytes = PROTOCOL_LIMITS.messageBytes } = options;
  if (bytes > maxBytes) return refused(tooLarge(bytes, maxBytes));
  const text = decodeUtf8(input);
  if (text === undefined) return refused(NOT_UTF8);
  const { syntax, read } = options.read(text);
  if (!read.ok) return refused(unreadable(read.unreadable, `invalid ${syntax}`, text));
  return checked(options, read.node, text);
}

function parseValue<S extends ObjectShape>(options: MessageOptions<S>, value: unknown): Parsed<ValueOf<S>> {
  const read = treeOfValue(value);
  if (!read.ok) return refused(unreadable(read.unreadable, `${options.title} cannot be read`, undefined));
  return checked(options, read.node, undefined);
}

function checked<S extends ObjectShape>(
  options: MessageOptions<S>,
  node: Node,
  text: string | undefined,
): Parsed<ValueOf<S>> {
  const { value, findings } = checkShape(options.shape, node, options.title);
  // The shape has vouched for the value, field by field; this is the one place where that becomes a type.
  const typed = value as ValueOf<S>; // oxlint-disable-line typescript/no-unsafe-type-assertion
  const all = findings.length > 0 ? findings : (options.rules?.(typed) ?? []);
  const [first, ...rest] = all.map((finding) => problemAt(finding, text));
  return first ? refused(first, ...rest) : accepted(typed);
}

function problemAt({ code, message, path, at, hint }: Finding, text: string | undefined): Problem {
  const { line, column } = text === undefined ? { line: null, column: null } : textPositionAt(text, at);
  return { code, message, path, line, column, hint };
}

function unreadable({ code, what, at, hint }: Unreadable, kind: string, text: string | undefined): Problem {
  if (text === undefined) return problem(code, `${kind}: ${what}`, hint);
  const { line, column } = textPositionAt(text, at);
  return { code, message: `${kind}: ${what} at line ${line} column ${column}`, path: '', line, column, hint };
}

const NOT_UTF8 = problem('not-utf8', 'input is not valid UTF-8', 'Save the file as UTF-8.');
