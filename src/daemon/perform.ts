import type { Answer } from '../api/answer.ts';
import type { Operation } from '../api/operation.ts';
import type { Caller } from '../state/caller.ts';
import type { Call } from './call.ts';
import { HANDLERS } from './handlers.ts';

/** Checks the input, asks the operation's handler, and never throws for anything that a caller did. */
export async function perform(operation: Operation, call: Call): Promise<Answer> {
  const handler = HANDLERS.get(operation.name);
  if (handler === undefined) {
    return {
      ok: false,
      error: { code: 'no-such-operation', message: `there is no operation ${operation.name}`, hint: '' },
    };
  }
  if (!mayCall(operation, call.caller)) {
    const message = `${/^[ao]/.test(call.caller.kind) ? 'an' : 'a'} ${call.caller.kind} may not call ${operation.name}`;
    const isForHolders = call.caller.kind === 'worker' && operation.access.includes('session');
    const hint = isForHolders ? 'Claim the task first: task_claim.' : `Only for: ${operation.access.join(', ')}.`;
    return { ok: false, error: { code: 'forbidden', message, hint } };
  }
  return handler(call);
}

function mayCall({ access }: Operation, { kind }: Caller): boolean {
  return kind === 'system' || access.includes(kind);
}
