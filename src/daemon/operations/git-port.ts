import type { OwnRepositoryImporter } from '../../git/own/transfer-commits.ts';
import type { Problem } from '../../protocol/shape/problem.ts';

/** What the daemon asks of git. The room `git/` answers; tests may answer for it. */
export interface GitPort {
  /** Copies a commit into Baton's own repository. Undefined if it is there, whole; else why it cannot be. */
  keepCommit(own: Pick<OwnRepositoryImporter, 'with'>, sha: string): Promise<Problem | undefined>;
}
