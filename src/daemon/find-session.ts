import type { Result } from '../protocol/result.ts';
import type { Prepared } from '../state/state.ts';
import { measureSession, type SessionMeasures } from '../effects/measure-session.ts';
import type { Call } from './call.ts';

/** A session that Baton started, as it stands: where it works, what it was asked, what it has reported. */
export interface StartedSession {
  readonly prepared: Prepared;
  readonly result: Result | null;
  readonly hasExited: boolean;
}

/** The session of whoever calls, or of the agent they name; undefined where Baton did not start it. */
export async function findSession({ caller, project }: Call, agentId?: string): Promise<StartedSession | undefined> {
  const settled = await project.keeper.read(({ state }) => {
    const named = state.agents.get(agentId ?? '')?.task?.session_id ?? '';
    const id = caller.kind === 'session' ? caller.sessionId : named;
    const { prepared, result = null, exit } = state.sessions.get(id) ?? {};
    return prepared === undefined ? undefined : { prepared, result, hasExited: exit !== null };
  });
  return settled.ok ? settled.answer : undefined;
}

/** What it really did. A claim taken by hand has no place and no mission: nobody knows where it began. */
export async function measureOwn(call: Call, agentId?: string): Promise<SessionMeasures> {
  const session = await findSession(call, agentId);
  const isOurs = session !== undefined && session.prepared.workspace !== call.project.path;
  if (!isOurs || session.hasExited) return { committed: false, violations: [] };
  return measureSession(session.prepared, session.result);
}
