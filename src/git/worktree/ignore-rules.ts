import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dirname } from 'node:path/posix';
import { git, gitFields, type GitLocation, type GitResult } from '../run-git.ts';

/** A file of rules and the folder it applies to; empty for the top. */
export interface IgnoreFile {
  readonly folder: string;
  readonly text: string;
}

/** Reads every `.gitignore` of a commit, independent of the files in a worktree. Empty without a commit. */
export async function readIgnoreFiles(
  repository: GitLocation,
  commit: string | null,
): Promise<GitResult<IgnoreFile[]>> {
  if (commit === null) return { ok: true, value: [] };
  const listed = await gitFields(['ls-tree', '-r', '-z', '--full-tree', commit], {
    cwd: repository,
    maxBytes: MOST_BYTES,
  });
  if (!listed.ok) return listed;
  const found = listed.value.flatMap((line) => {
    // Git ignores a link as `.gitignore` too.
    const [, sha, path = ''] = /^100\d{3} blob ([0-9a-f]+)\t(.*)$/s.exec(line) ?? [];
    return sha !== undefined && /(?:^|\/)\.gitignore$/.test(path) ? [{ sha, path }] : [];
  });
  const rules: IgnoreFile[] = [];
  for (const { sha, path } of found) {
    const text = await git(['cat-file', 'blob', sha], { cwd: repository });
    if (!text.ok) return text;
    rules.push({ folder: dirname(path) === '.' ? '' : dirname(path), text: text.value.stdout });
  }
  return { ok: true, value: rules };
}

/** Joins rules into one file. The last match wins, so rules of deeper folders come later. */
export function joinIgnoreRules(everywhere: readonly string[], files: readonly IgnoreFile[]): string {
  const depth = ({ folder }: IgnoreFile): number => (folder === '' ? 0 : folder.split('/').length);
  const inOrder = files.toSorted((a, b) => depth(a) - depth(b));
  const lines = inOrder.flatMap(({ folder, text }) => linesOf(text).map((line) => anchor(folder, line)));
  return [...everywhere.flatMap(linesOf), ...lines].map((line) => `${line}\n`).join('');
}

function linesOf(text: string): string[] {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  return lines.filter((line) => line.trim() !== '' && !line.startsWith('#'));
}

function anchor(folder: string, line: string): string {
  if (folder === '') return line;
  const isNegated = line.startsWith('!');
  const rule = isNegated ? line.slice(1) : line;
  // A slash anywhere but at the end anchors a rule to its folder; other rules also apply below it.
  const isBound = rule
    .replace(/(?<!\\) +$/, '')
    .replace(/\/$/, '')
    .includes('/');
  const rest = isBound ? rule.replace(/^\//, '') : `**/${rule}`;
  return `${isNegated ? '!' : ''}${literalPattern(folder)}/${rest}`;
}

export function literalPattern(path: string): string {
  return `/${path.replaceAll(/[[\]*?\\!# ]/g, String.raw`\$&`)}`;
}

/** Adds patterns to the repository's exclude file, which applies to all worktrees and is never committed. */
export async function excludeFromGit(commonDir: string, ...patterns: readonly string[]): Promise<void> {
  const folder = join(commonDir, 'info');
  const path = join(folder, 'exclude');
  const before = await readFile(path, 'utf8').catch(() => '');
  const known = new Set(before.split(/\r?\n/));
  const missing = patterns.filter((pattern) => !known.has(pattern));
  if (missing.length === 0) return;
  await mkdir(folder, { recursive: true });
  // One append call. Concurrent calls may write the line twice, which is harmless.
  const start = before === '' || before.endsWith('\n') ? '' : '\n';
  await appendFile(path, `${start}${missing.map((pattern) => `${pattern}\n`).join('')}`);
}

export const WORKTREES_FOLDER = '.worktrees';
export const SESSION_FOLDER = '.baton/session';

export async function excludeWorktrees(commonDir: string): Promise<void> {
  await excludeFromGit(commonDir, `/${WORKTREES_FOLDER}/`, `/${SESSION_FOLDER}/`);
}

const MOST_BYTES = 128 * 1024 * 1024;
