import type { Answer, ApiError } from '../api/answer.ts';
import { OPERATIONS } from '../api/operations/registry.ts';
import { KEEPABLE, keepCall } from '../api/outbox.ts';
import { StoreProblem } from '../ledger/store.ts';
import { isDiskFault, isShortage } from '../protocol/resource-faults.ts';
import type { Caller } from '../state/caller.ts';
import { INTERNAL_ERROR } from './http/refusals.ts';
import { causeOf, type Log } from './log.ts';
import { storeUnavailableError } from './operations/call.ts';
import { executeOperation } from './operations/execute.ts';
import type { FoundProject, OpenProject, Projects } from './project/projects.ts';
import { type CallerIdentity, SHARED_WORKER } from './tokens.ts';

/** A call as it came in, over HTTP or from the outbox, after its token was found good. */
export interface IncomingCall {
  readonly operation: string;
  readonly identity: CallerIdentity;
  readonly token: string;
  readonly projectPath: string | undefined;
  /** JSON as it was sent; the operation reads it. */
  readonly body: Uint8Array;
  readonly key: string | undefined;
  readonly signal?: AbortSignal;
  /** It waited in the outbox, and since when. */
  readonly keptAt?: string;
}

export interface DispatchOptions {
  readonly projects: Projects;
  readonly outbox: string;
  readonly log: Log;
  /** Delivers the kept calls of a project; returns whether none is left. */
  readonly drain: (projectId: string) => Promise<boolean>;
  /** A call was put into the outbox by the daemon itself. */
  readonly onKept?: () => void;
}

/** Finds the project and performs the operation. An internal error is logged, and answered without details. */
export async function dispatchCall(said: IncomingCall, options: DispatchOptions): Promise<Answer> {
  const operation = OPERATIONS.get(said.operation);
  if (operation === undefined) return { ok: false, error: unknownOperationError(said.operation) };
  try {
    const found = await findProject(said, options.projects);
    if (!found.ok) return found;
    // Earlier calls of a session come first, also if they wait in the outbox.
    const { project: own } = said.identity;
    const isInOrder = said.keptAt !== undefined || own === undefined || !KEEPABLE.has(said.operation);
    if (!isInOrder && !(await options.drain(own))) return { ok: false, error: EARLIER_CALLS_WAIT };
    const { project, services } = found.open;
    const { identity, body, key, signal } = said;
    noteReport(said, found.open);
    if (operation.kind === 'write' && MAY_START_SESSION.has(identity.caller.kind))
      await project.mainWatch.pollBeforeSession();
    const answer = await executeOperation(operation, {
      project,
      services,
      caller: callerOf(said),
      input: body.length === 0 ? '{}' : body,
      // Keys are scoped by caller: no caller gets the answer of another.
      ...(key === undefined || operation.kind === 'read'
        ? {}
        : { key: `${keyScopeOf(identity)}:${said.operation}:${key}` }),
      ...(signal === undefined ? {} : { signal }),
      ...(said.keptAt === undefined ? {} : { isKept: true }),
    });
    return answer.ok || answer.error.code !== 'writeback-failed' ? answer : keepInOutbox(said, answer.error, options);
  } catch (error) {
    if (error instanceof StoreProblem) return { ok: false, error: storeUnavailableError(error.problem) };
    options.log.error('a call failed', { operation: said.operation, cause: causeOf(error) });
    if (isShortage(error) || isDiskFault(error)) return { ok: false, error: shortageError(error) };
    return { ok: false, error: INTERNAL_ERROR };
  }
}

/** Callers whose calls can begin a session. The other callers are sessions, or act for one. */
const MAY_START_SESSION: ReadonlySet<Caller['kind']> = new Set(['operator', 'worker']);

/** A call from the outbox does not show that its agent lives now. */
function noteReport({ identity: { caller }, keptAt }: IncomingCall, { project, services }: OpenProject): void {
  if (keptAt === undefined) project.lastReports.note(caller, services.monotonicMs());
}

/** A kept call is judged by the claim that was live when it was put into the outbox. */
function callerOf({ identity: { caller }, keptAt }: IncomingCall): Caller {
  return caller.kind === 'session' && keptAt !== undefined ? { ...caller, keptAt } : caller;
}

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

/** A record that the store refuses is kept, and delivered when the store is back: otherwise the work would be lost. */
function keepInOutbox(said: IncomingCall, error: ApiError, { outbox, onKept }: DispatchOptions): Answer {
  const { operation, token, key, projectPath = null } = said;
  if (key === undefined || said.keptAt !== undefined) return { ok: false, error };
  const input = new TextDecoder().decode(said.body);
  const kept = keepCall(outbox, { v: 1, operation, input, key, token, projectPath, keptAt: new Date().toISOString() });
  if (kept) onKept?.();
  const hint = kept
    ? 'It is kept, and will be delivered once when the store is back. The task stays in progress.'
    : error.hint;
  return { ok: false, error: { ...error, hint } };
}

/** The call was not decided. Callers with an outbox keep it until there is room again. */
function shortageError(error: unknown): ApiError {
  const message = error instanceof Error ? error.message : String(error);
  return {
    code: 'store-unavailable',
    message,
    hint: 'Make room on the disk, or free descriptors. Then send this again.',
  };
}

const EARLIER_CALLS_WAIT: ApiError = {
  code: 'store-unavailable',
  message: 'earlier messages of this project wait for its store',
  hint: 'They are kept. Send this again in a moment.',
};

const NO_PROJECT: ApiError = {
  code: 'no-such-project',
  message: 'the request does not say which project it is about',
  hint: 'Send the header `baton-project-path` with the path of a folder in the repository.',
};

function unknownOperationError(name: string): ApiError {
  return { code: 'no-such-operation', message: `there is no operation ${name}`, hint: 'See: baton --help' };
}
