import type { Mount } from '../../protocol/sandbox.ts';

/** The absolute paths of one session, with links resolved. */
export interface SessionPaths {
  /** Folders of this session alone, which replace HOME and `/tmp`. */
  readonly home: string;
  readonly tmp: string;
  readonly worktree: string;
  /** The folder for Baton's files in the worktree, relative to it. */
  readonly sessionFolder: string;
  readonly stateDir: string;
  /** Other paths that no session may see, such as the person's own configuration. */
  readonly secrets?: readonly string[];
  /** The person's HOME, if the variables of the process name another one. */
  readonly realHome?: string | undefined;
  /** The main checkout, and the folder with the worktrees of all tasks. */
  readonly repository: string;
  readonly worktrees: string;
  /** The repository's git directory, if a private one replaces it in the session. */
  readonly commonDir: string | null;
  /** The rules in force in the main checkout, which no session may change: the runbook and its prompts. */
  readonly inForce?: readonly string[];
  /** Files that Baton wrote for the session, which it may read. */
  readonly files: readonly string[];
  /** Targets of `workspace.link` in the main checkout. */
  readonly linked: readonly string[];
  /** The session's programs: Node, Baton, the client. See `findPrograms`. */
  readonly programs: readonly string[];
  /** The package caches: their path for the process, and the folder outside; null for none. */
  readonly cache: { readonly at: string; readonly from: string } | null;
  /**
   * More mounts of the session: its git directory, copies of the client's settings, its socket. Later ones hide earlier
   * ones.
   */
  readonly mounts: readonly Mount[];
}
