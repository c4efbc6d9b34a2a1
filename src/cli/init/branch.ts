import { findCurrentBranch, findMainBranch, findSha } from '../../git/repository.ts';

export interface MainBranch {
  readonly name: string;
  /** Null before the first commit. */
  readonly sha: string | null;
}

/** The branch that work is merged into: the usual one, else the one that is checked out. */
export async function findBranch(top: string): Promise<MainBranch> {
  const main = await findMainBranch(top);
  if (main.ok) return { name: main.value.name, sha: main.value.sha };
  const current = await findCurrentBranch(top);
  const name = (current.ok ? current.value : null) ?? 'main';
  return { name, sha: await findSha(top, `refs/heads/${name}`) };
}
