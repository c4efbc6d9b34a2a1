import { join } from 'node:path';
import { readCloneKind } from '../../git/own/own-repository.ts';
import { findCurrentBranch, findMainBranch, findSha, type Repository } from '../../git/repository.ts';

export interface MainBranch {
  readonly name: string;
  /** Null before the first commit. */
  readonly sha: string | null;
  /** Notes for the person about the branch, one sentence each. */
  readonly notes: readonly string[];
}

/** The branch that work is merged into: the usual one, else the checked-out one. */
export async function findBranch({ top, commonDir }: Repository): Promise<MainBranch> {
  const main = await findMainBranch(top);
  const found = await findCurrentBranch(top);
  const current = found.ok ? found.value : null;
  const name = main.ok ? main.value.name : (current ?? 'main');
  const sha = main.ok ? main.value.sha : await findSha(top, `refs/heads/${name}`);
  return {
    name,
    sha,
    notes: [
      ...(current === name
        ? []
        : [`${describeCheckout(current)}. Bring baton.toml to ${name}, so that it stays in force.`]),
      ...(isShallow({ top, commonDir }) ? [SHALLOW] : []),
    ],
  };
}

export function isShallow({ top, commonDir }: Pick<Repository, 'top' | 'commonDir'>): boolean {
  return readCloneKind({ path: top, commonDir, objects: join(commonDir, 'objects') }) === 'shallow';
}

function describeCheckout(current: string | null): string {
  return current === null ? 'No branch is checked out' : `The branch that is checked out is ${current}`;
}

const SHALLOW = 'This is a shallow clone, and Baton needs the whole history: git fetch --unshallow';
