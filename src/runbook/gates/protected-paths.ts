import { posix } from 'node:path';
import { parse as parseToml } from 'smol-toml';
import { parse as parseYaml } from 'yaml';
import { isAgentText, mayBeAgentText } from '../../protocol/code-files/agent-text.ts';
import { CODE_FILE_PATTERNS } from '../../protocol/code-files/code-files.ts';
import { escapeGlob, matchesGlob, splitKey } from '../../protocol/code-files/match-path.ts';
import { isObject } from '../../protocol/shape/read-unknown.ts';
import type { Runbook } from '../runbook.ts';
import { programsOf } from './check-programs.ts';
import { changesNoCommand, mayChangeQuietly } from './ci-changes.ts';
import { findWorkerReach } from './gate-fields.ts';
import { filesOfAgent, type Texts } from './rule-files.ts';

/** A changed file. Its text is null on a side without the file, and undefined if it cannot be read, as in a link. */
export interface ChangedFileTexts {
  readonly path: string;
  readonly before?: string | null | undefined;
  readonly after?: string | null | undefined;
  /** The branch adds the folder of this file, so no command that the main branch has can run in it. */
  readonly isFolderNew?: boolean;
}

/** Baton's own files; no pattern can remove this protection. */
const ALWAYS_PROTECTED: readonly string[] = ['/baton.toml', '/.baton/**'];

export interface Protection {
  /** `ci.protected` of the runbook, applied after the defaults; the last matching pattern decides. */
  readonly patterns: readonly string[];
  /** Files that agents and checks use: prompts, scripts, programs. */
  readonly inUse: readonly string[];
  /** What the required checks run, if it is a file of the branch. */
  readonly programs: readonly string[];
}

export function findProtectedPaths(files: readonly ChangedFileTexts[], protection: Protection): readonly string[] {
  const always = alwaysOf(protection);
  const isProtected = (file: ChangedFileTexts): boolean =>
    always.some((pattern) => matchesGlob(pattern, file.path) || isAbove(file.path, pattern)) ||
    isMatched(file, protection.patterns, isMatched(file, CODE_FILE_PATTERNS) && !isForReviewer(file));
  return files.filter(isProtected).map(({ path }) => path);
}

/** Changes of files on the list that run nothing else: marked for the reviewer, and no question to a person. */
function isForReviewer(file: ChangedFileTexts): boolean {
  return isQuietChange(file) || isAgentTextChange(file) || isNewPackage(file);
}

/**
 * Scripts of a new package in a new folder run only if something new names them, unless a package manager runs them at
 * an install or a release.
 */
function isNewPackage(file: ChangedFileTexts): boolean {
  if (!isManifest(file.path) || file.isFolderNew !== true || typeof file.after !== 'string') return false;
  const parsed = parseObject(file.after);
  const { scripts = {}, ...rest } = parsed ?? {};
  if (parsed === undefined || !isObject(scripts) || Object.keys(scripts).some((name) => RUN_BY_MANAGER.test(name)))
    return false;
  return !isMatched({ ...file, after: JSON.stringify(rest) }, CODE_FILE_PATTERNS);
}

function isManifest(path: string): boolean {
  return posix.basename(path) === 'package.json';
}

const RUN_BY_MANAGER = /install|prepare|publish|pack|dependencies|version|link/i;

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Changes of CI configuration that change no command: versions of the same dependencies, limits and comments. */
export function isQuietChange({ path, before, after }: ChangedFileTexts): boolean {
  return typeof before === 'string' && typeof after === 'string' && changesNoCommand(path, before, after);
}

export function isAgentTextChange({ path, before, after }: ChangedFileTexts): boolean {
  return isAgentText(path, before) && isAgentText(path, after);
}

export function needsContent(path: string, { patterns }: Protection): boolean {
  const isOfPart = (pattern: string): boolean => {
    const [glob, key] = splitKey(pattern.replace(/^!/, ''));
    return key !== undefined && matchesGlob(glob, path);
  };
  return mayChangeQuietly(path) || mayBeAgentText(path) || [...CODE_FILE_PATTERNS, ...patterns].some(isOfPart);
}

/** Reports whether a path is protected or a parent of a protected one: a link there redirects everything below it. */
export function leadsToProtected(path: string, protection: Protection): boolean {
  const patterns = [...CODE_FILE_PATTERNS, ...protection.patterns];
  const all = [...alwaysOf(protection), ...patterns.filter((pattern) => !pattern.startsWith('!'))];
  return (
    isMatched({ path }, patterns) ||
    all.some((pattern) => matchesGlob(splitKey(pattern)[0], path) || isAbove(path, pattern))
  );
}

function alwaysOf({ inUse }: Protection): readonly string[] {
  return [...ALWAYS_PROTECTED, ...inUse.map((path) => `/${escapeGlob(path)}/**`)];
}

/** Reports whether the path is a folder in the pattern, which a file or link could replace. */
function isAbove(path: string, pattern: string): boolean {
  return foldersOf(pattern).some((folder) => matchesGlob(folder, path));
}

const FOLDERS = new Map<string, readonly string[]>();

/** The folders of a pattern, as patterns: `a/b/c` has `/a` and `/a/b`. */
function foldersOf(pattern: string): readonly string[] {
  const known = FOLDERS.get(pattern);
  if (known !== undefined) return known;
  const parts = splitKey(pattern)[0]
    .replace(/^\//, '')
    .replace(/\/\*\*$/, '')
    .split('/');
  const found = parts
    .map((part, i) => ({ part, folder: `${parts[0] === '**' ? '' : '/'}${parts.slice(0, i).join('/')}` }))
    .filter(({ folder }, i) => i > 0 && !folder.endsWith('**'))
    .map(({ folder }) => folder);
  if (FOLDERS.size > 4000) FOLDERS.clear();
  FOLDERS.set(pattern, found);
  return found;
}

function isMatched(file: ChangedFileTexts, patterns: readonly string[], isMatchedBefore = false): boolean {
  let found = isMatchedBefore;
  for (const pattern of patterns) {
    const isTakenAway = pattern.startsWith('!');
    const [glob, key] = splitKey(isTakenAway ? pattern.slice(1) : pattern);
    if (!matchesGlob(glob, file.path) && !isAbove(file.path, glob)) continue;
    if (isTakenAway) found = false;
    else if (key === undefined || !matchesGlob(glob, file.path) || !isSame(file, key)) found = true;
  }
  return found;
}

function isSame({ before, after, path }: ChangedFileTexts, key: string): boolean {
  if (before === undefined || after === undefined || (before === null && after === null)) return false;
  return isSamePart(before, after, key, path);
}

/** The protection of a runbook: its patterns, and the prompts and scripts that workers give to agents. */
export function buildProtection(runbook: Runbook, prompts: Texts): Protection {
  const agents = [...findWorkerReach(runbook).agents.values()];
  const inUse = [...Object.keys(prompts), ...agents.flatMap(filesOfAgent)]
    .filter((path) => path !== '' && !path.includes('${'))
    .map((path) => posix.normalize(path))
    .filter((path) => !path.startsWith('/') && !path.startsWith('..'));
  const programs = runbook.ci.required.flatMap(({ run }) => (run === undefined ? [] : programsOf(run)));
  return { patterns: runbook.ci.protected, inUse: [...new Set(inUse)].sort(), programs: [...new Set(programs)] };
}

/** Compares one part of two JSON, TOML or YAML versions. A version that cannot be parsed counts as different. */
function isSamePart(before: string | null, after: string | null, key: string, path: string): boolean {
  const [was, is] = [partOf(before, key, path), partOf(after, key, path)];
  return was !== undefined && was === is;
}

/** The part as text with sorted names, as if it were empty without the file; undefined if it cannot be parsed. */
function partOf(text: string | null, key: string, path: string): string | undefined {
  if (text === null) return 'null';
  try {
    let found = readerOf(path)(text);
    for (const name of key.split('.')) found = isObject(found) && Object.hasOwn(found, name) ? found[name] : null;
    return JSON.stringify(sorted(found));
  } catch {
    return undefined;
  }
}

function readerOf(path: string): (text: string) => unknown {
  if (/\.toml$/i.test(path)) return parseToml;
  return /\.ya?ml$/i.test(path) ? (text): unknown => parseYaml(text) : (text): unknown => JSON.parse(text);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return typeof value === 'bigint' ? String(value) : value;
  return Object.fromEntries(Object.keys(value).sort().map((name) => [name, sorted(value[name])])); // prettier-ignore
}
