import type { OwnRepository } from './own/own-repository.ts';
import { git, gitLines, gitText, type GitResult, type GitLocation } from './run-git.ts';

/** How a branch got from one commit to another. */
export interface MeasuredMove {
  readonly fastForward: boolean;
  readonly commits: number;
}

/** Measures a move by the commits alone. A commit that is gone, or cannot be read, has nothing after it. */
export async function measureMove(place: GitLocation, old: string, now: string): Promise<MeasuredMove> {
  const ancestor = await git([...TRUE_HISTORY, 'merge-base', '--is-ancestor', old, now], options(place, [1]));
  const counted = await gitText([...TRUE_HISTORY, 'rev-list', '--count', now, `^${old}`, '--'], options(place));
  return {
    fastForward: ancestor.ok && ancestor.value.code === 0,
    commits: counted.ok ? Number(counted.value) : 0,
  };
}

/** Whether a branch is, or was, at a commit: the commit is part of its history. */
export async function isInHistory(place: GitLocation, sha: string, branch: string): Promise<boolean> {
  const ancestor = await git([...TRUE_HISTORY, 'merge-base', '--is-ancestor', sha, branch], options(place, [1]));
  return ancestor.ok && ancestor.value.code === 0;
}

export interface MoveContent {
  readonly authors: readonly string[];
  readonly stat: string | null;
}

/**
 * Who made the commits of a move, and what they change: what a person needs to judge it. Only in Baton's own repository: `log` and `diff`
 * run programs that the configuration of a repository names (`gpg.program`).
 */
export async function readMoveContent(place: OwnRepository, old: string, now: string): Promise<MoveContent> {
  const range = [now, `^${old}`, '--'];
  const log = [
    ...TRUE_HISTORY,
    'log',
    '--no-show-signature',
    `--max-count=${MOST_COMMITS}`,
    '--format=%an <%ae>',
    ...range,
  ];
  const authors = await gitLines(log, options(place));
  const diff = [
    'diff',
    '--no-ext-diff',
    '--no-textconv',
    '--no-color',
    `--stat=${WIDTH}`,
    `--stat-count=${MOST_FILES}`,
  ];
  const stat = await gitText([...diff, old, now, '--'], options(place));
  return { authors: countNames(authors), stat: stat.ok ? stat.value.slice(0, MOST_TEXT) : null };
}

function countNames(lines: GitResult<string[]>): string[] {
  const counts = new Map<string, number>();
  for (const name of lines.ok ? lines.value : []) counts.set(name, (counts.get(name) ?? 0) + 1);
  const names = [...counts].sort(([, a], [, b]) => b - a).slice(0, MOST_NAMES);
  return names.map(([name, count]) => `${name.slice(0, WIDTH)} (${count})`);
}

/** Grafts and the commit-graph say what follows what, and anybody can write them. */
const TRUE_HISTORY = ['-c', 'core.commitGraph=false'];
const ENV = { GIT_GRAFT_FILE: '/dev/null' };

const MOST_COMMITS = 1000;
const MOST_NAMES = 10;
const MOST_FILES = 20;
const MOST_TEXT = 2500;
const WIDTH = 100;

function options(cwd: GitLocation, answers: readonly number[] = []) {
  return { cwd, env: ENV, answers };
}
