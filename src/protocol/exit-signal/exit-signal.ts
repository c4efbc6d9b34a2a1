import { EXIT_PROTOCOL, type ExitSignal, exitSignalShape } from './exit-signal-shape.ts';
import { PROTOCOL_LIMITS } from '../limits.ts';
import { checkShape } from '../shape/check-shape.ts';
import { FIELD_WORDING, type FieldLocation, type Finding, problemAt, type Wording } from '../shape/finding.ts';
import {
  accepted,
  didYouMean,
  firstCharacters,
  type Parsed,
  type Problem,
  problem,
  quote,
  refused,
  textPositionAt,
  tooLarge,
} from '../shape/problem.ts';
import type { ObjectShape } from '../shape/shape.ts';
import { parseJsonTree } from '../text/json.ts';
import type { Node } from '../text/node.ts';
import { byteLengthOf, decodeUtf8, isTextOrBytes, utf8Length } from '../text/text-format.ts';

/**
 * Runs the checks 1 to 8 of the specification in order and returns the first failure. A value is checked as its JSON.
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

/** Returns an array with the message of the first failed check; empty if the signal is valid. Never throws. */
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

/** Stops early at huge values: each part takes at least one byte, so too many parts exceed the size limit. */
function toJson(value: unknown): string | undefined {
  let values = 0;
  const count = (_: string, part: unknown): unknown => {
    values += 1;
    if (values > PROTOCOL_LIMITS.exitSignalBytes) throw new RangeError('too many values');
    return part;
  };
  try {
    // JSON.stringify returns undefined for functions, symbols and undefined, although its type says string.
    const text: unknown = JSON.stringify(value, count);
    return typeof text === 'string' ? text : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Check 2, in the source document's words: the first problem of the text; a missing field is reported only if there is
 * no other problem.
 */
function readFields(text: string, node: Node): Parsed<ExitSignal> {
  if (node.kind !== 'object') {
    const hint = 'Send one JSON object; `baton schema exit` describes it.';
    return refused(invalidJson(text, `invalid type: ${typeName(node)}, expected an object`, '', node.at, hint));
  }
  const { value, findings } = checkShape(FIELDS_SHAPE, node, 'Exit signal', WORDING);
  const [misfit] = findings.filter(({ code }) => code !== MISSING).toSorted((a, b) => a.at - b.at);
  const first = misfit ?? findings[0];
  if (first) return refused(invalidJson(text, first.message, first.path, first.at, first.hint));
  // The shape has checked every field.
  return accepted(value as ExitSignal); // oxlint-disable-line typescript/no-unsafe-type-assertion
}

/** Later checks judge the values of `protocol` and `version`. */
const FIELDS_SHAPE: ObjectShape = {
  kind: 'object',
  fields: { ...exitSignalShape.fields, protocol: { kind: 'text' }, version: { kind: 'text' } },
};

const MISSING = 'missing-field';

const WORDING: Wording = {
  ...FIELD_WORDING,
  unknown: (spot, known) => {
    const hint = didYouMean(spot.field, known) ?? 'Remove it: unknown fields are refused.';
    const name = quote(spot.field);
    return finding({ ...spot, path: name }, `unknown field \`${name}\`, expected one of ${listed(known)}`, hint);
  },
  notText: (_, node, spot) => notText(node, spot),
  notAChoice: ({ values }, node, spot) => {
    if (node.kind !== 'text') return notText(node, spot);
    const message = `unknown variant \`${quote(node.text)}\`, expected one of ${listed(values)}`;
    return finding(spot, message, didYouMean(node.text, values) ?? 'Values are case-sensitive.');
  },
  missing: (_, spot) => ({
    ...finding(spot, `missing field \`${spot.field}\``, 'Add it: it is required.'),
    code: MISSING,
  }),
};

function notText(node: Node, spot: FieldLocation): Finding {
  return finding(spot, `invalid type: ${typeName(node)}, expected a string`, 'Put the value in quotes.');
}

function finding({ path, at }: FieldLocation, message: string, hint: string): Finding {
  return { code: 'invalid-json', message, path, at, hint };
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

/**
 * Reports whether the exit protocol is enabled. AGENT_EXIT_PROTOCOL_ENABLED decides (true, 1 or yes); without it,
 * `exit_protocol` of the project.
 */
export function exitProtocolEnabled(flag: string | undefined, project = false): boolean {
  if (flag === undefined || flag === '') return project;
  return ['true', '1', 'yes'].includes(flag.toLowerCase());
}

/** Runs check 0, then the checks of `parseExitSignal`. `flag` is the unchanged value of the environment variable. */
export function parseExitSignalIfEnabled(
  input: unknown,
  flag: string | undefined,
  project = false,
): Parsed<ExitSignal> {
  if (exitProtocolEnabled(flag, project)) return parseExitSignal(input);
  const message = 'exit signal validation is disabled (AGENT_EXIT_PROTOCOL_ENABLED=false)';
  const hint =
    'Set exit_protocol = true in baton.toml, or AGENT_EXIT_PROTOCOL_ENABLED=true in the environment of the daemon.';
  return refused(problem('exit-protocol-disabled', message, hint));
}

/** Runs the checks 3 to 8 of the specification in order, and reports the first failure. */
export function checkExitSignal(signal: ExitSignal, text: string, node: Node): Parsed<ExitSignal> {
  const failure = findFailure(signal);
  if (failure) {
    const value = node.kind === 'object' ? node.fields.get(failure.field)?.value : undefined;
    return refused(problemAt({ ...failure, path: failure.field, at: value?.at ?? 0 }, text));
  }
  return accepted(signal.notes === undefined ? signal : { ...signal, notes: stripControls(signal.notes) });
}

type Field = keyof ExitSignal;

interface Failure extends Pick<Problem, 'code' | 'message' | 'hint'> {
  readonly field: Field;
}

function findFailure(signal: ExitSignal): Failure | undefined {
  return (
    tooLong(signal, 'protocol', PROTOCOL_LIMITS.exitSignalHeaderBytes) ??
    tooLong(signal, 'version', PROTOCOL_LIMITS.exitSignalHeaderBytes) ??
    unknownProtocol(signal.protocol) ??
    unsupportedVersion(signal.version) ??
    tooLong(signal, 'pr_url', PROTOCOL_LIMITS.prUrlBytes) ??
    unsafeUrl(signal.pr_url) ??
    tooLong(signal, 'notes', PROTOCOL_LIMITS.notesBytes) ??
    tooLong(signal, 'evidence_bundle_ref', PROTOCOL_LIMITS.evidenceRefBytes) ??
    pathTraversal(signal.evidence_bundle_ref)
  );
}

function tooLong(signal: ExitSignal, field: Field, limit: number): Failure | undefined {
  const bytes = utf8Length(signal[field] ?? '');
  if (bytes <= limit) return undefined;
  const message = `${field} exceeds maximum length: ${bytes} bytes > ${limit} bytes`;
  return { code: 'too-long', field, message, hint: `Shorten it to ${limit} bytes of UTF-8.` };
}

function unknownProtocol(protocol: string): Failure | undefined {
  if (protocol === EXIT_PROTOCOL) return undefined;
  const message = `unknown protocol: expected '${EXIT_PROTOCOL}', got '${protocol}'`;
  return { code: 'unknown-protocol', field: 'protocol', message, hint: `Use exactly "${EXIT_PROTOCOL}".` };
}

function unsupportedVersion(version: string): Failure | undefined {
  if (/^1\.[0-9]+\.[0-9]+$/.test(version)) return undefined;
  const message = `unsupported version: expected '1.x', got '${version}'`;
  return { code: 'unsupported-version', field: 'version', message, hint: 'Use "1.0.0".' };
}

export function isPrUrl(url: unknown): url is string {
  return typeof url === 'string' && utf8Length(url) <= PROTOCOL_LIMITS.prUrlBytes && unsafeUrl(url) === undefined;
}

function unsafeUrl(url: string | undefined): Failure | undefined {
  if (url === undefined) return undefined;
  const fail = (message: string, hint: string): Failure => ({ code: 'invalid-url', field: 'pr_url', message, hint });
  if (!url.startsWith('https://')) {
    const hint = 'Send the address of the pull request as the browser shows it.';
    return fail(`pr_url must start with 'https://': got '${firstCharacters(url, 50)}'`, hint);
  }
  if (hostOf(url) === '')
    return fail('pr_url has no host', 'Send the whole address, as in https://host/org/repo/pull/1.');
  const dangerous = /[\s\p{Cc};|`$]/u.exec(url)?.[0];
  if (dangerous === undefined) return undefined;
  return fail(`pr_url contains potentially dangerous character: '${dangerous}'`, 'Remove it, or percent-encode it.');
}

/** The host of `https://user@host:port/path`. A URL parser would repair addresses that must be refused. */
function hostOf(url: string): string {
  const authority = /^https:\/\/([^/?#\\]*)/.exec(url)?.[1] ?? '';
  return authority.slice(authority.lastIndexOf('@') + 1).replace(/:[0-9]*$/, '');
}

function pathTraversal(path: string | undefined): Failure | undefined {
  if (path === undefined) return undefined;
  if (!path.includes('..') && !/^\/|\\|\p{Cc}/u.test(path)) return undefined;
  return {
    code: 'path-traversal',
    field: 'evidence_bundle_ref',
    message: "path traversal detected in evidence_bundle_ref: paths cannot contain '..' or start with '/'",
    hint: 'Name a file inside the workspace, relative to it, with forward slashes.',
  };
}

function stripControls(notes: string): string {
  return notes.replace(/[^\P{Cc}\t\n]/gu, '');
}
