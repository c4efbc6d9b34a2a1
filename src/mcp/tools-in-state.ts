import type { OperationName, ResultOf } from '../api/operations/registry.ts';

export type CallerView = ResultOf<'caller_get'>;
type SessionView = NonNullable<CallerView['session']>;

/** The caller of a connection without a token and without a claim: no request to the daemon is needed. */
export const WORKER: CallerView = { kind: 'worker', session: null };

/** The tools that the caller can use now. The list is a convenience: the daemon alone decides what is allowed. */
export function usableTools({ kind, session }: CallerView): ReadonlySet<string> {
  if (session === null) return new Set<OperationName>(kind === 'agent' ? AGENT_TOOLS : WORKER_TOOLS);
  return new Set<OperationName>(session.holds_claim ? toolsUnderClaim(session) : toolsAfterClaim(session));
}

const READING: readonly OperationName[] = ['task_get', 'task_brief', 'entry_get'];
const FINDING: readonly OperationName[] = ['task_next_actions', 'task_list'];
/**
 * Includes the thought record, because a record by a caller without a claim reinstates a task: see
 * `state/tasks/reinstate-undone.ts`.
 */
const WORKER_TOOLS: readonly OperationName[] = [...READING, ...FINDING, 'task_claim', 'thought_record', 'fleet_show'];
const AGENT_TOOLS: readonly OperationName[] = [...READING, ...FINDING, 'agent_signal', 'thought_record'];
const SEALING: readonly OperationName[] = ['merkle_finalize', 'merkle_root'];

/** The same list during the whole session, because most clients read it only once. */
function toolsUnderClaim({ started, exit_protocol, hands_off, judges, phase }: SessionView): OperationName[] {
  return [
    ...READING,
    'task_list',
    'task_create',
    'task_update',
    'task_release',
    'thought_record',
    'form_get',
    'audit_session_start',
    'audit_verify_chain',
    ...SEALING,
    ...(started ? STARTED_TOOLS : BY_HAND_TOOLS),
    ...when(exit_protocol, 'exit_signal'),
    ...when(started || !exit_protocol, 'agent_signal'),
    ...when(hands_off, 'handoff_send'),
    ...when(judges, 'task_check'),
    ...when(phase === 'READY_FOR_MERGE', 'merge_request'),
  ];
}

const STARTED_TOOLS: readonly OperationName[] = ['mission_get', 'result_submit'];
/**
 * Tools for sessions that Baton did not start. For its own sessions Baton renews the claim, gives a worktree, and
 * measures the work at the end.
 */
const BY_HAND_TOOLS: readonly OperationName[] = ['task_heartbeat', 'task_worktree', 'task_complete'];

/** An ended session may read its own task, report on its process, and seal its record. */
function toolsAfterClaim({ started }: SessionView): OperationName[] {
  return ['task_get', 'task_brief', ...when(started, 'agent_signal'), ...SEALING];
}

function when(holds: boolean, ...tools: readonly OperationName[]): readonly OperationName[] {
  return holds ? tools : [];
}
