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

/** The state of a worktree after its setup and before any work; later findings are compared with it. */
export interface WorktreeOrigin extends FilledFiles {
  /** Ignore rules outside commits, written by people. */
  readonly excludes: string;
  readonly isSparse: boolean;
  /** The repository's settings about files and line ends before agents worked there, as git arguments. */
  readonly settings: readonly string[];
}

/** An unknown origin excuses nothing: every difference counts as work. */
const NO_ORIGIN: WorktreeOrigin = { excludes: '', isSparse: false, settings: [], copied: {}, linked: [] };

interface Kept extends WorktreeOrigin {
  /** The identity of the worktree, because names are reused. */
  readonly of: string;
  readonly repository: string;
}

/**
 * Records the origin. Later calls only add copied and linked files. The record is in the state folder, because agents
 * may write to the git folder.
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

export function readOrigin(stateDir: string, gitDir: string): WorktreeOrigin {
  return findOrigin(stateDir, gitDir) ?? NO_ORIGIN;
}

/** Removes the record of a deleted worktree. Rules written while sessions worked stay distrusted. */
export async function removeOrigin(stateDir: string, { gitDir, commonDir, mainTop }: Repository): Promise<void> {
  await readTrustedRules(stateDir, mainTop, commonDir);
  rmSync(originPath(stateDir, gitDir), { force: true });
}

/** Ignores the record of an earlier worktree of this name. */
function findOrigin(stateDir: string, gitDir: string): WorktreeOrigin | undefined {
  const kept = readKept(originPath(stateDir, gitDir));
  if (kept === undefined || kept.of !== identityOf(gitDir)) return undefined;
  return { ...NO_ORIGIN, ...kept };
}

/** No session has worked there yet, so the note in the git folder is Baton's. */
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

/** An agent could hide mode changes with these settings, so they are read only while no agent has a worktree. */
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

/** Returns the trusted rules outside commits. If an origin exists, an agent may have worked since the last call. */
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

export interface RuleTrust {
  readonly trusted: readonly string[];
  /** Rules that appeared while agents had worktrees. */
  readonly distrusted: readonly string[];
}

/**
 * Classifies the current rules. The first rules are people's. Later rules are trusted only if no session worked in a
 * worktree since the last call. A distrusted rule stays distrusted.
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

/** The lines of the user's global exclude file, then of the repository's `info/exclude`, which takes precedence. */
async function readOutsideRules(folder: string, commonDir: string): Promise<string[]> {
  const own = await gitText(['config', '--type=path', '--get', 'core.excludesFile'], { cwd: folder });
  const path = own.ok && own.value !== '' ? resolve(folder, own.value) : usersFile();
  const texts = [path, join(commonDir, 'info', 'exclude')].map(async (file) => readFile(file, 'utf8').catch(() => ''));
  const lines = (await Promise.all(texts)).flatMap((text) => text.split(/\r?\n/));
  return lines.filter((line) => line.trim() !== '' && !line.startsWith('#'));
}

function usersFile(): string {
  return join(process.env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'git', 'ignore');
}
