import { findMainBranch, findSha } from '../git/repository.ts';

export interface MainCommit {
  readonly name: string;
  readonly sha: string;
}

/** The main branch of the project and the commit it is at; undefined if there is none. */
export async function findMainCommit(path: string, into: string | undefined): Promise<MainCommit | undefined> {
  const main = await findMainBranch(path, into);
  if (!main.ok) return undefined;
  const sha = await findSha(path, `refs/heads/${main.value.name}`);
  return sha === null ? undefined : { name: main.value.name, sha };
}
