import type { Answer, ApiError } from '../api/answer.ts';
import { isOfProject, type OperationName, OPERATIONS, type ProjectOperationName } from '../api/operations/registry.ts';
import { KEEPABLE } from '../api/outbox.ts';
import { StoreProblem } from '../ledger/store.ts';
import { AWAY_CODES, isDiskFault, isShortage } from '../protocol/resource-faults.ts';
import type { Caller } from '../state/caller.ts';
import { awaitLease } from './fleet/await-lease.ts';
import type { FolderCall } from './folder-call.ts';
import { FOLDER_HANDLERS } from './folder-operations.ts';
import { INTERNAL_ERROR } from './http/refusals.ts';
import {
  addAge,
  callerOf,
  canKeep,
  EARLIER_CALLS_WAIT,
  type IncomingCall,
  isOfAgent,
  keepInOutbox,
  keepWhileAway,
  type Outbox,
} from './keep-call.ts';
import { causeOf, type Log } from './log.ts';
import type { FoundProject, Projects } from './project/projects.ts';
import { NOT_FOR_PAGES, OPERATIONS_WITH_TOKEN } from './pages/page-refusals.ts';
import { type CallerIdentity, SHARED_WORKER } from './tokens.ts';

export type { IncomingCall } from './keep-call.ts';
import type { Operation } from '../api/operations/operation.ts';
import { checkOwnClaim } from '../state/tasks/late-message.ts';
import type { Project } from './project/project.ts';
import { AGENT_HANDLERS, AGENT_REPORT_HANDLERS } from './operations/agents.ts';
import { briefHandler, projectBriefHandler } from './operations/briefs.ts';
import { type Call, type Handlers, inputErrorAnswer, type Refused, storeUnavailableError } from './operations/call.ts';
import { exitHandler } from './operations/exit.ts';
import { formHandler } from './operations/forms.ts';
import { handoffHandler } from './operations/handoffs.ts';
import { reconcileHandler } from './operations/reconcile.ts';
import { LEDGER_HANDLERS, WRITEBACK_HANDLERS } from './operations/records.ts';
import { RUNBOOK_HANDLERS } from './operations/runbooks.ts';
import { DECISION_HANDLERS } from './operations/decisions.ts';
import { AGENT_RUN_HANDLERS, PIPELINE_HANDLERS } from './operations/runs.ts';
import { RUN_HANDLERS } from './operations/start-run.ts';
import { FLEET_HANDLERS } from './operations/fleet/hosts.ts';
import { STORE_HANDLERS } from './operations/fleet/store.ts';
import { costsHandler, statusHandler } from './operations/status.ts';
import { READ_HANDLERS } from './operations/reads/handlers.ts';
import { diffHandler } from './operations/task-diff.ts';
import { TASK_HANDLERS } from './operations/tasks.ts';
import { runWaitHandler } from './operations/reads/run-wait.ts';
import { waitHandler } from './operations/reads/task-wait.ts';
import { WORKFLOW_HANDLERS } from './operations/workflow.ts';
import { WORKTREE_HANDLERS, worktreeHandler } from './operations/worktrees.ts';
import type { SessionLimits } from './session-limits.ts';

export interface DispatchOptions extends Outbox, Pick<FolderCall, 'projects' | 'door'> {
  readonly log: Log;
  readonly sessionLimits: SessionLimits;
  /** Delivers the kept calls of the caller's session. Returns whether none is left. */
  readonly drain: (caller: CallerIdentity) => Promise<boolean>;
}

/** Finds the project and runs the operation. An internal error is logged; the answer has no details. */
export async function dispatchCall(call: IncomingCall, options: DispatchOptions): Promise<Answer> {
  const operation = OPERATIONS.get(call.operation);
  if (operation === undefined) return { ok: false, error: unknownOperationError(call.operation) };
  const { caller } = call.identity;
  const excess = await options.sessionLimits.check(call, operation);
  if (excess !== undefined) return { ok: false, error: excess };
  const isOfPage = caller.kind === 'operator' && caller.via !== undefined;
  if (isOfPage && OPERATIONS_WITH_TOKEN.has(call.operation)) return NOT_FOR_PAGES;
  try {
    if (!isOfProject(operation)) return await executeForFolder(operation, call, options);
    const found = await findProject(call, options.projects);
    if (!found.ok) {
      const isKept = found.isAway === true && isOfAgent(call);
      if (isKept) return checkedWithoutStore(operation, call) ?? keepWhileAway(call, options);
      return { ok: false, error: found.error };
    }
    const { project, services } = found.open;
    const { identity, body, key, signal } = call;
    // A call from the outbox does not prove that its agent is alive now.
    if (call.keptAt === undefined) project.lastReports.note(identity.caller, services.monotonicMs());
    // Does not wait for an unavailable database on every message, so that agents are not delayed.
    if (project.isAway && isOfAgent(call)) return checkedWithoutStore(operation, call) ?? keepWhileAway(call, options);
    // Earlier calls of a session go first, even if they are still in the outbox.
    const isInOrder = call.keptAt !== undefined || !KEEPABLE.has(call.operation);
    if (!isInOrder && !(await options.drain(identity)))
      return canKeep(call, project) ? keepWhileAway(call, options) : { ok: false, error: EARLIER_CALLS_WAIT };
    const judged = KEEPABLE.has(call.operation)
      ? awaitLease(identity.caller, project, services.monotonicMs())
      : undefined;
    if (judged !== undefined && !(await judged))
      return isOfAgent(call) ? keepWhileAway(call, options) : { ok: false, error: CLAIM_UNACKNOWLEDGED };
    const unnamed =
      operation.kind === 'write' ? await options.door.ledgers.nameBeforeWrite(project, identity.caller) : undefined;
    if (unnamed !== undefined) return unnamed;
    if (operation.kind === 'write' && MAY_START_SESSION.has(identity.caller.kind))
      await project.mainWatch.pollBeforeSession();
    const answer = await executeOperation(operation, {
      project,
      services,
      caller: callerOf(call, services.now()),
      input: body.length === 0 ? '{}' : body,
      // Keys are scoped by caller, so that no caller gets another one's answer.
      ...(key === undefined || operation.kind === 'read'
        ? {}
        : { key: `${keyScopeOf(identity)}:${call.operation}:${key}` }),
      ...(signal === undefined ? {} : { signal }),
      ...(call.keptAt === undefined ? {} : { isKept: true }),
    });
    if (answer.ok) return operation.kind === 'read' ? addAge(answer, project) : answer;
    if (answer.error.code === 'writeback-failed') return keepInOutbox(call, answer.error, options);
    const isUnrecorded = answer.error.code === 'store-unavailable' && canKeep(call, project);
    return isUnrecorded ? keepWhileAway(call, options) : answer;
  } catch (error) {
    if (error instanceof StoreProblem) {
      const { problem } = error;
      const isKept = AWAY_CODES.has(problem.code) && isOfAgent(call);
      return isKept ? keepWhileAway(call, options) : { ok: false, error: storeUnavailableError(problem) };
    }
    options.log.error('a call failed', { operation: call.operation, cause: causeOf(error) });
    if (isShortage(error) || isDiskFault(error)) return { ok: false, error: shortageError(error) };
    return { ok: false, error: INTERNAL_ERROR };
  }
}

const CLAIM_UNACKNOWLEDGED: ApiError = {
  code: 'store-unavailable',
  message: 'the database has not acknowledged the claim of this session',
  hint: 'Send this again in a moment.',
};

/** Callers whose calls can start a session. All others are sessions or act for one. */
const MAY_START_SESSION: ReadonlySet<Caller['kind']> = new Set(['operator', 'worker']);

export async function findProject(
  { identity, projectPath }: Pick<IncomingCall, 'identity' | 'projectPath'>,
  projects: Projects,
): Promise<FoundProject> {
  if (identity.project !== undefined) return projects.find(identity.project);
  if (projectPath !== undefined) return projects.findByPath(projectPath);
  return { ok: false, error: NO_PROJECT };
}

function keyScopeOf({ caller }: CallerIdentity): string {
  if (caller.kind === 'session') return `session/${caller.sessionId}`;
  if (caller.kind === 'worker' && caller.name !== SHARED_WORKER) return `worker/${caller.name}`;
  return 'agentId' in caller ? `${caller.kind}/${caller.agentId}` : caller.kind;
}

/** Makes the checks that need no store: a kept call could only be refused when its caller has exited. */
function checkedWithoutStore(
  operation: Operation<OperationName>,
  { identity, body }: IncomingCall,
): Answer | undefined {
  return checkAccess(operation, identity.caller) ?? checkInput(operation, body);
}

function checkInput({ parse }: Operation, body: Uint8Array): Refused | undefined {
  const parsed = parse(body.length === 0 ? '{}' : body);
  return parsed.ok ? undefined : inputErrorAnswer(parsed);
}

/** The error of a call that was not decided. A caller with an outbox keeps the call until there is room again. */
function shortageError(error: unknown): ApiError {
  const message = error instanceof Error ? error.message : String(error);
  return storeUnavailableError({ message, hint: 'Make room on the disk, or free descriptors. Then send this again.' });
}

const NO_PROJECT: ApiError = {
  code: 'no-such-project',
  message: 'the request does not say which project it is about',
  hint: 'Send the header `baton-project-path` with the path of a folder in the repository.',
};

function unknownOperationError(name: string): ApiError {
  const hint = 'If the daemon is older than your command: baton down && baton up';
  return { code: 'no-such-operation', message: `there is no operation ${name}`, hint };
}

/** Checks that the caller may call the operation, and runs its handler. Never throws because of the caller's input. */
export async function executeOperation(operation: Operation<ProjectOperationName>, call: Call): Promise<Answer> {
  const forbidden = checkAccess(operation, call.caller);
  if (forbidden !== undefined) return forbidden;
  const ended = await findEndedClaimError(operation, call);
  if (ended !== undefined) return { ok: false, error: ended };
  // A project adopts its rules before its first task, so that its gates are always in force.
  const { adoptions } = call.project;
  if (['task_create', 'task_import'].includes(operation.name)) void adoptions?.adoptFirst();
  const first = operation.kind === 'write' ? adoptions?.firstUnderWay : undefined;
  if (first !== undefined) await first;
  return OPERATION_HANDLERS[operation.name](call);
}

async function executeForFolder(
  operation: Operation<OperationName>,
  { identity: { caller }, body, projectPath }: IncomingCall,
  { projects, door }: DispatchOptions,
): Promise<Answer> {
  const refused = checkAccess(operation, caller) ?? checkInput(operation, body);
  const call = { caller, input: body.length === 0 ? '{}' : body, projectPath, projects, door };
  return refused ?? (await FOLDER_HANDLERS.get(operation.name)?.(call)) ?? { ok: false, error: INTERNAL_ERROR };
}

function checkAccess(operation: Operation<OperationName>, caller: Caller): Refused | undefined {
  const { kind } = caller;
  if (kind === 'system' || operation.access.includes(kind)) return undefined;
  const message = `${/^[ao]/.test(kind) ? 'an' : 'a'} ${kind} may not call ${operation.name}`;
  return { ok: false, error: { code: 'forbidden', message, hint: describeAccess(operation, caller) } };
}

function describeAccess({ access }: Operation, { kind }: Caller): string {
  if (kind === 'worker' && access.includes('session')) return 'Claim the task first: task_claim.';
  if (kind === 'operator' && access.includes('session'))
    return 'The call needs a claim: set BATON_TOKEN, or --token, to the token that `baton task claim` printed.';
  const only = `Only for: ${access.join(', ')}.`;
  return kind === 'session' || kind === 'agent'
    ? `${only} A session acts for its own task alone; a person can do this in a terminal outside the session.`
    : only;
}

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
  ...FLEET_HANDLERS,
  ...STORE_HANDLERS,
  ...READ_HANDLERS,
  status_get: statusHandler,
  costs_get: costsHandler,
  project_brief: projectBriefHandler,
  task_brief: briefHandler,
  task_diff: diffHandler,
  task_wait: waitHandler,
  run_wait: runWaitHandler,
  task_worktree: worktreeHandler,
  reconcile: reconcileHandler,
  exit_signal: exitHandler,
  handoff_send: handoffHandler,
  form_get: formHandler,
};

/** What an ended session may still read: its own task, the input of its stop hook, and its own seal. */
const OWN_TASK_OPERATIONS: ReadonlySet<string> = new Set([
  'task_get',
  'task_view',
  'task_brief',
  'task_heartbeat',
  'thought_list',
  'workflow_get',
  'handoff_list',
  'mission_get',
  'agent_standing',
  'caller_get',
  'merkle_root',
]);

/** Writes that act before the kernel decides. The kernel handles all others, so that a retry gets its first answer. */
const UNDECIDED: ReadonlySet<string> = new Set(['audit_verify_chain', 'workflow_close']);

async function findEndedClaimError(operation: Operation, call: Call): Promise<ApiError | undefined> {
  const { caller, project } = call;
  if (caller.kind !== 'session' || (operation.kind === 'write' && !UNDECIDED.has(operation.name))) return undefined;
  if (OWN_TASK_OPERATIONS.has(operation.name) && isAboutOwn(operation, call, caller)) return undefined;
  return readClaimEndError(project, caller);
}

export async function readClaimEndError(
  { commandLoop }: Project,
  caller: Caller & { readonly kind: 'session' },
): Promise<ApiError | undefined> {
  const settled = await commandLoop.read(({ state }) => checkOwnClaim(state, caller));
  return settled.ok && !settled.answer.ok ? settled.answer.refusal : undefined;
}

/** An input without a task concerns the caller's own task, unless the operation lists all tasks. */
function isAboutOwn({ name, parse }: Operation, { input }: Call, { taskId }: { readonly taskId: string }): boolean {
  const parsed = parse(input);
  if (!parsed.ok) return true;
  const named: unknown = Reflect.get(Object(parsed.value), 'task_id');
  return named === taskId || (named === undefined && name !== 'handoff_list');
}
