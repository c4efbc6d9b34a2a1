import { PROTOCOL_LIMITS } from '../limits.ts';
import { type Node, type SyntaxDocument, treeOfValue, type Unreadable } from '../text/node.ts';
import { byteLengthOf, decodeUtf8, isTextOrBytes } from '../text/text-format.ts';
import { checkShape } from './check-shape.ts';
import { type Finding, problemAt } from './finding.ts';
import { accepted, type Parsed, type Problem, problem, refused, textPositionAt, tooLarge } from './problem.ts';
import { type JsonSchema, jsonSchemaOf, type ObjectShape, type ValueOf } from './shape.ts';

export interface Message<T> {
  /** Parses text, its bytes, or a parsed value. Returns a typed value, or all problems. */
  readonly parse: (input: unknown) => Parsed<T>;
  readonly validate: (value: unknown) => string[];
  readonly schema: JsonSchema;
}

export interface MessageOptions<S extends ObjectShape> {
  readonly title: string;
  readonly shape: S;
  /** The parser of the text: `readDocument` for YAML or JSON, `readJsonOnly` for JSON. */
  readonly read: (text: string) => SyntaxDocument;
  /** Default: `LIMITS.messageBytes`. */
  readonly maxBytes?: number;
  /** Rules between fields, which a shape cannot express. They run if the shape fits. */
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
  // The shape has checked every field; this is the only place where the value gets its type.
  const typed = value as ValueOf<S>; // oxlint-disable-line typescript/no-unsafe-type-assertion
  const all = findings.length > 0 ? findings : (options.rules?.(typed) ?? []);
  const [first, ...rest] = all.map((finding) => problemAt(finding, text));
  return first ? refused(first, ...rest) : accepted(typed);
}

function unreadable({ code, what, at, hint }: Unreadable, kind: string, text: string | undefined): Problem {
  if (text === undefined) return problem(code, `${kind}: ${what}`, hint);
  const { line, column } = textPositionAt(text, at);
  return { code, message: `${kind}: ${what} at line ${line} column ${column}`, path: '', line, column, hint };
}

const NOT_UTF8 = problem('not-utf8', 'input is not valid UTF-8', 'Save the file as UTF-8.');
