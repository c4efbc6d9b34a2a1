import type { EndedCommand } from './running-command.ts';
import type { WorkflowEvents } from '../workflow/workflow-event.ts';

/** The main branch as Baton last knew it. */
export interface MainBranchState {
  readonly branch: string;
  readonly sha: string;
  /** When this position was recorded. */
  readonly at: string;
  /**
   * Identifies the upstream branch that counts, without naming it: the address may hold a credential. It is the one of the first look, or
   * one that a person approved. Null if there is none.
   */
  readonly upstream: string | null;
  /** The merge that Baton is about to move the branch to, or has just moved it to. */
  readonly prepared: { readonly mergeId: string; readonly sha: string } | null;
  /** The last position that counts, while newer commits wait for a person; null if all of them count. */
  readonly trusted: TrustedPosition | null;
  /** The open decision about those commits. */
  readonly decisionId: string | null;
  /** The newest end of a command that ran code of a branch; null if none has ended since the branch was first seen. */
  readonly lastCommand: EndedCommand | null;
}

export interface TrustedPosition {
  readonly branch: string;
  readonly sha: string;
  /** The upstream that counts once a person approves the move; left out if it is the same as before. */
  readonly upstream?: string | null;
}

export type MainMoved = WorkflowEvents['MainMoved'];

/** A map like every other part of the state, so that changes can be taken back; a project has one main branch. */
export type MainBranches = Map<string, MainBranchState>;

const MAIN_KEY = 'main';

export function findMain({ main }: { readonly main: MainBranches }): MainBranchState | undefined {
  return main.get(MAIN_KEY);
}

export function setMain({ main }: { readonly main: MainBranches }, position: MainBranchState): void {
  main.set(MAIN_KEY, position);
}

/** The last accepted position of the main branch. Without `sha`: the current one. */
export interface AcceptedMain {
  readonly branch: string;
  readonly sha?: string;
}

/** Undefined before the first look. While newer commits wait for a person, the last position that counts. */
export function acceptedMain(state: { readonly main: MainBranches }): AcceptedMain | undefined {
  const main = findMain(state);
  if (main === undefined) return undefined;
  return main.trusted === null ? { branch: main.branch } : { branch: main.trusted.branch, sha: main.trusted.sha };
}

/** Whether merges wait: the main branch has commits that nobody has accepted. */
export function isMainUnaccepted(state: { readonly main: MainBranches }): boolean {
  return (findMain(state)?.trusted ?? null) !== null;
}

/**
 * Whether a person must look at a move that Baton did not make: history was rewritten, or a session without a sandbox could have made it
 * and the commits are not on the upstream branch either.
 */
export function needsApproval({ old, fast_forward, on_upstream, sessions }: MainMoved): boolean {
  if (old === null) return false;
  return !fast_forward || (sessions.length > 0 && on_upstream !== true);
}
