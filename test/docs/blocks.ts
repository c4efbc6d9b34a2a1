import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT: string = join(import.meta.dirname, '../..');

export const PAGES: readonly string[] = globSync(['README.md', 'docs/**/*.md'], { cwd: ROOT }).toSorted();

/** A fenced block. */
export interface Block {
  readonly page: string;
  readonly line: number;
  readonly language: string;
  /** From `not run: REASON` after the language; undefined if the block runs. */
  readonly reason: string | undefined;
  /** From `run as: COMMAND`: the command that the test runs in place of the block, whose output depends on the machine. */
  readonly runAs: string | undefined;
  readonly text: string;
}

export function readBlocks(page: string): Block[] {
  const source = readFileSync(join(ROOT, page), 'utf8');
  return [...source.matchAll(/^```(\w*)(?: not run: ([^\n]+)| run as: ([^\n]+))?\n([^]*?)^```$/gm)].map((match) => ({
    page,
    line: source.slice(0, match.index).split('\n').length,
    language: match[1] ?? '',
    reason: match[2],
    runAs: match[3],
    text: match[4] ?? '',
  }));
}

/** What a page does in its repository: a command with its expected output, or a file to write. */
export type Step =
  | { readonly command: string; readonly output: string | undefined }
  | { readonly file: string; readonly text: string };

/** `console` blocks are commands. A block whose first line is a comment with a path, such as `# baton.toml`, is that file. */
export function stepsOf({ language, reason, runAs, text }: Block): Step[] {
  if (reason !== undefined) return [];
  if (runAs !== undefined) return [{ command: runAs, output: undefined }];
  const file = /^# ([\w./-]+\.(?:toml|yaml))\n/.exec(text)?.[1];
  if (file !== undefined) return [{ file, text }];
  if (language !== 'console') return [];
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command = '', ...output] = part.split('\n');
      return { command, output: output.join('\n').trimEnd() };
    });
}
