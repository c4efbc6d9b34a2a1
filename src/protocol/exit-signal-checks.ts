import type { ExitSignal } from './exit-signal-shape.ts';
import { EXIT_PROTOCOL } from './exit-signal-shape.ts';
import { PROTOCOL_LIMITS } from './limits.ts';
import type { Node } from './text/node.ts';
import { textPositionAt } from './shape/place.ts';
import type { Parsed, Problem } from './shape/problem.ts';
import { accepted, refused } from './shape/problem.ts';
import { firstCharacters } from './shape/quote.ts';
import { utf8Length } from './text/utf8.ts';

/** Checks 3 to 8 of the specification, in its order; the first that fails is the answer. */
export function checkExitSignal(signal: ExitSignal, text: string, node: Node): Parsed<ExitSignal> {
  const failure = findFailure(signal);
  if (failure) return refused(locate(failure, text, node));
  return accepted(signal.notes === undefined ? signal : { ...signal, notes: stripControls(signal.notes) });
}

type Field = keyof ExitSignal;

interface Failure {
  readonly code: string;
  readonly field: Field;
  readonly message: string;
  readonly hint: string;
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

/** Whether an exit signal with this `pr_url` passes check 6. */
export function isPrUrl(url: unknown): url is string {
  return typeof url === 'string' && utf8Length(url) <= PROTOCOL_LIMITS.prUrlBytes && unsafeUrl(url) === undefined;
}

function unsafeUrl(url: string | undefined): Failure | undefined {
  if (url === undefined) return undefined;
  const fail = (message: string, hint: string): Failure => ({
    code: 'invalid-url',
    field: 'pr_url',
    message,
    hint,
  });
  if (!url.startsWith('https://')) {
    const got = firstCharacters(url, 50);
    return fail(
      `pr_url must start with 'https://': got '${got}'`,
      'Send the address of the pull request as the browser shows it.',
    );
  }
  if (hostOf(url) === '')
    return fail('pr_url has no host', 'Send the whole address, as in https://host/org/repo/pull/1.');
  const dangerous = /[\s\p{Cc};|`$]/u.exec(url)?.[0];
  if (dangerous === undefined) return undefined;
  return fail(`pr_url contains potentially dangerous character: '${dangerous}'`, 'Remove it, or percent-encode it.');
}

/** The host of `https://user@host:port/path`, without a URL parser: those repair what should be refused. */
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

function locate({ code, field, message, hint }: Failure, text: string, node: Node): Problem {
  const value = node.kind === 'object' ? node.fields.get(field)?.value : undefined;
  const { line, column } = textPositionAt(text, value?.at ?? 0);
  return { code, message, path: field, line, column, hint };
}
