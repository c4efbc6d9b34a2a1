import { isObject } from '../../protocol/shape/read-unknown.ts';
import { posix } from 'node:path';
import { parse } from 'smol-toml';
import { scriptOf } from '../plan.ts';
import type { Runbook } from '../runbook.ts';
import { findWorkerReach, type Prompts } from './gate-fields.ts';

/** A changed file; text is undefined on a side without the file or with binary content. */
export interface ChangedFileTexts {
  readonly path: string;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

/**
 * Protected by default. Dependencies and tests are not, because ordinary changes add them. `#key` protects only that
 * part of a JSON or TOML file.
 */
const DEFAULT_PROTECTED: readonly string[] = [
  '.github/workflows/**', '.github/actions/**', '.gitlab-ci.yml', '.gitlab/ci/**', '.circleci/**', '.buildkite/**',
  '.woodpecker/**', '.woodpecker.yml', '.drone.yml', '.travis.yml', 'azure-pipelines.yml', 'bitbucket-pipelines.yml',
  'Jenkinsfile', '.husky/**', '.pre-commit-config.yaml', 'lefthook.yml',
  'vitest.config.*', 'vitest.workspace.*', 'vite.config.*', 'bunfig.toml', 'jest.config.*', 'playwright.config.*', 'cypress.config.*', 'karma.conf.*',
  '.mocharc.*', 'ava.config.*', '.nycrc*', '.c8rc*', 'pytest.ini', '.pytest.ini', 'setup.cfg', 'tox.ini', 'noxfile.py', '.coveragerc',
  'phpunit.xml*', '.rspec', '.nextest.toml', '.config/nextest.toml',
  '.npmrc', '.yarnrc', '.yarnrc.yml', '.pnpmfile.cjs', '.cargo/config', '.cargo/config.toml',
  'Makefile', 'GNUmakefile', 'justfile', 'Taskfile.yml', 'Rakefile',
  'package.json#scripts', 'package.json#jest', 'package.json#mocha', 'package.json#ava', 'package.json#vitest',
  'deno.json#tasks', 'composer.json#scripts',
  'pyproject.toml#tool.pytest', 'pyproject.toml#tool.tox', 'pyproject.toml#tool.coverage', 'pyproject.toml#tool.poe',
]; // prettier-ignore

/** Baton's own files; no pattern can remove this protection. */
const ALWAYS_PROTECTED: readonly string[] = ['/baton.toml', '/.baton/**'];

export interface Protection {
  /** `ci.protected` of the runbook, applied after the defaults; the last matching pattern decides. */
  readonly patterns: readonly string[];
  readonly inUse: readonly string[];
}

export function findProtectedPaths(files: readonly ChangedFileTexts[], protection: Protection): readonly string[] {
  const patterns = [...DEFAULT_PROTECTED, ...protection.patterns];
  const always = alwaysOf(protection);
  const isProtected = (file: ChangedFileTexts): boolean =>
    always.some((pattern) => matchesGlob(pattern, file.path) || isAbove(file.path, pattern)) ||
    isMatched(file, patterns);
  return files.filter(isProtected).map(({ path }) => path);
}

export function needsContent(path: string, { patterns }: Protection): boolean {
  return [...DEFAULT_PROTECTED, ...patterns].some((pattern) => {
    const [glob, key] = splitKey(pattern.replace(/^!/, ''));
    return key !== undefined && matchesGlob(glob, path);
  });
}

/** Reports whether a path is protected or a parent of a protected one: a link there redirects everything below it. */
export function leadsToProtected(path: string, protection: Protection): boolean {
  const patterns = [...DEFAULT_PROTECTED, ...protection.patterns];
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
  return fold(pattern.replace(/^\//, '')).startsWith(`${fold(escapeGlob(path))}/`);
}

function isMatched(file: ChangedFileTexts, patterns: readonly string[]): boolean {
  let found = false;
  for (const pattern of patterns) {
    const isTakenAway = pattern.startsWith('!');
    const [glob, key] = splitKey(isTakenAway ? pattern.slice(1) : pattern);
    if (!matchesGlob(glob, file.path) && !isAbove(file.path, glob)) continue;
    if (isTakenAway) found = false;
    else if (key === undefined || !isSame(file, key)) found = true;
  }
  return found;
}

function isSame({ before, after, path }: ChangedFileTexts, key: string): boolean {
  return before !== undefined && after !== undefined && isSamePart(before, after, key, path);
}

function splitKey(pattern: string): readonly [string, string | undefined] {
  const at = pattern.lastIndexOf('#');
  return at < 1 ? [pattern, undefined] : [pattern.slice(0, at), pattern.slice(at + 1)];
}

/**
 * Matches a path. `*` and `?` match within a name, `**` matches any folders. A pattern without a slash matches in every
 * folder; a leading slash anchors it to the root. Case is ignored, as in some file systems, and a folder's pattern also
 * matches the folder itself, which a link could replace.
 */
export function matchesGlob(pattern: string, path: string): boolean {
  return patternOf(pattern).test(fold(path));
}

const PATTERNS = new Map<string, RegExp>();

function patternOf(glob: string): RegExp {
  const known = PATTERNS.get(glob);
  if (known !== undefined) return known;
  const isRooted = glob.replace(/\/\*\*$/, '').includes('/');
  const text = fold(glob.replace(/^\//, ''));
  const source = text
    .replace(/\/\*\*$/, '')
    .split(/(\\.|\*\*\/|\*\*|\*|\?)/)
    .map((part) => SPECIAL[part] ?? RegExp.escape(part.replace(/^\\(.)$/, '$1')))
    .join('');
  const made = new RegExp(`^${isRooted ? '' : '(?:.*/)?'}${source}${text.endsWith('/**') ? '(?:/.*)?' : ''}$`, 's');
  if (PATTERNS.size > 1000) PATTERNS.clear();
  PATTERNS.set(glob, made);
  return made;
}

const SPECIAL: Readonly<Record<string, string>> = { '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*', '?': '[^/]' };

function fold(path: string): string {
  return path.normalize('NFKC').toLowerCase();
}

function escapeGlob(path: string): string {
  return path.replaceAll(/[*?\\]/g, String.raw`\$&`);
}

/** The protection of a runbook: its patterns, and the prompts and scripts that workers give to agents. */
export function buildProtection(runbook: Runbook, prompts: Prompts): Protection {
  const agents = [...findWorkerReach(runbook).agents.values()];
  const named = agents.flatMap(({ prompt_file: file = '', run }) => [file, scriptOf(run) ?? '']);
  const inUse = [...Object.keys(prompts), ...named]
    .filter((path) => path !== '' && !path.startsWith('baton:') && !path.includes('${'))
    .map((path) => posix.normalize(path))
    .filter((path) => !path.startsWith('/') && !path.startsWith('..'));
  return { patterns: runbook.ci.protected, inUse: [...new Set(inUse)].sort() };
}

/** Compares one part of two JSON or TOML versions. A version that cannot be parsed counts as different. */
function isSamePart(before: string, after: string, key: string, path: string): boolean {
  const [was, is] = [partOf(before, key, path), partOf(after, key, path)];
  return was !== undefined && was === is;
}

/** The part as text with sorted names; undefined if the file cannot be parsed. */
function partOf(text: string, key: string, path: string): string | undefined {
  try {
    let found: unknown = path.toLowerCase().endsWith('.toml') ? parse(text) : JSON.parse(text);
    for (const name of key.split('.')) found = isObject(found) && Object.hasOwn(found, name) ? found[name] : null;
    return JSON.stringify(sorted(found));
  } catch {
    return undefined;
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return typeof value === 'bigint' ? String(value) : value;
  return Object.fromEntries(Object.keys(value).sort().map((name) => [name, sorted(value[name])])); // prettier-ignore
}
