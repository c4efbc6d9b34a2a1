import type { Violation, ViolationKind } from '../../protocol/agent-session-completed.ts';
import type { Mission } from '../../protocol/mission.ts';
import type { Result } from '../../protocol/result.ts';
import type { MeasuredChange } from './measure-change.ts';

/**
 * Every violation of the mission's constraints and every difference from the result. Constraints apply to `whole`,
 * which includes earlier sessions that violated one.
 */
export function findViolations(
  constraints: NonNullable<Mission['constraints']>,
  measured: MeasuredChange,
  result: Result | null,
  whole: MeasuredChange = measured,
): Violation[] {
  const of = (kind: ViolationKind, texts: readonly string[]): Violation[] =>
    texts.map((text) => ({ kind, text: `${kind}: ${text}` }));
  return [
    ...of('max_files', tooManyFiles(constraints, whole)),
    ...of('no_git_commit', commits(constraints, whole)),
    ...of('no_new_deps', newDependencies(constraints, whole)),
    ...of('files_modified', result === null ? [] : falseClaims(result, measured)),
  ];
}

function tooManyFiles({ max_files }: Mission['constraints'] & object, { files }: MeasuredChange): string[] {
  if (max_files === undefined || files.length <= max_files) return [];
  return [`${files.length} files differ from the base, ${max_files} allowed`];
}

function commits({ no_git_commit }: Mission['constraints'] & object, measured: MeasuredChange): string[] {
  const { commits: made, base, head, main } = measured;
  if (no_git_commit !== true || (made === 0 && (head === base || head === main))) return [];
  const ahead = `${made} commit${made === 1 ? '' : 's'} ahead of the base`;
  return [`${head === base ? 'the branch' : 'HEAD'} is ${ahead}`];
}

function newDependencies({ no_new_deps }: Mission['constraints'] & object, { dependencies }: MeasuredChange): string[] {
  if (no_new_deps !== true) return [];
  return [
    ...dependencies.added.map(({ ecosystem, name, paths }) => `${ecosystem} ${name} (${paths.join(', ')})`),
    ...dependencies.unreadable.map(({ path, why }) => `${path} changed and cannot be read: ${why}`),
  ];
}

function falseClaims({ files_modified: claimed }: Result, { files }: MeasuredChange): string[] {
  const real = new Map(files.map(({ path, action }) => [path, action]));
  const named = new Set(claimed.map(({ path }) => path));
  const unchanged = claimed.filter(({ path }) => !real.has(path)).map(({ path }) => path);
  // Agents often confuse created and modified, so only deletions are compared.
  const isGone = (action: string | undefined): boolean => action === 'deleted';
  const otherwise = claimed.filter(({ path, action }) => real.has(path) && isGone(action) !== isGone(real.get(path)));
  const unnamed = files.filter(({ path }) => !named.has(path)).map(({ path }) => path);
  return [
    ...(unchanged.length === 0 ? [] : [`listed but not changed: ${list(unchanged)}`]),
    ...otherwise.map(({ path, action }) => `${path} is ${real.get(path) ?? ''}, not ${action}`),
    ...(unnamed.length === 0 ? [] : [`changed but not listed: ${list(unnamed)}`]),
  ];
}

const MOST_NAMED = 20;

function list(paths: readonly string[]): string {
  const rest = paths.length - MOST_NAMED;
  return paths.slice(0, MOST_NAMED).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}
