/** A change that no test can see, with the reason. */
interface ExplainedMutant {
  readonly file: string;
  readonly kind: string;
  /** The text that is changed. */
  readonly from: string;
  /** Text of the file around it that occurs once. */
  readonly in: string;
  readonly why: string;
}

/** Survivors of `npm run mutate` that behave as the original does, or whose difference nobody relies on. */
export const EXPLAINED: readonly ExplainedMutant[] = [];
