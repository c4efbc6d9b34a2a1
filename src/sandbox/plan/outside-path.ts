import type { Mount } from '../../protocol/sandbox.ts';
import { isInside, joinPath, pathBelow } from './paths.ts';

/** The outside path of a sandbox path; undefined if it is only in memory. Later mounts hide earlier ones. */
export function outsidePath(path: string, mounts: readonly Mount[]): string | undefined {
  const around = mounts.findLast(({ at }) => isInside(path, at));
  if (around?.kind === 'link') return outsidePath(joinPath(around.to, pathBelow(path, around.at)), mounts);
  return around !== undefined && 'from' in around ? joinPath(around.from, pathBelow(path, around.at)) : undefined;
}
