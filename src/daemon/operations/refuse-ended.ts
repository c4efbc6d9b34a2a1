import type { ApiError } from '../../api/answer.ts';
import type { Operation } from '../../api/operations/operation.ts';
import type { Caller } from '../../state/caller.ts';
import { checkOwnClaim } from '../../state/tasks/ended-session.ts';
import type { Call } from './call.ts';
import type { Project } from '../project/project.ts';

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
