import type { Mission } from '../../protocol/mission.ts';
import type { Result } from '../../protocol/result.ts';
import type { Measured } from './measure-change.ts';

/**
 * Every way in which what was measured breaks the mission, or is not what the result says; empty where all is well. `whole` has the work of
 * earlier sessions in it that the constraints count for as well.
 */
export function findViolations(
  constraints: NonNullable<Mission['constraints']>,
  measured: Measured,
  result: Result | null,
  whole: Measured = measured,
): string[] {
  return [
    ...tooManyFiles(constraints, whole),
    ...commits(constraints, whole),
    ...newDependencies(constraints, whole),
    ...(result === null ? [] : falseClaims(result, measured)),
  ];
}

function tooManyFiles({ max_files }: Mission['constraints'] & object, { files }: Measured): string[] {
  if (max_files === undefined || files.length <= max_files) return [];
  return [`max_files: ${files.length} files differ from the base, ${max_files} allowed`];
}

function commits({ no_git_commit }: Mission['constraints'] & object, measured: Measured): string[] {
  const { commits: made, base, head } = measured;
  if (no_git_commit !== true || (head === base && made === 0)) return [];
  const ahead = `${made} commit${made === 1 ? '' : 's'} ahead of the base`;
  return [`no_git_commit: ${head === base ? 'the branch' : 'HEAD'} is ${ahead}`];
}

function newDependencies({ no_new_deps }: Mission['constraints'] & object, { dependencies }: Measured): string[] {
  if (no_new_deps !== true) return [];
  return [
    ...dependencies.added.map(
      ({ ecosystem, name, paths }) => `no_new_deps: ${ecosystem} ${name} (${paths.join(', ')})`,
    ),
    ...dependencies.unreadable.map(({ path, why }) => `no_new_deps: ${path} changed and cannot be read: ${why}`),
  ];
}

/** What the agent lists against what git sees. */
function falseClaims({ files_modified: claimed }: Result, { files }: Measured): string[] {
  const real = new Map(files.map(({ path, action }) => [path, action]));
  const named = new Set(claimed.map(({ path }) => path));
  const unchanged = claimed.filter(({ path }) => !real.has(path)).map(({ path }) => path);
  // Whether a file was there before is soon mistaken; whether it is there now is not.
  const isGone = (action: string | undefined): boolean => action === 'deleted';
  const otherwise = claimed.filter(({ path, action }) => real.has(path) && isGone(action) !== isGone(real.get(path)));
  const unnamed = files.filter(({ path }) => !named.has(path)).map(({ path }) => path);
  return [
    ...(unchanged.length === 0 ? [] : [`files_modified: named but not changed: ${list(unchanged)}`]),
    ...otherwise.map(({ path, action }) => `files_modified: ${path} is ${real.get(path) ?? ''}, not ${action}`),
    ...(unnamed.length === 0 ? [] : [`files_modified: changed but not named: ${list(unnamed)}`]),
  ];
}

const MOST_NAMED = 20;

function list(paths: readonly string[]): string {
  const rest = paths.length - MOST_NAMED;
  return paths.slice(0, MOST_NAMED).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}
