export interface AuditSettings {
  /** The names of the checks that every commit must pass. */
  readonly required: readonly string[];
  /** The budget of a task. */
  readonly taskTokens: number;
  readonly doClocksJump: boolean;
}

/** Git as it really is, for the auditor's questions. */
export interface TrueGit {
  wasOnMain(sha: string): boolean;
  treeOf(sha: string): Readonly<Record<string, string>>;
  isAncestor(older: string, newer: string): boolean;
  since(base: string, head: string): readonly { readonly sha: string; readonly author: string }[];
  mergeBase(one: string, other: string): string;
}
