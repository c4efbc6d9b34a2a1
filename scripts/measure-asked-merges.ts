import { execFileSync } from 'node:child_process';
import { dirname } from 'node:path';
import { CODE_FILES, type CodeFileKind } from '../src/protocol/code-files/code-files.ts';
import { matchesGlob, splitKey } from '../src/protocol/code-files/match-path.ts';
import { findProtectedPaths, needsContent, type Protection } from '../src/runbook/gates/protected-paths.ts';

/**
 * Measures how many changes of a real repository would ask a person before their merge, with the built-in list and
 * nothing else: `node scripts/measure-asked-merges.ts REPOSITORY [CHANGES]`. A change is a commit of the first-parent
 * history of HEAD: a merged or squashed pull request.
 */
const [repository = '.', count = '200'] = process.argv.slice(2);
const NOTHING_ELSE: Protection = { patterns: [], inUse: [], programs: [] };

function git(...args: string[]): string {
  const env = { PATH: process.env['PATH'], GIT_LITERAL_PATHSPECS: '1', GIT_NO_REPLACE_OBJECTS: '1' };
  return execFileSync('git', ['-C', repository, ...args], { env, encoding: 'utf8', maxBuffer: 2 ** 28, stdio: 'pipe' });
}

function textOf(commit: string, path: string): string | null | undefined {
  const [mode, , object] = git('ls-tree', '-z', commit, '--', path).split(/[ \t]/);
  if (mode === undefined || object === undefined) return null;
  return mode === '100644' || mode === '100755' ? git('cat-file', 'blob', object) : undefined;
}

function measure(commit: string): {
  readonly commit: string;
  readonly paths: readonly string[];
  readonly isOther: boolean;
} {
  const changed = git('diff-tree', '-r', '-z', '--name-only', '--no-renames', `${commit}^`, commit).split('\0');
  const files = changed.filter(Boolean).map((path) => {
    if (!needsContent(path, NOTHING_ELSE)) return { path };
    const isFolderNew = git('ls-tree', `${commit}^`, '--', dirname(path)) === '';
    return { path, before: textOf(`${commit}^`, path), after: textOf(commit, path), isFolderNew };
  });
  const paths = findProtectedPaths(files, NOTHING_ELSE);
  return { commit, paths, isOther: files.length > paths.length };
}

function kindOf(path: string): CodeFileKind | 'other' {
  const isOf = (pattern: string): boolean => matchesGlob(splitKey(pattern)[0], path);
  return CODE_FILES.find(({ patterns }) => patterns.some(isOf))?.kind ?? 'other';
}

const commits = git('rev-list', '--first-parent', '--min-parents=1', `--max-count=${count}`, 'HEAD').trim().split('\n');
const changes = commits.map(measure);
const asking = changes.filter(({ paths }) => paths.length > 0);
for (const { commit, paths } of asking) {
  const title = git('log', '-1', '--format=%s', commit).trim().slice(0, 60);
  const shown = paths.slice(0, 5).map((path) => `${path} (${kindOf(path)})`);
  console.log(`${commit.slice(0, 10)}  ${title}\n            ${shown.join(', ')}${paths.length > 5 ? ' …' : ''}`);
}
/** Changes whose files ask for another reason than CI. */
const otherwise = asking.filter(({ paths }) => paths.some((path) => kindOf(path) !== 'ci'));
/** Changes that are not only about such files. */
const ordinary = changes.filter(({ isOther }) => isOther);
const share = (part: readonly unknown[], all: readonly unknown[]): string =>
  `${part.length} of ${all.length} (${((100 * part.length) / all.length).toFixed(1)} %)`;
console.log(`${share(asking, changes)} changes ask, ${share(otherwise, changes)} for another reason than CI.`);
console.log(
  `Of the changes that also touch other files: ${share(
    asking.filter(({ isOther }) => isOther),
    ordinary,
  )}`,
);
