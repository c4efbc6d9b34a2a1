import type { Known } from './known.ts';
import { isObjectId, type PrivateRefs, type Refs } from './private-refs.ts';
import { HEADS } from './sync-plan.ts';

/** When a private git directory is rebuilt for another session, commits that no other ref has are kept below this. */
const KEPT = 'refs/baton/kept/';

/** The refs that `findUnsyncedRefs` reads. */
export const UNSYNCED_PREFIXES: readonly string[] = [HEADS, KEPT, 'refs/stash'];

/**
 * Finds refs of a private git directory with commits that no sync brought into the user's repository: refused branches,
 * stashes, a detached HEAD. They are carried over, and they prevent the removal of the directory.
 */
export function findUnsyncedRefs(
  { head, refs }: PrivateRefs,
  { git, tip, made, head: worktreeHead, indexed }: Pick<Known, 'git' | 'tip' | 'made' | 'head' | 'indexed'>,
  snapshot: Refs,
): Refs {
  const found = new Map<string, string>();
  const keep = (name: string, value: string): unknown => found.set(`${KEPT}${name}/${value.slice(0, 12)}`, value);
  if (isObjectId(head, git.format) && head !== worktreeHead && head !== indexed) keep('HEAD', head);
  for (const [name, value] of refs) {
    if (found.size >= MOST_KEPT) break;
    if (name === STASH || name.startsWith(KEPT)) found.set(name, value);
    else if (name.startsWith(HEADS) && value !== findSynced(name.slice(HEADS.length)))
      keep(name.slice(HEADS.length), value);
  }
  return found;

  function findSynced(branch: string): string | null | undefined {
    return branch === git.branch ? tip : (made.get(branch) ?? snapshot.get(HEADS + branch));
  }
}

/**
 * Merges the packed refs of a resumed session with the current values of the user's refs. What the session itself
 * changed stays, and so does its current branch.
 */
export function mergeRefs(packed: Refs, before: Refs, after: Refs, current: string | null): Refs {
  const merged = new Map<string, string>();
  for (const [name, value] of packed) {
    const isUnchanged = before.get(name) === value && name !== `${HEADS}${current}`;
    const kept = isUnchanged ? after.get(name) : value;
    if (kept !== undefined) merged.set(name, kept);
  }
  for (const [name, value] of after) if (!packed.has(name) && !before.has(name)) merged.set(name, value);
  return merged;
}

const STASH = 'refs/stash';
const MOST_KEPT = 500;
