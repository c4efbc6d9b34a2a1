import type { Answer, ApiError } from '../../api/answer.ts';
import type { Operation } from '../../api/operations/operation.ts';
import type { OperationName } from '../../api/operations/registry.ts';
import type { Caller } from '../../state/caller.ts';
import { checkOwnClaim } from '../../state/tasks/late-message.ts';
import type { Project } from '../project/project.ts';
import { AGENT_HANDLERS, AGENT_REPORT_HANDLERS } from './agents.ts';
import { briefHandler, projectBriefHandler } from './briefs.ts';
import type { Call, Handlers } from './call.ts';
import { exitHandler } from './exit.ts';
import { handoffHandler } from './handoffs.ts';
import { importHandler } from './import.ts';
import { reconcileHandler } from './reconcile.ts';
import { LEDGER_HANDLERS, WRITEBACK_HANDLERS } from './records.ts';
import { RUNBOOK_HANDLERS } from './runbooks.ts';
import { AGENT_RUN_HANDLERS, DECISION_HANDLERS, PIPELINE_HANDLERS } from './runs.ts';
import { RUN_HANDLERS } from './start-run.ts';
import { costsHandler, statusHandler } from './status.ts';
import { TASK_HANDLERS } from './tasks.ts';
import { WORKFLOW_HANDLERS } from './workflow.ts';
import { WORKTREE_HANDLERS, worktreeHandler } from './worktrees.ts';

/** Checks that the caller may call the operation, and runs its handler. Never throws for anything that a caller did. */
export async function executeOperation(operation: Operation<OperationName>, call: Call): Promise<Answer> {
  if (!mayCall(operation, call.caller)) {
    const message = `${/^[ao]/.test(call.caller.kind) ? 'an' : 'a'} ${call.caller.kind} may not call ${operation.name}`;
    return { ok: false, error: { code: 'forbidden', message, hint: describeAccess(operation, call.caller) } };
  }
  const ended = await findEndedClaimError(operation, call);
  if (ended !== undefined) return { ok: false, error: ended };
  // A project gets its rules before its first task, so that no gate is open for a moment.
  const { adoptions } = call.project;
  if (FIRST_USE.has(operation.name)) void adoptions?.adoptFirst();
  const first = operation.kind === 'write' ? adoptions?.firstUnderWay : undefined;
  if (first !== undefined) await first;
  return OPERATION_HANDLERS[operation.name](call);
}

const FIRST_USE: ReadonlySet<string> = new Set(['task_create', 'task_import']);

function describeAccess({ access }: Operation, { kind }: Caller): string {
  if (kind === 'worker' && access.includes('session')) return 'Claim the task first: task_claim.';
  if (kind === 'operator' && access.includes('session'))
    return 'It needs a claim: set BATON_TOKEN, or --token, to the token that `baton task claim` printed.';
  const only = `Only for: ${access.join(', ')}.`;
  return kind === 'session' || kind === 'agent'
    ? `${only} A session acts for its own task alone; a person can do this in a terminal outside the session.`
    : only;
}

function mayCall({ access }: Operation, { kind }: Caller): boolean {
  return kind === 'system' || access.includes(kind);
}

/** The handler of each operation. */
export const OPERATION_HANDLERS: Handlers = {
  ...TASK_HANDLERS,
  ...WRITEBACK_HANDLERS,
  ...LEDGER_HANDLERS,
  ...AGENT_HANDLERS,
  ...AGENT_REPORT_HANDLERS,
  ...AGENT_RUN_HANDLERS,
  ...PIPELINE_HANDLERS,
  ...DECISION_HANDLERS,
  ...RUN_HANDLERS,
  ...RUNBOOK_HANDLERS,
  ...WORKFLOW_HANDLERS,
  ...WORKTREE_HANDLERS,
  status_get: statusHandler,
  costs_get: costsHandler,
  project_brief: projectBriefHandler,
  task_brief: briefHandler,
  task_import: importHandler,
  task_worktree: worktreeHandler,
  reconcile: reconcileHandler,
  exit_signal: exitHandler,
  handoff_send: handoffHandler,
};

/** What an ended session may still read: its own task, what its stop hook needs while its process lives, and the seal that it made. */
const OWN_TASK_OPERATIONS: ReadonlySet<string> = new Set([
  'task_get',
  'task_brief',
  'task_heartbeat',
  'thought_list',
  'workflow_get',
  'handoff_list',
  'mission_get',
  'agent_standing',
  // A root that anybody may know.
  'merkle_root',
]);

/** Writes that read or act before the kernel decides anything; all others are refused there, where a repeat gets its first answer. */
const UNDECIDED: ReadonlySet<string> = new Set(['audit_verify_chain', 'workflow_close']);

/** Why an ended session does not get this; undefined for everybody else. */
export async function findEndedClaimError(operation: Operation, call: Call): Promise<ApiError | undefined> {
  const { caller, project } = call;
  if (caller.kind !== 'session' || (operation.kind === 'write' && !UNDECIDED.has(operation.name))) return undefined;
  if (OWN_TASK_OPERATIONS.has(operation.name) && isAboutOwn(operation, call, caller)) return undefined;
  return readClaimEndError(project, caller);
}

/** The refusal for a session whose claim has ended. */
export async function readClaimEndError(
  { commandLoop: keeper }: Project,
  caller: Caller & { readonly kind: 'session' },
): Promise<ApiError | undefined> {
  const settled = await keeper.read(({ state }) => checkOwnClaim(state, caller));
  return settled.ok && !settled.answer.ok ? settled.answer.refusal : undefined;
}

/** An input that names no task is about the caller's own, except where it asks for a list of all. */
function isAboutOwn({ name, parse }: Operation, { input }: Call, { taskId }: { readonly taskId: string }): boolean {
  const parsed = parse(input);
  if (!parsed.ok) return true;
  const named: unknown = Reflect.get(Object(parsed.value), 'task_id');
  return named === taskId || (named === undefined && name !== 'handoff_list');
}
