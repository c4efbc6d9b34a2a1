import type { FindingKind } from '../../protocol/shape/shared-fields.ts';
import type { AgentPlan } from '../../protocol/run-plan.ts';
import { flag, object, choice, text } from '../../protocol/shape/build-shape.ts';
import type { ValueOf } from '../../protocol/shape/shape.ts';
import type { BudgetScope } from './budget-scope.ts';

export interface Decision {
  readonly source: DecisionSource;
  readonly title: string;
  readonly context: string;
  readonly options: readonly DecisionOption[];
  readonly id: string;
  readonly agentId: string | null;
  readonly pipelineId: string | null;
  readonly taskId: string | null;
  /** The budget, if the decision is about one; several agents may wait for the answer. */
  readonly scope: BudgetScope | null;
  /** The runbook that the answer `approve` puts in force. */
  readonly adopts: { readonly sha256: string; readonly commit: string } | null;
  /** The task of a person, if the decision is about tasks that sessions below it proposed. */
  readonly proposalsOf?: string;
  /** The reported check, if the decision is whether the report counts. */
  readonly check?: { readonly checks_id: string; readonly name: string };
  /** The main branch, if the decision is about moves that no person has accepted. */
  readonly branch: string | null;
  /** Set for a decision about a silent agent, which is withdrawn as soon as the agent prints again. */
  readonly untilHeard?: true;
  /** The kind of a finding of reconciliation; older entries have none. */
  readonly finding?: FindingKind;
  readonly openedAt: string;
  /** An answer that is not in effect yet. For the rules the decision is still open. */
  readonly answer?: PendingAnswer;
  /** The last answer that a change prevented from taking effect. */
  readonly lapsed?: LapsedAnswer;
  readonly result: DecisionResult | null;
  /** Seq of the entry that settled it; null while it is open. */
  readonly over: number | null;
}

export const DECISION_SOURCES = [
  'stop', 'idle', 'dead', 'error', 'gate', 'prompt', 'review', 'merge', 'reconcile', 'budget',
  'integrity',
] as const; // prettier-ignore
export type DecisionSource = (typeof DECISION_SOURCES)[number];

/** The label of each action. A decision names the object or the amount only if the action alone would be ambiguous. */
export const OPTION_LABELS = {
  nudge: 'Tell the agent to continue',
  done: 'Mark as done',
  retry: 'Restart',
  resume: 'Resume',
  skip: 'Skip',
  cancel: 'Cancel',
  approve: 'Approve',
  deny: 'Deny',
  send_back: 'Send back with a note',
  hand_over: 'Hand to another agent',
  take_over: 'Take over yourself',
  dismiss: 'Dismiss',
} as const;

export type DecisionAction = keyof typeof OPTION_LABELS;
export const DECISION_ACTIONS = Object.keys(OPTION_LABELS) as DecisionAction[]; // oxlint-disable-line typescript/no-unsafe-type-assertion

/** Options are numbered from 1 in the order of their list. */
export const decisionOption = object({ label: text, action: choice(DECISION_ACTIONS), recommended: flag });
export type DecisionOption = ValueOf<typeof decisionOption>;

/** The maximum delay between an answer and its effect. */
export const MAX_ANSWER_DELAY_MS = 60_000;

export interface PendingAnswer {
  readonly option: number;
  readonly action: DecisionAction;
  readonly by: string;
  readonly at: string;
  readonly message: string | null;
  readonly handTo?: AgentPlan;
  readonly effectiveAt: string;
  /** The entry that recorded it. */
  readonly seq: number;
}

interface LapsedAnswer {
  readonly option: number;
  readonly by: string;
  /** When it lapsed. */
  readonly at: string;
  readonly reason: string;
}

export type DecisionResult =
  | {
      readonly kind: 'resolved';
      readonly option: number;
      readonly action: DecisionAction;
      readonly by: string;
      readonly at: string;
      readonly message: string | null;
    }
  | { readonly kind: 'withdrawn'; readonly at: string; readonly reason: string };
