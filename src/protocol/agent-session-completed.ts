import type { ExitSignal } from './exit-signal-shape.ts';
import { type ExitReason, nextPhase, type Phase } from './phase.ts';

/** The ledger entry of an accepted exit signal. */
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
  /** The reason in the agent's signal, if Baton's measurements contradict it. */
  readonly claimed_exit_reason?: ExitReason;
  readonly next_phase: Phase | null;
  readonly pr_url?: string;
  readonly evidence_bundle_ref?: string;
  readonly notes?: string;
}

/** Facts of the event that the signal does not contain. Time and ids are arguments, so that the function stays pure. */
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

export type ViolationKind = 'max_files' | 'no_git_commit' | 'no_new_deps' | 'files_modified' | 'timeout';

/** A violation. Code decides by its kind; the text is for people and may quote names that an agent chose. */
export interface Violation {
  readonly kind: ViolationKind;
  readonly text: string;
}

export function violationKinds(violations: readonly Violation[]): ViolationKind[] {
  return [...new Set(violations.map(({ kind }) => kind))];
}
