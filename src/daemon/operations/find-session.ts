import { existsSync } from 'node:fs';
import type { Result } from '../../protocol/result.ts';
import { usesExitProtocol } from '../../state/tasks/exit-protocol.ts';
import type { SessionPreparation } from '../../state/state.ts';
import { measureSession, type SessionMeasures } from '../../effects/sessions/measure-session.ts';
import type { Call } from './call.ts';

/** A session that Baton started, as it stands: where it works, what it was asked, what it has reported. */
export interface StartedSession {
  readonly prepared: SessionPreparation;
  readonly result: Result | null;
  readonly hasExited: boolean;
  /** Its task is merged: there is nothing left that it could change. */
  readonly isClosing: boolean;
}

/** The session of whoever calls, or of the agent they name; undefined where Baton did not start it. */
export async function findSession({ caller, project }: Call, agentId?: string): Promise<StartedSession | undefined> {
  const settled = await project.commandLoop.read(({ state }) => {
    const named = state.agents.get(agentId ?? '')?.task?.session_id ?? '';
    const id = caller.kind === 'session' ? caller.sessionId : named;
    const { prepared, result = null, exit } = state.sessions.get(id) ?? {};
    if (prepared === undefined) return undefined;
    const isClosing = state.tasks.get(prepared.task_id)?.phase === 'COMPLETED';
    return { prepared, result, hasExited: exit !== null, isClosing };
  });
  return settled.ok ? settled.answer : undefined;
}

/** Whether the session of the caller, or of the agent they name, ends with an exit signal. */
export async function isExitProtocolOn({ caller, project, services }: Call, agentId?: string): Promise<boolean> {
  const flag = services.exitProtocol;
  if (flag) return true;
  const settled = await project.commandLoop.read(({ state }) => {
    const named = state.agents.get(agentId ?? '')?.task?.task_id ?? '';
    return usesExitProtocol(state.tasks.get(caller.kind === 'session' ? caller.taskId : named), flag);
  });
  // If the store does not answer, the command itself says so.
  return !settled.ok || settled.answer;
}

/** What it really did. A claim taken by hand has no place and no mission: nobody knows where it began. */
export async function measureOwn(call: Call, agentId?: string): Promise<SessionMeasures> {
  const session = await findSession(call, agentId);
  const isOurs = session !== undefined && session.prepared.workspace !== call.project.path;
  // Whoever closes a task may have tidied its worktree away.
  const isGone = session?.isClosing === true && !existsSync(session.prepared.workspace);
  if (!isOurs || session.hasExited || isGone) return { committed: false, violations: [] };
  return measureSession(session.prepared, session.result, call.project);
}
