/** The kinds of spans, with the entries that begin and end each. `docs/telemetry.md` has the same table. */
export const SPAN_KINDS = {
  task: { from: 'WorkflowStarted or the first TaskClaimed', to: 'the entry that completes or cancels it', parents: [] },
  session: { from: 'TaskClaimed, or AgentRequested without a task', to: 'the end of the claim, or AgentEnded', parents: ['task', 'step'] }, // prettier-ignore
  pipeline: { from: 'PipelineStarted', to: 'PipelineFinished', parents: ['session', 'step'] },
  step: { from: 'StepStarted', to: 'StepFinished', parents: ['pipeline'] },
  agent: { from: 'AgentRequested with a task', to: 'AgentEnded', parents: ['session', 'step'] },
  checks: { from: 'ChecksRequested', to: 'ChecksFinished', parents: ['task'] },
  check: { from: 'ChecksRequested, or CommandRequested for a gate', to: 'CheckFinished, CommandFinished or CommandCancelled', parents: ['checks', 'session', 'agent'] }, // prettier-ignore
  merge: { from: 'MergeRequested', to: 'MergeFinished', parents: ['task'] },
  decision: { from: 'DecisionOpened', to: 'DecisionResolved or DecisionWithdrawn', parents: ['task', 'pipeline', 'step', 'session', 'agent'] }, // prettier-ignore
} as const satisfies Record<string, SpanKindAbout>;

interface SpanKindAbout {
  readonly from: string;
  readonly to: string;
  /** The kinds of parents. A span whose kind has none, or whose parent has no span, is a root. */
  readonly parents: readonly string[];
}

export type SpanKind = keyof typeof SPAN_KINDS;
export type Attributes = Readonly<Record<string, string | number>>;

/** One span of a trace. The key is the same in every daemon that folds the entries. */
export interface SpanRecord {
  readonly key: string;
  /** The parent's key; null for the root. */
  readonly parent: string | null;
  readonly kind: SpanKind;
  /** `KIND NAME`, such as `step build`: there are few names, so that a tracing service can group by them. */
  readonly name: string;
  readonly startMs: number;
  /** Null while the span is open. */
  readonly endMs: number | null;
  readonly isError: boolean;
  readonly attributes: Attributes;
}

/** A finished trace. Parents come before their children. */
export interface FinishedTrace {
  readonly project: string;
  readonly root: SpanRecord;
  readonly spans: readonly SpanRecord[];
}

/** Outcomes that a tracing service shows as errors. */
const ERRORS: ReadonlySet<string> = new Set(['failed', 'expired', 'conflict', 'refused']);

export function isErrorOutcome(outcome: string): boolean {
  return ERRORS.has(outcome);
}
