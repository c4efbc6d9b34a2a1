import { readdirSync, readFileSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { problem } from '../../protocol/shape/problem.ts';
import { decodeUtf8 } from '../../protocol/text/text-format.ts';
import { type ExaminedRunbook, examineRunbook, oversizedFile } from '../check/check-runbook.ts';
import type { RunbookFile, RunbookProblem } from '../runbook.ts';
import { RUNBOOK_ENDINGS } from './read-tree.ts';

export interface ReadRunbook extends ExaminedRunbook {
  /** What was read, for whoever shows lines of it. */
  readonly files: readonly RunbookFile[];
}

const ROOT_FILE = 'baton.toml';
const FOLDER = '.baton/runbooks';

/** Where runbooks are, relative to the project. */
export const RUNBOOK_PATHS = [ROOT_FILE, FOLDER] as const;

/** Whether a file of a project is part of its runbook. */
export function isRunbookPath(path: string): boolean {
  if (path === ROOT_FILE) return true;
  return path.startsWith(`${FOLDER}/`) && isRunbookName(path.slice(FOLDER.length + 1));
}

/** The runbook of a project: `baton.toml` at its root and the files in `.baton/runbooks`. A project without either has an empty one. */
export async function readRunbook(projectDir: string): Promise<ReadRunbook> {
  return Promise.resolve(readRunbookNow(projectDir));
}

function readRunbookNow(projectDir: string): ReadRunbook {
  return readRunbookFiles(projectDir, runbookPaths(projectDir));
}

/** The same of files that somebody names. */
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

/**
 * The runbook as it stands whenever it is asked for; read again only when a file has changed, appeared or gone.
 */
export function createRunbookReader(projectDir: string): () => ReadRunbook {
  let seen: string | undefined;
  let current: ReadRunbook | undefined;
  return () => {
    const now = runbookPaths(projectDir)
      .map((path) => `${path}\0${identityOf(statOf(join(projectDir, path)))}`)
      .join('\0');
    if (current === undefined || now !== seen) {
      current = readRunbookNow(projectDir);
      seen = now;
    }
    return current;
  };
}

function identityOf(found: Stats | undefined): string {
  return found === undefined ? '' : `${found.mtimeMs} ${found.size} ${found.ino}`;
}

/** Relative to the project, in the order in which they are read. */
function runbookPaths(projectDir: string): string[] {
  const root = statOf(join(projectDir, ROOT_FILE)) === undefined ? [] : [ROOT_FILE];
  return [...root, ...listFolder(join(projectDir, FOLDER)).map((name) => `${FOLDER}/${name}`)];
}

function listFolder(folder: string): string[] {
  // Most projects have none, and an exception costs more than everything else here.
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
  if (found !== undefined && !found.isFile()) return { problems: [unreadable(path, 'it is not a file')] };
  try {
    const text = decodeUtf8(readFileSync(full));
    if (text !== undefined) return { path, text };
    return {
      problems: [{ ...problem('not-utf8', 'input is not valid UTF-8', 'Save the file as UTF-8.'), file: path }],
    };
  } catch (error) {
    return { problems: [unreadable(path, reasonOf(error))] };
  }
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return 'there is no such file';
  return code === 'EACCES' ? 'permission denied' : String(code);
}

function unreadable(path: string, reason: string): RunbookProblem {
  return { ...problem('unreadable-file', `cannot read ${path}: ${reason}`, 'Check the path.'), file: path };
}
