import type { Answer } from '../../api/answer.ts';
import type { Operation } from '../../api/operations/operation.ts';
import type { Caller } from '../../state/caller.ts';
import type { Call } from './call.ts';
import { OPERATION_HANDLERS } from './handlers.ts';
import { findEndedClaimError } from './refuse-ended.ts';

/** Checks the input, asks the operation's handler, and never throws for anything that a caller did. */
export async function executeOperation(operation: Operation, call: Call): Promise<Answer> {
  const handler = OPERATION_HANDLERS.get(operation.name);
  if (handler === undefined) {
    return {
      ok: false,
      error: { code: 'no-such-operation', message: `there is no operation ${operation.name}`, hint: '' },
    };
  }
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
  return handler(call);
}

const FIRST_USE: ReadonlySet<string> = new Set(['task_create', 'task_import']);

function describeAccess({ access }: Operation, { kind }: Caller): string {
  if (kind === 'worker' && access.includes('session')) return 'Claim the task first: task_claim.';
  if (kind === 'operator' && access.includes('session'))
    return 'It is said under a claim: set BATON_TOKEN, or --token, to the token that `baton task claim` gave.';
  const only = `Only for: ${access.join(', ')}.`;
  return kind === 'session' || kind === 'agent'
    ? `${only} A session acts for its own task alone; a person can do this in a terminal outside the session.`
    : only;
}

function mayCall({ access }: Operation, { kind }: Caller): boolean {
  return kind === 'system' || access.includes(kind);
}
