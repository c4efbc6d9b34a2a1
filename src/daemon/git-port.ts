/** What the daemon asks of git. The room `git/` answers; tests may answer for it. */
export interface GitPort {
  /** Whether the repository has this commit, in full. */
  hasCommit(repository: string, sha: string): Promise<boolean>;
}
