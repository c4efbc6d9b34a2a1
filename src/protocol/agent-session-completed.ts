import type { ExitSignal } from './exit-signal-shape.ts';
import { type ExitReason, nextPhase, type Phase } from './phase.ts';

/** The entry that an accepted exit signal leaves in the ledger. */
export interface AgentSessionCompleted {
  readonly event_id: string;
  readonly event_type: 'AgentSessionCompleted';
  readonly timestamp: string;
  readonly source: 'agent_exit_protocol';
  readonly session_id: string;
  readonly actor_id: string;
  readonly task_id?: string;
  readonly epoch?: number;
  readonly phase_completed: Phase;
  readonly exit_reason: ExitReason;
  /** What the agent said, where Baton's measurements said otherwise. */
  readonly claimed_exit_reason?: ExitReason;
  readonly next_phase: Phase | null;
  readonly pr_url?: string;
  readonly evidence_bundle_ref?: string;
  readonly notes?: string;
}

/** What the event needs besides the signal. Time and ids come from outside, so that the same call gives the same event. */
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
