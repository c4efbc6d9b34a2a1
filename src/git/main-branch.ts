import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isPath, listSettings, operatorEnvironment } from './config.ts';
import { type OwnRepository, runOwnGit } from './own/own-repository.ts';
import { git, gitLines, type GitLocation, type GitResult, gitText } from './run-git.ts';

export interface MeasuredMove {
  readonly fastForward: boolean;
  readonly commits: number;
}

/** Measures a move by its commits. A missing or unreadable commit counts as no progress. */
export async function measureMove(place: GitLocation, old: string, now: string): Promise<MeasuredMove> {
  const ancestor = await git([...TRUE_HISTORY, 'merge-base', '--is-ancestor', old, now], options(place, [1]));
  const counted = await gitText([...TRUE_HISTORY, 'rev-list', '--count', now, `^${old}`, '--'], options(place));
  return {
    fastForward: ancestor.ok && ancestor.value.code === 0,
    commits: counted.ok ? Number(counted.value) : 0,
  };
}

export async function isInHistory(place: GitLocation, sha: string, branch: string): Promise<boolean> {
  const ancestor = await git([...TRUE_HISTORY, 'merge-base', '--is-ancestor', sha, branch], options(place, [1]));
  return ancestor.ok && ancestor.value.code === 0;
}

export interface MoveContent {
  readonly authors: readonly string[];
  readonly stat: string | null;
}

/**
 * The authors and the diffstat of a move, for a person to judge it. Runs only in Baton's repository: `log` and `diff`
 * run programs named in a repository's configuration (`gpg.program`).
 */
export async function readMoveContent(place: OwnRepository, old: string, now: string): Promise<MoveContent> {
  const range = [now, `^${old}`, '--'];
  const log = [...TRUE_HISTORY, 'log', '--no-show-signature', '--max-count=1000', '--format=%an <%ae>', ...range];
  const authors = await gitLines(log, options(place));
  const diff = ['diff', '--no-ext-diff', '--no-textconv', '--no-color', `--stat=${WIDTH}`, '--stat-count=20'];
  const stat = await gitText([...diff, old, now, '--'], options(place));
  return { authors: countNames(authors), stat: stat.ok ? stat.value.slice(0, MOST_TEXT) : null };
}

function countNames(lines: GitResult<string[]>): string[] {
  const counts = new Map<string, number>();
  for (const name of lines.ok ? lines.value : []) counts.set(name, (counts.get(name) ?? 0) + 1);
  const names = [...counts].sort(([, a], [, b]) => b - a).slice(0, MOST_NAMES);
  return names.map(([name, count]) => `${name.slice(0, WIDTH)} (${count})`);
}

/** Ignores grafts and the commit-graph, because agents can write them. */
const TRUE_HISTORY = ['-c', 'core.commitGraph=false'];
const WIDTH = 100;

function options(cwd: GitLocation, answers: readonly number[] = []) {
  return { cwd, env: { GIT_GRAFT_FILE: '/dev/null' }, answers };
}

export interface Upstream {
  readonly url: string;
  readonly ref: string;
  /** Identifies an upstream without its URL, which may contain a credential. */
  readonly digest: string;
}

/** The configured upstream of a branch; null if there is none, or the remote has several URLs. */
export async function findUpstream(repository: string, branch: string): Promise<Upstream | null> {
  const settings = await listSettings(['--list'], { cwd: repository });
  const valuesOf = (name: string) => settings.filter(([key]) => key === name).map(([, value]) => value);
  const remote = valuesOf(`branch.${branch}.remote`).at(-1) ?? 'origin';
  const [url, ...others] = valuesOf(`remote.${remote}.url`);
  const ref = valuesOf(`branch.${branch}.merge`).at(-1) ?? `refs/heads/${branch}`;
  if (url === undefined || others.length > 0 || !ref.startsWith('refs/')) return null;
  const digest = createHash('sha256').update(`${url}\n${ref}`).digest('hex');
  return { url: isPath(url) ? resolve(repository, url) : url, ref, digest };
}

/**
 * Fetches the upstream and returns its local ref. Uses the operator's logins, because agents can write the repository's
 * configuration.
 */
export async function fetchUpstream(
  own: OwnRepository,
  { url, ref, digest }: Upstream,
  { login = [], timeoutMs }: { readonly login?: readonly string[]; readonly timeoutMs: number },
): Promise<GitResult<string>> {
  const copy = `refs/upstream/${digest}`;
  const settings = [...login, 'fetch.fsckObjects=false'].flatMap((each) => ['-c', each]);
  const args = ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--', url, `+${ref}:${copy}`];
  const fetched = await runOwnGit(own, [...settings, ...args], { env: operatorEnvironment(), timeoutMs });
  return fetched.ok ? { ok: true, value: copy } : fetched;
}

/** The state of the files behind the main branch, read without git. */
export interface RefFingerprint {
  /** If this is equal, nothing has changed. */
  readonly text: string;
  /** Whether a later change is certain to change the text. */
  readonly isSettled: boolean;
}

/**
 * Fingerprints the files behind a branch by their ctime, which a writer cannot set back. If a file changed within the
 * last moments, the next change may have the same time; and a symbolic branch changes elsewhere. In both cases the
 * result is not settled.
 */
export function readRefFingerprint(commonDir: string, branch: string, nowMs: number): RefFingerprint {
  const loose = join(commonDir, 'refs', 'heads', branch);
  const files = [loose, ...SHARED.map((name) => join(commonDir, name))];
  const stats = files.map((path) => statSync(path, { bigint: true, throwIfNoEntry: false }));
  const newestMs = Math.max(...stats.map((stat) => (stat === undefined ? 0 : Number(stat.ctimeMs))));
  const text = stats.map((stat) => (stat === undefined ? '-' : `${stat.ino}:${stat.size}:${stat.ctimeNs}`)).join(' ');
  return { text, isSettled: nowMs - newestMs > GRANULARITY_MS && !isSymbolic(loose) };
}

/** Packed branches, the reftable, and the ref that determines the main branch. */
const SHARED = ['packed-refs', 'reftable/tables.list', 'refs/remotes/origin/HEAD'];
const GRANULARITY_MS = 100;

function isSymbolic(path: string): boolean {
  try {
    return readFileSync(path, 'latin1').startsWith('ref:');
  } catch {
    return false;
  }
}

const MOST_NAMES = 10;
const MOST_TEXT = 2500;
