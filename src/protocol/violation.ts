/** What a measured session broke: a constraint of its mission, or the truth of its result. */
export type ViolationKind = 'max_files' | 'no_git_commit' | 'no_new_deps' | 'files_modified' | 'timeout';

/** One violation. Rules decide by its kind; the text is for people and may quote names that an agent chose. */
export interface Violation {
  readonly kind: ViolationKind;
  readonly text: string;
}

/** Each kind once, as it is recorded beside the texts. */
export function violationKinds(violations: readonly Violation[]): ViolationKind[] {
  return [...new Set(violations.map(({ kind }) => kind))];
}
