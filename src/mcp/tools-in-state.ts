import type { OperationName, ResultOf } from '../api/operations/registry.ts';

export type CallerView = ResultOf<'caller_get'>;
type SessionView = NonNullable<CallerView['session']>;

/** The caller of a connection that has no token of its own and no claim: the daemon need not be asked. */
export const WORKER: CallerView = { kind: 'worker', session: null };

/** The tools that the caller can use now. The list is a comfort: the daemon alone decides what is allowed. */
export function usableTools({ kind, session }: CallerView): ReadonlySet<string> {
  if (session === null) return new Set<OperationName>(kind === 'agent' ? AGENT_TOOLS : WORKER_TOOLS);
  return new Set<OperationName>(session.holds_claim ? toolsUnderClaim(session) : toolsAfterClaim(session));
}

const READING: readonly OperationName[] = ['task_get', 'task_brief', 'entry_get'];
const FINDING: readonly OperationName[] = ['task_next_actions', 'task_list'];
/** A record by a caller without a claim reinstates a task: see `state/tasks/reinstate-undone.ts`. */
const WORKER_TOOLS: readonly OperationName[] = [...READING, ...FINDING, 'task_claim', 'thought_record', 'fleet_show'];
const AGENT_TOOLS: readonly OperationName[] = [...READING, ...FINDING, 'agent_signal', 'thought_record'];
const SEALING: readonly OperationName[] = ['merkle_finalize', 'merkle_root'];

/** The same during the whole session: most clients read the list once. */
function toolsUnderClaim({ started, exit_protocol, hands_off, phase }: SessionView): OperationName[] {
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
    ...when(phase === 'READY_FOR_MERGE', 'merge_request'),
  ];
}

const STARTED_TOOLS: readonly OperationName[] = ['mission_get', 'result_submit'];
/** Baton renews the claim of a session that it started, gives it a worktree, and measures its work when it ends. */
const BY_HAND_TOOLS: readonly OperationName[] = ['task_heartbeat', 'task_worktree', 'task_complete'];

/** An ended session may read its own task, report on its process, and seal what it recorded. */
function toolsAfterClaim({ started }: SessionView): OperationName[] {
  return ['task_get', 'task_brief', ...when(started, 'agent_signal'), ...SEALING];
}

function when(holds: boolean, ...tools: readonly OperationName[]): readonly OperationName[] {
  return holds ? tools : [];
}
