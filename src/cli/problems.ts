import { firstCharacters } from '../protocol/shape/quote.ts';
import type { Problem } from '../protocol/shape/problem.ts';
import { printable } from './text.ts';

const SHOWN = 160;

/** A problem for people: what is wrong, where, the line itself with a caret under the place, and the next thing to do. */
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
