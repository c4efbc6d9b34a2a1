import { gitText, type OwnGitFolder } from './run-git.ts';

export interface Diff {
  readonly stat: string;
  /** Null if it was not asked for, or is too large to show. */
  readonly diff: string | null;
}

/** What differs between two commits of Baton's own repository, for people and agents to read. */
export async function readDiff(own: OwnGitFolder, from: string, to: string, whole = true): Promise<Diff> {
  const [stat, diff] = await Promise.all([
    gitText([...DIFF, '--stat=100', from, to, '--'], { cwd: own }),
    whole ? gitText([...DIFF, from, to, '--'], { cwd: own }) : null,
  ]);
  return { stat: stat.ok ? stat.value : '', diff: diff?.ok === true ? diff.value : null };
}

/** No attribute is read in a bare repository: a file that is marked `-diff` or `binary` is shown as the text that it is. */
const DIFF = ['diff', '--no-ext-diff', '--no-textconv', '--no-color', '--submodule=short'];
