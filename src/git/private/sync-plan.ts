import { isGitRef } from '../../protocol/text/text-format.ts';
import type { PrivateRefs, Refs } from './private-refs.ts';

/** A branch of the user's repository. Null: the branch does not exist. */
export interface BranchMove {
  readonly branch: string;
  readonly from: string | null;
  readonly to: string | null;
}

export type SyncRefusal = keyof typeof REFUSALS;

/** A change of a private branch that is not copied to the user's repository, and stays in the private one. */
export interface RefusedBranch {
  readonly branch: string;
  readonly reason: SyncRefusal;
  readonly message: string;
}

const REFUSALS = {
  'claim-lost': 'the session no longer holds the claim on its task',
  diverged: 'it has other commits in the repository, made outside of the session',
  gone: 'it was deleted in the repository',
  'not-yours': 'the session did not create it, and it is not the branch of its task',
  taken: 'another branch of that name exists in the repository, or it was moved there',
  'bad-name': 'its name could be mistaken for something else',
  'too-many': 'too many branches changed at once',
  damaged: 'its objects are incomplete or damaged',
} as const;

export function refusedBranch(branch: string, reason: SyncRefusal): RefusedBranch {
  return { branch, reason, message: `branch '${branch}' stays inside the sandbox: ${REFUSALS[reason]}` };
}

export interface SyncFacts {
  readonly privateRefs: PrivateRefs;
  /** The task's branch, and its value after the last sync. */
  readonly branch: string | null;
  readonly tip: string | null;
  /** Branches that syncs of this worktree created, with the value that the sync set. */
  readonly made: ReadonlyMap<string, string>;
  /** Refs of the user's repository as the session received them: branches, remote-tracking branches and tags. */
  readonly snapshot: Refs;
}

export interface SyncPlan {
  readonly task: BranchMove | null;
  readonly others: readonly BranchMove[];
  readonly refused: readonly RefusedBranch[];
}

/**
 * Decides which changes of private branches are copied to the user's repository. Anything but branches stays private.
 */
export function planSync({ privateRefs, branch, tip, made, snapshot }: SyncFacts): SyncPlan {
  let task: BranchMove | null = null;
  const others: BranchMove[] = [];
  const refused: RefusedBranch[] = [];
  for (const [ref, to] of privateRefs.refs) {
    if (!ref.startsWith(HEADS)) continue;
    const name = ref.slice(HEADS.length);
    const from = made.get(name) ?? null;
    if (name === branch) task = to === tip ? null : { branch: name, from: tip, to };
    else if (from !== null) {
      if (to !== from) others.push({ branch: name, from, to });
    } else if (snapshot.has(ref)) {
      if (snapshot.get(ref) !== to) refused.push(refusedBranch(name, 'not-yours'));
    } else if (isClearName(name, snapshot)) others.push({ branch: name, from: null, to });
    else refused.push(refusedBranch(name, 'bad-name'));
  }
  if (privateRefs.isComplete)
    for (const [name, from] of made)
      if (name !== branch && !privateRefs.refs.has(HEADS + name)) others.push({ branch: name, from, to: null });
  refused.push(...others.splice(MOST_BRANCHES).map((each) => refusedBranch(each.branch, 'too-many')));
  return { task, others, refused: refused.slice(0, MOST_BRANCHES) };
}

/**
 * Git would read other names as a commit or as a ref of another kind: a branch `origin/main` takes precedence over the
 * remote-tracking branch wherever a person types that name.
 */
function isClearName(name: string, snapshot: Refs): boolean {
  if (!isGitRef(name) || /^(?:[0-9a-f]{7,64}|[A-Z_]*HEAD|refs\/.*)$/.test(name)) return false;
  const remote = `refs/remotes/${name.split('/', 1)[0]}/`;
  return !snapshot.has(`refs/tags/${name}`) && ![...snapshot.keys()].some((ref) => ref.startsWith(remote));
}

export const HEADS = 'refs/heads/';
const MOST_BRANCHES = 100;
