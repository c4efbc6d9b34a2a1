import type { Phase } from '../protocol/phase.ts';
import type { Price } from '../protocol/price.ts';
import type { BudgetPlan } from '../protocol/run-plan.ts';
import type { CheckPlan, MergeMethod, PullPlace } from './workflow/workflow-event.ts';

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
  /** The required checks of the CI gate. */
  readonly checks?: readonly CheckPlan[];
  /** How the project merges; into the main branch where none is named. */
  readonly merge?: { readonly method: MergeMethod; readonly into: string | null };
  /** Where pull requests are opened; left out: branches are merged here. */
  readonly pulls?: PullPlace & { readonly draft: boolean };
  /** How often work may go back to the fixer before a person is asked; left out: 3. */
  readonly reviewRounds?: number;
  /** Whoever implements may also approve: the same agent, never the same session. */
  readonly sameAgentMayReview?: boolean;
  /** What a task, and a day, may use. */
  readonly budgets?: { readonly task?: BudgetPlan; readonly day?: BudgetPlan };
  /** For clients that name no price. */
  readonly prices?: readonly Price[];
  /** How long a task may stay in a phase before somebody is told. */
  readonly stallMs?: Readonly<Partial<Record<Phase, number>>>;
}
