import { lstatSync, readlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Mount } from '../../protocol/sandbox.ts';
import { problem, type Problem } from '../../protocol/shape/problem.ts';
import { outsidePath } from '../plan/outside-path.ts';
import { isBelow, pathBelow, stepsOf } from '../plan/paths.ts';

export type SettledMounts =
  | { readonly ok: true; readonly system: readonly Mount[]; readonly mounts: readonly Mount[] }
  | { readonly ok: false; readonly problem: Problem };

/**
 * Removes mounts that can no longer be made, because a path has disappeared since the plan, and links that an earlier
 * process of the session has already created. Refuses mounts through a link in a folder that a session can write:
 * bubblewrap follows the link, and would create files outside, or show its target.
 */
export function settleMounts(system: readonly Mount[], mounts: readonly Mount[]): SettledMounts {
  const all = [...system, ...mounts];
  const planted = findPlantedLink(all);
  if (planted !== undefined)
    return {
      ok: false,
      problem: problem(
        'sandbox/planted-link',
        `${planted} is a link in a folder that a session can write, where the sandbox needs a mount`,
        `See where the link leads, and remove it: rm ${planted}`,
      ),
    };
  const isMade = (mount: Mount): boolean => {
    if (mount.kind === 'empty' || mount.kind === 'masked') return lstatSync(mount.at, QUIET) !== undefined;
    return mount.kind !== 'link' || !hasLink(mount, all);
  };
  return { ok: true, system: system.filter(isMade), mounts: mounts.filter(isMade) };
}

const QUIET = { throwIfNoEntry: false } as const;

function hasLink({ at, to }: Mount & { kind: 'link' }, all: readonly Mount[]): boolean {
  const folder = outsidePath(join(at, '..'), all);
  if (folder === undefined) return false;
  const path = join(folder, basename(at));
  return lstatSync(path, QUIET)?.isSymbolicLink() === true && readlinkSync(path) === to;
}

function findPlantedLink(all: readonly Mount[]): string | undefined {
  const writable = all.flatMap((mount) => (mount.kind === 'write' ? [mount.from] : []));
  for (const [i, mount] of all.entries()) {
    // The mount point of a link is checked only up to its folder, because the link itself may exist.
    const at = outsidePath(mount.kind === 'link' ? join(mount.at, '..') : mount.at, all.slice(0, i));
    for (const path of [at, 'from' in mount ? mount.from : undefined]) {
      const root = writable.find((folder) => path !== undefined && isBelow(path, folder));
      if (path === undefined || root === undefined) continue;
      const steps = stepsOf(`/${pathBelow(path, root)}`).map((step) => join(root, step));
      const link = steps.find((step) => lstatSync(step, QUIET)?.isSymbolicLink());
      if (link !== undefined) return link;
    }
  }
  return undefined;
}
