import type { ExitSignal } from './exit-signal/exit-signal-shape.ts';
import { EXIT_REASONS, nextPhase, PHASES } from './phase.ts';
import { whole, nullable, choice, optional, text } from './shape/build-shape.ts';
import type { FieldsOf } from './shape/shape.ts';

/** The fields of the entry that an accepted exit signal leaves in the ledger. */
export const agentSessionCompleted = {
  event_id: text,
  event_type: choice(['AgentSessionCompleted']),
  timestamp: text,
  source: choice(['agent_exit_protocol']),
  session_id: text,
  actor_id: text,
  task_id: optional(text),
  epoch: optional(whole),
  phase_completed: choice(PHASES),
  exit_reason: choice(EXIT_REASONS),
  /** The agent's own reason, if Baton's measurements contradict it. */
  claimed_exit_reason: optional(choice(EXIT_REASONS)),
  next_phase: nullable(choice(PHASES)),
  pr_url: optional(text),
  evidence_bundle_ref: optional(text),
  notes: optional(text),
} as const;

export type AgentSessionCompleted = FieldsOf<typeof agentSessionCompleted>;

/** Facts of the event that the signal does not contain. Time and ids are arguments to keep the function pure. */
export interface CompletionFacts {
  readonly eventId: string;
  readonly at: string;
  readonly taskId?: string;
  readonly epoch?: number;
}

export function createAgentSessionCompleted(
  sessionId: string,
  actorId: string,
  signal: ExitSignal,
  facts: CompletionFacts,
): AgentSessionCompleted {
  const { pr_url, evidence_bundle_ref, notes, phase_completed, exit_reason } = signal;
  return {
    event_id: facts.eventId,
    event_type: 'AgentSessionCompleted',
    timestamp: facts.at,
    source: 'agent_exit_protocol',
    session_id: sessionId,
    actor_id: actorId,
    ...(facts.taskId === undefined ? {} : { task_id: facts.taskId }),
    ...(facts.epoch === undefined ? {} : { epoch: facts.epoch }),
    phase_completed,
    exit_reason,
    next_phase: nextPhase(phase_completed, exit_reason) ?? null,
    ...(pr_url === undefined ? {} : { pr_url }),
    ...(evidence_bundle_ref === undefined ? {} : { evidence_bundle_ref }),
    ...(notes === undefined ? {} : { notes }),
  };
}

export const VIOLATION_KINDS = ['max_files', 'no_git_commit', 'no_new_deps', 'files_modified', 'timeout'] as const;
export type ViolationKind = (typeof VIOLATION_KINDS)[number];
/** The constraints that an operator can waive for a task. */
export const CONSTRAINTS = ['max_files', 'no_git_commit', 'no_new_deps'] as const satisfies readonly ViolationKind[];
export type Constraint = (typeof CONSTRAINTS)[number];

/**
 * A violation of the protocol. Code decides by its kind; the text is for people and may quote names that an agent
 * chose.
 */
export interface Violation {
  readonly kind: ViolationKind;
  readonly text: string;
}

export function violationKinds(violations: readonly Violation[]): ViolationKind[] {
  return [...new Set(violations.map(({ kind }) => kind))];
}
