import { problem, type Problem } from '../../protocol/shape/problem.ts';
import type { Machine } from './machine.ts';
import { isInside, joinPath, stepsOf } from './paths.ts';
import { cover, linksTo, realPathOf, showPath } from './place.ts';
import type { Rule } from './rules.ts';
import type { SessionPaths } from './session-paths.ts';

/** The rules for what Baton needs in a session, and for what no runbook can show. */
export function sessionRules(machine: Machine, paths: SessionPaths): Rule[] {
  const show = (path: string, kind: 'read' | 'write'): Rule[] => showPath(machine, path, kind, 'session');
  return [
    ...[paths.stateDir, ...(paths.secrets ?? []), paths.commonDir].flatMap((path) => hide(machine, path, 'session')),
    ...[paths.repository, paths.worktrees, paths.realHome ?? null].flatMap((path) => hide(machine, path, 'table')),
    ...TEMPORARY.filter((path) => path === '/tmp' || machine.find(path) !== undefined).flatMap((path): Rule[] => [
      ...linksTo(machine, path, 'session'),
      { rank: 'session', mount: { kind: 'write', at: realPathOf(machine, path), from: paths.tmp } },
    ]),
    { rank: 'session', mount: { kind: 'scratch', at: runtimeFolder(machine) }, isPinned: true },
    ...paths.programs.flatMap((path) => show(path, 'read')),
    ...paths.linked.flatMap((path) => show(path, 'read')),
    ...showCache(machine, paths.cache),
    ...show(paths.worktree, 'write'),
    ...pinned(machine, paths),
    ...paths.files.flatMap((path) => show(path, 'read')),
    ...paths.mounts.map((mount): Rule => ({ rank: 'session', mount })),
  ];
}

/** The folder outside may be made only at the start. */
function showCache(machine: Machine, cache: SessionPaths['cache']): Rule[] {
  if (cache === null) return [];
  return [{ rank: 'session', mount: { kind: 'write', at: realPathOf(machine, cache.at), from: cache.from } }];
}

const TEMPORARY = ['/tmp', '/var/tmp'];

export function runtimeFolder({ uid }: Machine): string {
  return `/run/user/${uid === 0 ? 1000 : uid}`;
}

function hide(machine: Machine, path: string | null, rank: 'table' | 'session'): Rule[] {
  const fact = path === null ? undefined : machine.find(path);
  return fact === undefined ? [] : [{ rank, mount: cover(fact) }];
}

/** Makes the session folder and its parents mount points, so that the session can neither move nor replace them. */
function pinned(machine: Machine, { worktree, sessionFolder }: SessionPaths): Rule[] {
  const root = realPathOf(machine, worktree);
  return stepsOf(`/${sessionFolder}`).flatMap((step): Rule[] => {
    const path = joinPath(root, step);
    if (machine.find(path) === undefined) return [];
    return [{ rank: 'session', mount: { kind: 'write', at: path, from: path }, isPinned: true }];
  });
}

/** Finds a folder to be mounted that an earlier session has replaced by a link. */
export function findReplacedFolder(machine: Machine, paths: SessionPaths): Problem | undefined {
  const root = realPathOf(machine, paths.worktree);
  const own = [...stepsOf(`/${paths.sessionFolder}`).map((step) => joinPath(root, step)), ...paths.files];
  const replaced = own.find((path) => {
    const real = machine.find(path)?.real;
    return real !== undefined && isInside(path, root) && real !== path;
  });
  if (replaced === undefined) return undefined;
  return problem(
    'sandbox/replaced-folder',
    `${replaced} is a link, or lies behind one: the worktree's folder for Baton's files was replaced`,
    `See where the link leads, and remove it: rm ${replaced}`,
  );
}
