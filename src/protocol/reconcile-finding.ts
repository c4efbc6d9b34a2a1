/** How a task can contradict git or the running processes. */
export const FINDING_KINDS = [
  'commit-missing',
  'commit-gone',
  'commit-reverted',
  'merged-by-hand',
  'worktree-missing',
  'session-dead',
] as const;

export type FindingKind = (typeof FINDING_KINDS)[number];

/** A completed task whose work is not on the main branch any more: an agent may reinstate it. */
export const UNDONE_WORK: ReadonlySet<FindingKind> = new Set(['commit-missing', 'commit-gone', 'commit-reverted']);
