import type { ApiError, FileProblem } from '../api/answer.ts';
import { firstCharacters, type Problem } from '../protocol/shape/problem.ts';
import { EXIT, type Io } from './command.ts';
import { colored, wantsColors } from './status/paint.ts';
import { printable, printableLines } from './text.ts';

export function renderProblem(problem: Problem, file: string, source: string, io?: Look): string {
  const { code, message, path, line, column, hint } = problem;
  const lines = [renderErrorLine({ code, message: printable(message) }, io)];
  const inPath = path === '' ? '' : ` (${printable(path)})`;
  if (line === null || column === null) lines.push(`  in ${printable(file)}${inPath}`);
  else lines.push(`  at ${printable(file)}:${line}:${column}${inPath}`, ...excerpt(source, line, column));
  lines.push(`  hint: ${printable(hint)}`);
  return `${lines.join('\n')}\n`;
}

function excerpt(source: string, line: number, column: number): string[] {
  const text = source.split(/\r\n|\r|\n/, line)[line - 1] ?? '';
  const before = printable(firstCharacters(text, column - 1));
  const whole = printable(firstCharacters(text, SHOWN));
  if (whole.trim() === '' || before.length >= whole.length + 1) return [];
  const gutter = String(line);
  return [`  ${gutter} | ${whole}`, `  ${' '.repeat(gutter.length)} | ${' '.repeat(before.length)}^`];
}

export function reportProblem(
  { code, message, hint }: Pick<Problem, 'code' | 'message' | 'hint'>,
  io: Io,
  exitCode: number = EXIT.failed,
): number {
  if (io.json === true) io.out(renderErrorJson({ code, message, hint }));
  else io.err(`${renderErrorLine({ code, message: printableLines(message) }, io)}\n  hint: ${printable(hint)}\n`);
  return exitCode;
}

/** Prints the problems of a file. With JSON output, the first one is the error. */
export function reportProblems(problems: readonly FileProblem[], source: string, io: Io): number {
  const [first = UNKNOWN_PROBLEM] = problems;
  const { code, message, hint } = first;
  if (io.json === true) io.out(renderErrorJson({ code, message, hint, problems }));
  else for (const each of problems) io.err(renderProblem(each, each.file, source, io));
  return EXIT.failed;
}

const UNKNOWN_PROBLEM = { code: 'unexpected', message: 'the file cannot be used', hint: '' };

type Look = Pick<Io, 'env' | 'isTerminal'>;

/**
 * Puts the code at the end of the first line, so that docs/errors.md and programs can identify the error. The message
 * must be printable.
 */
export function renderErrorLine({ code, message }: Pick<Problem, 'code' | 'message'>, io?: Look): string {
  const [first = '', ...rest] = cut(message).split('\n');
  const mark = io !== undefined && wantsColors(io) ? colored(`[${code}]`, 'dim') : `[${code}]`;
  return [`Error: ${first} ${mark}`, ...rest].join('\n');
}

/** What `--json` prints of an error. */
export function renderErrorJson(error: ApiError): string {
  return `${JSON.stringify({ error: { ...error, message: cut(error.message) } })}\n`;
}

/** A message quotes what was typed, which may be a whole file. */
function cut(message: string): string {
  const start = firstCharacters(message, MOST_MESSAGE);
  return start.length === message.length ? message : `${start}…`;
}

const MOST_MESSAGE = 2000;

/** Why a file cannot be read or written; the system's message if there is no plainer one. */
export function describeFileError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return ('code' in error ? REASONS.get(String(error.code)) : undefined) ?? error.message;
}

/** Describes an unexpected error by its path and reason, without the name of the system call. */
export function describeError(error: unknown): string {
  const reason = describeFileError(error);
  const path = error instanceof Error && 'path' in error && typeof error.path === 'string' ? error.path : undefined;
  return path === undefined || (error instanceof Error && reason === error.message)
    ? reason
    : `cannot use ${path}: ${reason}`;
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'no such file or folder'],
  ['ENOTDIR', 'a part of the path is not a folder'],
  ['EISDIR', 'it is a folder'],
  ['EACCES', 'permission denied'],
  ['EPERM', 'permission denied'],
  ['EROFS', 'the file system is read-only'],
  ['ENOSPC', 'the disk is full'],
]);

const SHOWN = 160;
