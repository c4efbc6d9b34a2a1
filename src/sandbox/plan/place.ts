import type { Mount } from '../../protocol/sandbox.ts';
import type { Machine, PathFact } from './machine.ts';
import { folderOf, joinPath, nameOf, stepsOf } from './paths.ts';
import type { Rank, Rule } from './rules.ts';

/** The rules that make a path visible under all its names: a mount at its real path, and each link on the way. */
export function showPath(machine: Machine, path: string, kind: 'read' | 'write', rank: Rank): Rule[] {
  const real = machine.find(path)?.real;
  if (real === undefined) return [];
  return [...linksTo(machine, path, rank), { rank, mount: { kind, at: real, from: real } }];
}

/** The links on the way to a path. A link in a visible folder exists anyway; its rule is dropped later. */
export function linksTo(machine: Machine, path: string, rank: Rank): Rule[] {
  return stepsOf(path).flatMap((step) => {
    const real = machine.find(step)?.real;
    const at = joinPath(realPathOf(machine, folderOf(step)), nameOf(step));
    return real === undefined || real === at ? [] : [{ rank, mount: { kind: 'link', at, to: real } } as const];
  });
}

/** The real path; the path itself if it does not exist. */
export function realPathOf(machine: Machine, path: string): string {
  return machine.find(path)?.real ?? path;
}

/** Hides a path; the rule is dropped later if nothing would be visible there. */
export function cover({ kind, real }: PathFact): Mount {
  return kind === 'folder' ? { kind: 'empty', at: real } : { kind: 'masked', at: real };
}
