import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { readConfig, readFileSettings } from '../config.ts';
import { rewriteFile } from '../fence/fence.ts';
import { findRepository, type Repository } from '../repository.ts';
import { type GitResult, gitText } from '../run-git.ts';
import type { FilledFiles } from './fill.ts';
import { readWorktreeNote } from './worktree.ts';

/** How a worktree was when it had been made and set up, before anybody worked in it: what is found there later is judged by this. */
export interface WorktreeOrigin extends FilledFiles {
  /** The rules of what git ignores that no commit has, as far as people wrote them. */
  readonly excludes: string;
  /** Not all files of a commit are checked out. */
  readonly isSparse: boolean;
  /** What the repository's configuration said about files and line ends before agents worked there; as arguments of git. */
  readonly settings: readonly string[];
}

/** Where nothing is known, nothing is vouched for: what it would excuse counts as somebody's work. */
export const NO_ORIGIN: WorktreeOrigin = { excludes: '', isSparse: false, settings: [], copied: {}, linked: [] };

interface Kept extends WorktreeOrigin {
  /** The worktree it is about: names are used again. */
  readonly of: string;
  /** The git folder that all worktrees of the repository share. */
  readonly repository: string;
}

/**
 * Remembers how a worktree is now, the first time; later only what was copied or linked since. In the state folder, since whoever works
 * in the worktree may write in its git folder.
 */
export async function recordOrigin(stateDir: string, worktree: string, filled: FilledFiles): Promise<GitResult<void>> {
  const found = await findRepository(worktree);
  if (!found.ok) return found;
  const { gitDir, commonDir } = found.value;
  const origin = findOrigin(stateDir, gitDir) ?? (await readCurrentOrigin(stateDir, worktree, found.value));
  if ('ok' in origin) return origin;
  const copied = { ...origin.copied, ...filled.copied };
  const linked = [...new Set([...origin.linked, ...filled.linked])];
  write(originPath(stateDir, gitDir), { ...origin, copied, linked, of: identityOf(gitDir), repository: commonDir });
  return { ok: true, value: undefined };
}

/** How the worktree with this git folder was. */
export function readOrigin(stateDir: string, gitDir: string): WorktreeOrigin {
  return findOrigin(stateDir, gitDir) ?? NO_ORIGIN;
}

/** The worktree has gone. What was written meanwhile, while somebody worked there, is remembered as that. */
export async function removeOrigin(stateDir: string, { gitDir, commonDir, mainTop }: Repository): Promise<void> {
  await readTrustedRules(stateDir, mainTop, commonDir);
  rmSync(originPath(stateDir, gitDir), { force: true });
}

/** One that was kept of an earlier worktree of this name says nothing. */
function findOrigin(stateDir: string, gitDir: string): WorktreeOrigin | undefined {
  const kept = readKept(originPath(stateDir, gitDir));
  if (kept === undefined || kept.of !== identityOf(gitDir)) return undefined;
  return { ...NO_ORIGIN, ...kept };
}

/** Nobody has worked there yet: what was noted in its git folder is Baton's own. */
async function readCurrentOrigin(
  stateDir: string,
  worktree: string,
  { gitDir, commonDir }: Repository,
): Promise<WorktreeOrigin | Extract<GitResult<never>, { ok: false }>> {
  const sparse = await readConfig(worktree, ['--type=bool'], 'core.sparseCheckout');
  if (!sparse.ok) return sparse;
  const settings = await recordSettings(stateDir, worktree, commonDir);
  const excludes = await readTrustedRules(stateDir, worktree, commonDir);
  const { copied, linked } = readWorktreeNote(gitDir);
  return { copied, linked, excludes: excludes.join('\n'), isSparse: sparse.value === 'true', settings };
}

/** An agent could hide mode bits with these settings, so they are only read while no worktree of an agent is there. */
async function recordSettings(stateDir: string, worktree: string, commonDir: string): Promise<readonly string[]> {
  const path = pathOf(stateDir, `settings ${commonDir}`);
  if (hasOrigins(stateDir, commonDir)) {
    const known = read(path) as { readonly settings: readonly string[] } | undefined; // oxlint-disable-line typescript/no-unsafe-type-assertion
    return known?.settings ?? [];
  }
  const settings = await readFileSettings(worktree);
  write(path, { settings });
  return settings;
}

/** Those of the rules outside of commits that count. Somebody has worked since the last look where an origin was kept since. */
async function readTrustedRules(stateDir: string, folder: string, commonDir: string): Promise<string[]> {
  const rules = await readOutsideRules(folder, commonDir);
  const path = pathOf(stateDir, `rules ${commonDir}`);
  const known = read(path) as RuleTrust | undefined; // oxlint-disable-line typescript/no-unsafe-type-assertion
  const trust = judgeRules(known, rules, hasOrigins(stateDir, commonDir));
  if (trust !== known) write(path, trust);
  return rules.filter((rule) => trust.trusted.includes(rule));
}

function hasOrigins(stateDir: string, commonDir: string): boolean {
  const names = existsSync(join(stateDir, FOLDER)) ? readdirSync(join(stateDir, FOLDER)) : [];
  return names.some((name) => readKept(join(stateDir, FOLDER, name))?.repository === commonDir);
}

const FOLDER = 'worktrees';

function originPath(stateDir: string, gitDir: string): string {
  return pathOf(stateDir, gitDir);
}

function pathOf(stateDir: string, name: string): string {
  return join(stateDir, FOLDER, `${createHash('sha256').update(name).digest('hex').slice(0, 32)}.json`);
}

function write(path: string, value: object): void {
  mkdirSync(join(path, '..'), { recursive: true, mode: 0o700 });
  rewriteFile(path, JSON.stringify(value));
}

function readKept(path: string): Kept | undefined {
  return read(path) as Kept | undefined; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

/** Only what this file has written; what is missing or broken says nothing. */
function read(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

function identityOf(gitDir: string): string {
  const { ino, birthtimeMs } = statSync(gitDir);
  return `${ino}-${Math.trunc(birthtimeMs)}`;
}

/** Rules of what git ignores that lie outside of all commits, by whether people wrote them. */
export interface RuleTrust {
  readonly trusted: readonly string[];
  /** They came while agents had worktrees, and so perhaps from them. */
  readonly distrusted: readonly string[];
}

/**
 * What is to be thought of the rules that are there now. The first ones are people's; later ones only where nobody worked in a worktree
 * of Baton since the last look. Once distrusted, a rule stays so.
 */
export function judgeRules(known: RuleTrust | undefined, rules: readonly string[], hasWorked: boolean): RuleTrust {
  if (known === undefined) return { trusted: [...new Set(rules)], distrusted: [] };
  const fresh = [...new Set(rules)].filter((rule) => ![...known.trusted, ...known.distrusted].includes(rule));
  if (fresh.length === 0) return known;
  const { trusted, distrusted } = known;
  return hasWorked
    ? { trusted, distrusted: [...distrusted, ...fresh] }
    : { trusted: [...trusted, ...fresh], distrusted };
}

/** The lines of the repository's `info/exclude`, and of the file of whoever owns the machine, which is weaker and comes first. */
export async function readOutsideRules(folder: string, commonDir: string): Promise<string[]> {
  const own = await gitText(['config', '--type=path', '--get', 'core.excludesFile'], { cwd: folder });
  const path = own.ok && own.value !== '' ? resolve(folder, own.value) : usersFile();
  const texts = [path, join(commonDir, 'info', 'exclude')].map(async (file) => readFile(file, 'utf8').catch(() => ''));
  const lines = (await Promise.all(texts)).flatMap((text) => text.split(/\r?\n/));
  return lines.filter((line) => line.trim() !== '' && !line.startsWith('#'));
}

function usersFile(): string {
  return join(process.env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'git', 'ignore');
}
