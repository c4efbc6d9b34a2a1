/** What the project has decided, as far as decisions about tasks depend on it. */
export interface Rules {
  /** `ci.required` is not empty: only CI completes CI_PENDING. */
  readonly ciGate: boolean;
  /** The project merges through Baton: only the merge completes READY_FOR_MERGE. */
  readonly mergeGate: boolean;
  /** How many agents may run at once; left out: as many as are asked for. */
  readonly maxAgents?: number;
  /** How long an agent that nobody waits for may take to leave; left out: see the engine's `leave`. */
  readonly leaveMs?: number;
}
