import type { ApiError } from './answer.ts';
import type { SessionAbove } from './session-above.ts';

/** The refusal for a process inside a session that asks for more rights than the session has. */
export function belowSessionError({ kind, id }: Pick<SessionAbove, 'kind' | 'id'>): ApiError {
  const where =
    kind === 'agent' ? `inside the session of agent ${id}` : `inside the shell command ${id} that Baton runs`;
  const rights = kind === 'agent' ? "has that session's rights only" : 'has no rights of its own';
  return {
    code: 'below-session',
    message: `this process runs ${where} and ${rights}: it cannot act as the operator or as a worker`,
    hint: 'A person can do this in a terminal outside the session.',
  };
}
