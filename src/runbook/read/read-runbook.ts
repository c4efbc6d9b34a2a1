import { existsSync, readdirSync, readFileSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { problem } from '../../protocol/shape/problem.ts';
import { shellWord } from '../../protocol/text/quote-for-shell.ts';
import { decodeUtf8 } from '../../protocol/text/text-format.ts';
import { type ExaminedRunbook, examineRunbook, oversizedFile } from '../check/check-runbook.ts';
import type { RunbookFile, RunbookProblem } from '../runbook.ts';
import { RUNBOOK_ENDINGS } from './read-tree.ts';

export interface ReadRunbook extends ExaminedRunbook {
  readonly files: readonly RunbookFile[];
}

const ROOT_FILE = 'baton.toml';
const FOLDER = '.baton/runbooks';

export const RUNBOOK_PATHS = [ROOT_FILE, FOLDER] as const;

export function isRunbookPath(path: string): boolean {
  if (path === ROOT_FILE) return true;
  return path.startsWith(`${FOLDER}/`) && isRunbookName(path.slice(FOLDER.length + 1));
}

/** Reads a project's runbook: `baton.toml` and the files in `.baton/runbooks`. Empty if there are none. */
export async function readRunbook(projectDir: string): Promise<ReadRunbook> {
  return readRunbookNow(projectDir);
}

export function readRunbookNow(projectDir: string): ReadRunbook {
  return readRunbookFiles(projectDir, runbookPaths(projectDir));
}

export function readRunbookFiles(projectDir: string, paths: readonly string[]): ReadRunbook {
  const files: RunbookFile[] = [];
  const problems: RunbookProblem[] = [];
  for (const path of paths) {
    const read = readOne(projectDir, path);
    if ('text' in read) files.push(read);
    else problems.push(...read.problems);
  }
  const examined = examineRunbook(files);
  const [first, ...rest] = [
    ...problems,
    ...(problems.length > 0 && !examined.checked.ok ? examined.checked.problems : []),
  ];
  if (first === undefined) return { ...examined, files };
  return { ...examined, checked: { ok: false, problems: [first, ...rest] }, isReadable: false, files };
}

/** Returns the current runbook on each call; reads files again only if one has changed, appeared or disappeared. */
export function createRunbookReader(projectDir: string): () => ReadRunbook {
  let seen: string | undefined;
  let current: ReadRunbook | undefined;
  return () => {
    const paths = runbookPaths(projectDir);
    const now = paths.map((path) => `${path}\0${identityOf(statOf(join(projectDir, path)))}`).join('\0');
    if (current === undefined || now !== seen) {
      current = readRunbookFiles(projectDir, paths);
      seen = now;
    }
    return current;
  };
}

function identityOf(found: Stats | undefined): string {
  return found === undefined ? '' : `${found.mtimeMs} ${found.size} ${found.ino}`;
}

/** Paths relative to the project, in reading order. */
function runbookPaths(projectDir: string): string[] {
  const root = statOf(join(projectDir, ROOT_FILE)) === undefined ? [] : [ROOT_FILE];
  return [...root, ...listFolder(join(projectDir, FOLDER)).map((name) => `${FOLDER}/${name}`)];
}

function listFolder(folder: string): string[] {
  // Most projects lack this folder, and an exception would cost more than all other steps.
  if (statOf(folder) === undefined) return [];
  try {
    return readdirSync(folder).filter(isRunbookName).sort();
  } catch {
    return [];
  }
}

function isRunbookName(name: string): boolean {
  return !name.startsWith('.') && !name.includes('/') && RUNBOOK_ENDINGS.some((ending) => name.endsWith(`.${ending}`));
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function readOne(projectDir: string, path: string): RunbookFile | { readonly problems: readonly RunbookProblem[] } {
  const full = join(projectDir, path);
  const found = statOf(full);
  const oversized = oversizedFile(path, found?.size ?? 0);
  if (oversized.length > 0) return { problems: oversized };
  if (found !== undefined && !found.isFile())
    return { problems: [unreadable(path, 'it is not a file', 'Move it away.')] };
  try {
    const text = decodeUtf8(readFileSync(full));
    if (text !== undefined) return { path, text };
    const found = problem('not-utf8', 'input is not valid UTF-8', 'Save the file as UTF-8.');
    return { problems: [{ ...found, file: path }] };
  } catch (error) {
    const hint = existsSync(full) ? `See who owns it: ls -l ${shellWord(full)}` : 'Check the path.';
    return { problems: [unreadable(path, reasonOf(error), hint)] };
  }
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return 'there is no such file';
  return code === 'EACCES' ? 'permission denied' : String(code);
}

function unreadable(path: string, reason: string, hint: string): RunbookProblem {
  return { ...problem('unreadable-file', `cannot read ${path}: ${reason}`, hint), file: path };
}
