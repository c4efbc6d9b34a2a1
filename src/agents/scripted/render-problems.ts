import type { Problem } from '../../protocol/shape/problem.ts';

/** Everything that is wrong with a script, each with its file, line and column, the line itself, and what to do. */
export function renderScriptProblems(file: string, text: string, problems: readonly Problem[]): string {
  const lines = text.split('\n');
  return problems
    .map(({ message, line, column, hint }) => {
      const source = lines[(line ?? 1) - 1]?.trimEnd() ?? '';
      const number = String(line ?? 1);
      const caret = `${' '.repeat(number.length + 2 + (column ?? 1))}^`;
      return `Error: ${message}\n  at ${file}:${line}:${column}\n${number} | ${source}\n${caret}\n  hint: ${hint}\n`;
    })
    .join('');
}
