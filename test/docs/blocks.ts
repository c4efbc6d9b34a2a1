import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT: string = join(import.meta.dirname, '../..');

/** The pages for users. */
export const PAGES: readonly string[] = globSync(['*.md', 'docs/**/*.md'], { cwd: ROOT }).toSorted();

/** The pages for users, and the README of each folder. */
export const ALL_PAGES: readonly string[] = [
  ...PAGES,
  ...globSync('{bench,examples,runbooks,scripts,src,test}/**/*.md', {
    cwd: ROOT,
    exclude: (path) => path.includes('test/fixtures') || path.includes('node_modules'),
  }).toSorted(),
];

/** A fenced block. */
export interface Block {
  readonly page: string;
  readonly line: number;
  readonly language: string;
  /** From `not run: REASON` after the language; undefined if the block runs. */
  readonly reason: string | undefined;
  /**
   * From `run as: COMMAND`: the command that the test runs instead of the block, whose output depends on the machine.
   */
  readonly runAs: string | undefined;
  /** From `same as: FILE`: a file of the repository with exactly the same text. */
  readonly sameAs: string | undefined;
  readonly text: string;
}

export function readBlocks(page: string): Block[] {
  const source = readFileSync(join(ROOT, page), 'utf8');
  return [
    ...source.matchAll(/^```(\w*)(?: not run: ([^\n]+)| run as: ([^\n]+)| same as: ([^\n]+))?\n([^]*?)^```$/gm),
  ].map((match) => ({
    page,
    line: source.slice(0, match.index).split('\n').length,
    language: match[1] ?? '',
    reason: match[2],
    runAs: match[3],
    sameAs: match[4],
    text: match[5] ?? '',
  }));
}

/** Counts every line that starts a block, to detect one that `readBlocks` does not recognise. */
export function countFences(page: string): number {
  return (readFileSync(join(ROOT, page), 'utf8').match(/^ *```/gm) ?? []).length;
}

/** Finds the first line of each indented block, which has no language and so cannot state how it is tested. */
export function findIndentedBlocks(page: string): string[] {
  const source = readFileSync(join(ROOT, page), 'utf8').replaceAll(/^```[^]*?^```$/gm, '');
  const lines = source.split('\n');
  let isInList = false;
  return lines.filter((line, i) => {
    if (/^ {0,3}(?:[-*]|\d+\.) /.test(line)) isInList = true;
    else if (/^\S/.test(line)) isInList = false;
    return !isInList && line.startsWith('    ') && lines[i - 1] === '';
  });
}

/** A step of a page in its repository. */
export type Step =
  | { readonly command: string; readonly output: string }
  /** A script that must succeed, with any output. */
  | { readonly script: string }
  | { readonly file: string; readonly text: string };

/**
 * The steps of a block: `console` blocks are commands with their output, `sh` blocks scripts that must succeed. A block
 * whose first line is a comment with a path, such as `# baton.toml`, is that file.
 */
export function stepsOf({ language, reason, runAs, sameAs, text }: Block): Step[] {
  if (reason !== undefined || sameAs !== undefined) return [];
  if (runAs !== undefined) return [{ script: runAs }];
  const file = /^# ([\w./-]+\.(?:toml|yaml))\n/.exec(text)?.[1];
  if (file !== undefined) return [{ file, text }];
  if (language === 'sh') return [{ script: text }];
  if (language !== 'console') return [];
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command = '', ...output] = part.split('\n');
      return { command, output: output.join('\n').trimEnd() };
    });
}
