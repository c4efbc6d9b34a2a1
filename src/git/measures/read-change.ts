import { gitFields, type GitResult, gitText, type OwnGitFolder } from '../run-git.ts';
import { streamGit } from '../stream-git.ts';
import type { MeasuredFile } from './measure-change.ts';
import { type PatchSection, PatchSections } from './patch-sections.ts';

/** What commits changed, from `base` to `head`. */
export interface CommittedChange {
  readonly base: string;
  readonly head: string;
  readonly commits: number;
  /** At most `maxFiles`, sorted by path. */
  readonly files: readonly ChangedFile[];
  /** The total over all files, including those that are not listed. */
  readonly total: ChangeTotal;
}

interface ChangeTotal {
  readonly files: number;
  readonly additions: number;
  readonly deletions: number;
}

/** A rename appears as a deleted and a created file, as in the measurement of a session. */
interface ChangedFile extends MeasuredFile {
  /** Added lines; 0 for a binary file. */
  readonly additions: number;
  readonly deletions: number;
  readonly isBinary: boolean;
  /** The section of this file in `git diff`; null for a binary file, without `patches`, and beyond `maxChars`. */
  readonly patch: string | null;
  /** Whether the limits shortened or omitted the patch. */
  readonly isCut: boolean;
}

export interface ChangeOptions {
  readonly patches?: boolean;
  /** Limits the result to these files and folders. */
  readonly paths?: readonly string[];
  readonly maxFiles?: number;
  /** The limit for the patch of one file, in characters. */
  readonly maxFileChars?: number;
  /** The limit for all patches together, in characters. */
  readonly maxChars?: number;
}

/**
 * Reads what the commits after `base` changed. It reads Baton's own repository, whose configuration runs no program and
 * applies no attributes, so a file that the branch marks as binary or without a diff is shown as text. `base` and
 * `head` are full ids of commits there.
 */
export async function readChange(
  own: OwnGitFolder,
  base: string,
  head: string,
  options: ChangeOptions = {},
): Promise<GitResult<CommittedChange>> {
  const { patches = true, paths = [], maxFiles = MAX_FILES } = options;
  const { maxFileChars = MAX_FILE_CHARS, maxChars = MAX_CHARS } = options;
  const place = { cwd: own, env: { GIT_LITERAL_PATHSPECS: '1' } };
  const range = [base, head, '--', ...paths];
  const [fields, commits] = await Promise.all([
    gitFields([...DIFF, '--raw', '--numstat', '-z', ...range], { ...place, maxBytes: MAX_LIST_BYTES }),
    gitText(['rev-list', '--count', head, `^${base}`, '--'], { cwd: own }),
  ]);
  if (!fields.ok) return fields;
  if (!commits.ok) return commits;
  const all = parseListing(fields.value);
  const listed = all.slice(0, maxFiles);
  const sections = new PatchSections({ maxFileChars, maxChars });
  if (patches && listed.length > 0) {
    const read = await streamGit([...DIFF, '--patch', ...range], { ...place, onText: (text) => sections.push(text) });
    if (!read.ok) return read;
  }
  const files = patches ? withPatches(listed, sections.sections) : listed.map((each) => toFile(each, []));
  return { ok: true, value: { base, head, commits: Number(commits.value), files, total: sumOf(all) } };
}

const DIFF = ['diff', '--no-ext-diff', '--no-textconv', '--no-color', '--no-renames', '--submodule=short'];
const MAX_FILES = 1000;
const MAX_FILE_CHARS = 40_000;
const MAX_CHARS = 400_000;
const MAX_LIST_BYTES = 128 * 1024 * 1024;

interface ListedFile {
  readonly path: string;
  readonly status: string;
  readonly counts: readonly [additions: string, deletions: string];
}

/** Parses two lists of the same files in the same order: `:mode mode id id status`, path; `additions deletions path`. */
function parseListing(fields: readonly string[]): ListedFile[] {
  const statuses: (readonly [path: string, status: string])[] = [];
  let at = 0;
  for (; fields[at]?.startsWith(':') === true; at += 2)
    statuses.push([fields[at + 1] ?? '', fields[at]?.split(' ')[4] ?? '']);
  const counts = fields.slice(at).map((field) => field.split('\t', 2));
  return statuses.map(([path, status], i) => ({ path, status, counts: [counts[i]?.[0] ?? '', counts[i]?.[1] ?? ''] }));
}

/**
 * Assigns the sections, which are in the order of the files. A file that became a link, or the reverse, has two
 * sections: a deletion and a creation.
 */
function withPatches(files: readonly ListedFile[], sections: readonly PatchSection[]): ChangedFile[] {
  let at = 0;
  return files.map((file) => {
    const count = file.status.startsWith('T') ? 2 : 1;
    at += count;
    return toFile(file, sections.slice(at - count, at), count);
  });
}

function toFile({ path, status, counts }: ListedFile, sections: readonly PatchSection[], expected = 0): ChangedFile {
  const [additions, deletions] = counts;
  const isBinary = additions === '-';
  const text = sections.map((section) => section.text).join('');
  return {
    path,
    action: ACTIONS[status.slice(0, 1)] ?? 'modified',
    additions: isBinary ? 0 : Number(additions),
    deletions: isBinary ? 0 : Number(deletions),
    isBinary,
    patch: isBinary || text === '' ? null : text,
    isCut: !isBinary && (sections.length < expected || sections.some(({ isCut }) => isCut)),
  };
}

const ACTIONS: Readonly<Record<string, MeasuredFile['action']>> = { A: 'created', D: 'deleted' };

function sumOf(files: readonly ListedFile[]): ChangeTotal {
  let [additions, deletions] = [0, 0];
  for (const { counts } of files) {
    additions += Number(counts[0]) || 0;
    deletions += Number(counts[1]) || 0;
  }
  return { files: files.length, additions, deletions };
}
