import type { Mount } from '../../protocol/sandbox.ts';

/** The paths of one session. Absolute; links on the way are followed. */
export interface SessionPaths {
  /** Folders of this session alone, in place of HOME and of `/tmp`. */
  readonly home: string;
  readonly tmp: string;
  readonly worktree: string;
  /** The folder for Baton's files in the worktree, relative to it. */
  readonly sessionFolder: string;
  readonly stateDir: string;
  /** Other paths that no session may see, such as a socket of the daemon outside of the state folder. */
  readonly secrets?: readonly string[];
  /** The main checkout, and the folder with the worktrees of all tasks. */
  readonly repository: string;
  readonly worktrees: string;
  /** The git directory of the repository, if the session has a private one in its place. */
  readonly commonDir: string | null;
  /** Files that Baton wrote for the session: it may read them. */
  readonly files: readonly string[];
  /** Targets of `workspace.link` in the main checkout. */
  readonly linked: readonly string[];
  /** What the session runs: Node, Baton, the client. See `findPrograms`. */
  readonly programs: readonly string[];
  /** The package caches of the project; null for none. */
  readonly cache: string | null;
  /** More of the session's own: its git directory, copies of the client's settings, its socket. Later ones cover earlier ones. */
  readonly mounts: readonly Mount[];
}
