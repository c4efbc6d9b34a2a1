import { firstCharacters, type Problem } from '../protocol/shape/problem.ts';
import { EXIT, type Io } from './command.ts';
import { printable } from './text.ts';

export function renderProblem({ message, path, line, column, hint }: Problem, file: string, source: string): string {
  const lines = [`Error: ${printable(message)}`];
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
  { message, hint }: Pick<Problem, 'message' | 'hint'>,
  io: Io,
  code: number = EXIT.failed,
): number {
  io.err(`Error: ${printable(message)}\n  hint: ${printable(hint)}\n`);
  return code;
}

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
