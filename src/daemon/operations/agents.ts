import { existsSync } from 'node:fs';
import type { Answer } from '../../api/answer.ts';
import * as operations from '../../api/operations/agents.ts';
import type { ResultOf } from '../../api/operations/registry.ts';
import { measureSession, type SessionMeasures } from '../../effects/sessions/measure-session.ts';
import type { AgentReport } from '../../protocol/agent-report.ts';
import { isJudging } from '../../protocol/handoff/judge.ts';
import type { Standing } from '../../protocol/standing.ts';
import { actorOf, type Caller, checkClaim } from '../../state/caller.ts';
import { decide } from '../../state/decide.ts';
import { mainWithout } from '../../state/main/main-branch.ts';
import { isElsewhere } from '../../state/fleet/work-place.ts';
import { refusal } from '../../state/outcome.ts';
import { standingOf } from '../../state/runs/standing.ts';
import type { Session, State } from '../../state/state.ts';
import { missionIds, type Task, usesExitProtocol } from '../../state/tasks/task.ts';
import {
  answerFor,
  type Call,
  handlerFor,
  keyOf,
  reads,
  type Services,
  submitCommand,
  submits,
  unchanged,
} from './call.ts';

export const AGENT_HANDLERS = {
  caller_get: reads(operations.callerGet, ({ state }, { caller, services }) =>
    unchanged({ kind: caller.kind, session: caller.kind === 'session' ? sessionView(state, caller, services) : null }),
  ),

  mission_get: reads(operations.missionGet, ({ state }, { caller }) => {
    const task = caller.kind === 'session' ? state.tasks.get(caller.taskId) : undefined;
    if (task === undefined || caller.kind !== 'session') return NO_SESSION;
    const held = checkClaim(task, caller);
    if (!held.ok) return held;
    const prepared = state.sessions.get(caller.sessionId)?.prepared;
    if (prepared !== undefined) return unchanged(prepared.mission);
    const { taskId: task_id, epicId: epic_id, prdId: prd_id } = missionIds(task);
    const brief = `baton://task/${task.id}/brief`;
    const context = { epic_file: brief, task_file: task.promptFile ?? brief };
    return unchanged({ version: '1', task_id, epic_id, prd_id, instruction: task.title, context });
  }),

  agent_signal: handlerFor(operations.agentSignal, async (call) => {
    const { input, caller, project, services } = call;
    if (caller.kind === 'session' && input.kind === 'continue') await project.renewClaim(caller.taskId, caller.epoch);
    const own = input.kind === 'complete' ? await readOwnSession(call, input.agent_id) : undefined;
    const command = {
      ...(own?.usesExitProtocol === false ? { measures: await measureOwn(call, own) } : {}),
      ...(input.agent_id === undefined ? {} : { agentId: input.agent_id }),
      ...(input.message === undefined ? {} : { message: input.message }),
      signal: input.kind,
      exitProtocol: services.exitProtocol,
      eventId: services.newId(),
      at: services.now().toISOString(),
    };
    const settled = await submitCommand(call, { kind: 'signal-agent', command });
    const stands = await project.commandLoop.read(({ state }) => standingView(state, caller));
    return answerFor(settled, (answer) => ({ ...answer, ...(stands.ok ? stands.answer : {}) }));
  }),
};

function standingView(state: State, caller: Caller) {
  const task = caller.kind === 'session' ? state.tasks.get(caller.taskId) : undefined;
  if (task === undefined || caller.kind !== 'session') return {};
  return { task_id: task.id, phase: task.phase, holds_claim: task.claim?.sessionId === caller.sessionId };
}

function sessionView(
  { tasks, sessions }: State,
  { taskId, sessionId }: Caller & { readonly kind: 'session' },
  { exitProtocol, rulebook }: Services,
): ResultOf<'caller_get'>['session'] {
  const task = tasks.get(taskId);
  if (task === undefined) return null;
  const claim = task.claim?.sessionId === sessionId ? task.claim : null;
  const { phase } = task;
  const { workflow } = rulebook.runbookFor(task);
  return {
    task_id: taskId,
    phase,
    holds_claim: claim !== null,
    started: sessions.get(sessionId)?.prepared !== undefined,
    exit_protocol: usesExitProtocol(task, exitProtocol),
    hands_off: workflow.roles.some(({ name }) => name === claim?.role),
    judges: claim !== null && isJudging({ role: claim.role, phase }, workflow),
  };
}

const NO_SESSION = refusal(
  'no-claim',
  'only a session that holds a claim can do this',
  'Claim a task: baton task claim',
);

/** The session of the caller, or of the agent that the caller names. */
export interface OwnSession {
  readonly session: Session | undefined;
  readonly task: Task | undefined;
  /** The task's id in the session's mission; the task's own id if the mission's would name another task. */
  readonly missionId: string;
  readonly usesExitProtocol: boolean;
}

/** Reads the state and the exit flag once each. If the store does not respond, the following command reports it. */
export async function readOwnSession({ caller, project, services }: Call, agentId = ''): Promise<OwnSession> {
  const flag = services.exitProtocol;
  const settled = await project.commandLoop.read(({ state }): OwnSession => {
    const named = state.agents.get(agentId)?.task;
    const { sessionId = '', taskId = '' } =
      caller.kind === 'session' ? caller : { sessionId: named?.session_id, taskId: named?.task_id };
    const task = state.tasks.get(taskId);
    const missionId = task === undefined ? taskId : missionIds(task).taskId;
    return {
      session: state.sessions.get(sessionId),
      task,
      missionId: state.tasks.has(missionId) ? taskId : missionId,
      usesExitProtocol: usesExitProtocol(task, flag),
    };
  });
  return settled.ok ? settled.answer : { session: undefined, task: undefined, missionId: '', usesExitProtocol: true };
}

/** A manual claim has no workspace and no mission, so there is nothing to measure. */
export async function measureOwn({ project }: Call, { session, task }: OwnSession): Promise<SessionMeasures> {
  const prepared = session?.prepared;
  if (prepared === undefined || prepared.workspace === project.path || session?.exit !== null) return UNMEASURED;
  // The task's own host measures it.
  if (task !== undefined && isElsewhere(task, project.here)) return UNMEASURED;
  // The session that closes a merged task may have removed its worktree.
  if (task?.phase === 'COMPLETED' && !existsSync(prepared.workspace)) return UNMEASURED;
  // A commit of main that the session brought in must be on record.
  await project.mainWatch.poll();
  const read = await project.commandLoop.read(({ state }) => mainWithout(state, task));
  const main = read.ok ? read.answer : null;
  return measureSession(prepared, session.result ?? null, { stateDir: project.stateDir, own: project.own, main, task });
}

const UNMEASURED: SessionMeasures = { committed: false, violations: [] };

/** Handles reports of supervisors, hooks and agents. Each answer has the agent's standing. */
export const AGENT_REPORT_HANDLERS = {
  agent_report: handlerFor(operations.agentReport, async (call) => recordReport(call, undefined, call.input)),

  agent_idle: handlerFor(operations.agentIdle, async (call) =>
    recordReport(call, call.input.agent_id, { kind: 'idle', why: 'stop' }),
  ),

  agent_stop: handlerFor(operations.agentStop, async (call) =>
    recordReport(call, call.input.agent_id, { kind: 'stop' }),
  ),

  agent_standing: handlerFor(operations.agentStanding, async (call) => {
    const id = call.caller.kind === 'worker' ? (call.input.agent_id ?? '') : ownAgent(call);
    return { ok: true, result: await readStanding(call, id) };
  }),

  command_report: submits(
    operations.commandReport,
    ({ code: exit_code, timed_out, output, sandbox }, { caller }) => {
      const command_id = caller.kind === 'supervisor' ? caller.agentId : '';
      return { command_id, exit_code, timed_out, output, ...(sandbox && { sandbox: sandbox.kind }) };
    },
    () => null,
  ),
};

type Reported = ResultOf<'agent_report'>;

async function recordReport(call: Call, agentId: string | undefined, seen: AgentReport): Promise<Answer<Reported>> {
  const { project, services, caller, isKept = false } = call;
  const command = { ...(agentId === undefined ? {} : { agentId }), report: seen };
  const settled = await project.commandLoop.submit<Standing | null>({
    actor: actorOf(caller),
    ...keyOf(call),
    isKept,
    decide: ({ state, rules, at, here }) => {
      const outcome = decide(state, { kind: 'report-agent', command: { ...command, at } }, caller, rules, here);
      return outcome.ok ? { ...outcome, answer: null } : outcome;
    },
    answerAfterCommit: standingIn(services, agentId ?? ownAgent(call)),
  });
  return answerFor(settled, (standing) => ({ standing }));
}

async function readStanding({ project, services }: Call, agentId: string) {
  const settled = await project.commandLoop.submit<Standing | null>({
    actor: 'system:reader',
    decide: () => ({ ok: true, events: [], answer: null }),
    answerAfterCommit: standingIn(services, agentId),
  });
  return settled.ok ? settled.answer : null;
}

/** Reads the exit flag here, because the command loop must not read files. */
function standingIn(services: Services, agentId: string): (state: State) => Standing {
  const flag = services.exitProtocol;
  return (state) => standingOf(state, agentId, flag);
}

function ownAgent({ caller }: Call): string {
  if (caller.kind === 'agent' || caller.kind === 'supervisor') return caller.agentId;
  return caller.kind === 'session' ? caller.sessionId : '';
}
