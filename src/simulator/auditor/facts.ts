import type { TaskLimits } from './family-audit.ts';

export interface AuditSettings {
  /** The names of the checks that every commit must pass. */
  readonly required: readonly string[];
  /** The budget of a task. */
  readonly taskTokens: number;
  readonly tasks: TaskLimits;
  /** Whether approvals of agents are proven, confirmed by a person, or accepted as they are. */
  readonly judges: 'accepted' | 'proven' | 'asked';
  readonly doClocksJump: boolean;
}

/** What a host will still run. */
export interface OwingHost {
  readonly name: string;
  readonly effects: readonly {
    readonly seq: number;
    readonly type: string;
    readonly data: Readonly<Record<string, unknown>>;
  }[];
}

/** Git as it really is, for the auditor's questions. */
export interface TrueGit {
  wasOnMain(sha: string): boolean;
  treeOf(sha: string): Readonly<Record<string, string>>;
  isAncestor(older: string, newer: string): boolean;
  since(base: string, head: string): readonly { readonly sha: string; readonly author: string }[];
  mergeBase(one: string, other: string): string;
}
