import { existsSync } from 'node:fs';
import type { Answer, ApiError } from '../../api/answer.ts';
import * as operations from '../../api/operations/agents.ts';
import * as agents from '../../api/operations/agents.ts';
import * as operationsAgentReportHandlers from '../../api/operations/agents.ts';
import type { agentReport } from '../../api/operations/agents.ts';
import { measureSession, type SessionMeasures } from '../../effects/sessions/measure-session.ts';
import type { Mission } from '../../protocol/mission.ts';
import type { Result } from '../../protocol/result.ts';
import { actorOf, type Caller, checkClaim } from '../../state/caller.ts';
import { type Command, decide } from '../../state/decide.ts';
import { refusal } from '../../state/outcome.ts';
import type { AgentObservation } from '../../state/runs/report-agent.ts';
import { standingOf } from '../../state/runs/standing.ts';
import type { SessionPreparation, State } from '../../state/state.ts';
import { missionIds, usesExitProtocol } from '../../state/tasks/task.ts';
import { answerFor, type Call, handlerFor, type OperationHandler } from './call.ts';
import { submitCommand } from './tasks.ts';

export const AGENT_HANDLERS: Readonly<Record<string, OperationHandler>> = {
  mission_get: handlerFor(operations.missionGet, async ({ caller, project }) => {
    const settled = await project.commandLoop.submit<Mission>({
      actor: 'system:reader',
      decide: ({ state }) => {
        const task = caller.kind === 'session' ? state.tasks.get(caller.taskId) : undefined;
        if (task === undefined || caller.kind !== 'session') return NO_SESSION;
        const held = checkClaim(task, caller);
        if (!held.ok) return held;
        const prepared = state.sessions.get(caller.sessionId)?.prepared;
        if (prepared !== undefined) return { ok: true, events: [], answer: prepared.mission };
        const { taskId: task_id, epicId: epic_id, prdId: prd_id } = missionIds(task);
        const brief = `baton://task/${task.id}/brief`;
        const context = { epic_file: brief, task_file: task.promptFile ?? brief };
        const mission: Mission = { version: '1', task_id, epic_id, prd_id, instruction: task.title, context };
        return { ok: true, events: [], answer: mission };
      },
    });
    return answerFor(settled, (mission) => mission);
  }),

  agent_signal: handlerFor(operations.agentSignal, async (call) => {
    const { input, caller, project, services } = call;
    if (caller.kind === 'session' && input.kind === 'continue') await project.renewClaim(caller.taskId, caller.epoch);
    const ends = input.kind === 'complete' && !(await isExitProtocolOn(call, input.agent_id));
    const command = {
      ...(ends ? { measures: await measureOwn(call, input.agent_id) } : {}),
      ...(input.agent_id === undefined ? {} : { agentId: input.agent_id }),
      ...(input.message === undefined ? {} : { message: input.message }),
      signal: input.kind,
      exitProtocol: services.exitProtocol,
      eventId: services.newId(),
      at: services.now().toISOString(),
    };
    const settled = await submitCommand<{ kind: string }>(call, { kind: 'signal-agent', command });
    const stands = await project.commandLoop.read(({ state }) => standingView(state, caller));
    return answerFor(settled, (answer) => ({ ...answer, ...(stands.ok ? stands.answer : {}) }));
  }),
};

/** Where the task of a session stands now, and whether the session still has it. */
function standingView(state: State, caller: Caller): object {
  const task = caller.kind === 'session' ? state.tasks.get(caller.taskId) : undefined;
  if (task === undefined || caller.kind !== 'session') return {};
  return { task_id: task.id, phase: task.phase, holds_claim: task.claim?.sessionId === caller.sessionId };
}

const NO_SESSION = refusal(
  'no-claim',
  'only a session that holds a claim can do this',
  'Claim a task: baton task claim',
);

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

/** What supervisors, hooks and agents themselves say about a run. Each is answered with how the agent stands now. */
export const AGENT_REPORT_HANDLERS: Readonly<Record<string, OperationHandler>> = {
  agent_report: handlerFor(operationsAgentReportHandlers.agentReport, async (call) => {
    const seen = parseAgentReport(call.input);
    return seen.ok ? recordReport(call, undefined, seen.value) : { ok: false, error: seen.error };
  }),

  agent_idle: handlerFor(agents.agentIdle, async (call) =>
    recordReport(call, call.input.agent_id, { kind: 'idle', why: 'stop' }),
  ),

  agent_stop: handlerFor(agents.agentStop, async (call) => recordReport(call, call.input.agent_id, { kind: 'stop' })),

  agent_standing: handlerFor(operationsAgentReportHandlers.agentStanding, async (call) => {
    const id = call.caller.kind === 'worker' ? (call.input.agent_id ?? '') : ownAgent(call);
    return { ok: true, result: await readStanding(call, id) };
  }),

  command_report: handlerFor(operationsAgentReportHandlers.commandReport, async (call) => {
    const { code = null, timed_out = false, output = null } = call.input;
    const command_id = call.caller.kind === 'supervisor' ? call.caller.agentId : '';
    const command = { command_id, exit_code: code, timed_out, output };
    return answerFor(await submitReport(call, { kind: 'finish-command', command }), () => null);
  }),
};

/** Answered once the report, and what followed from it, is durable. */
async function recordReport(call: Call, agentId: string | undefined, seen: AgentObservation): Promise<Answer> {
  const { project, services, caller, key, isKept = false } = call;
  const command = { ...(agentId === undefined ? {} : { agentId }), report: seen };
  const settled = await project.commandLoop.submit<object | null>({
    actor: actorOf(caller),
    ...(key === undefined ? {} : { key }),
    isKept,
    decide: ({ state, rules, at }) => {
      const outcome = decide(state, { kind: 'report-agent', command: { ...command, at } }, caller, rules);
      return outcome.ok ? { ...outcome, answer: null } : outcome;
    },
    answerAfterCommit: (state) => standingOf(state, agentId ?? ownAgent(call), services.exitProtocol),
  });
  return answerFor(settled, (standing) => ({ standing }));
}

async function submitReport(call: Call, command: Command) {
  return call.project.commandLoop.submit<unknown>({
    actor: actorOf(call.caller),
    ...(call.key === undefined ? {} : { key: call.key }),
    decide: ({ state, rules }) => decide(state, command, call.caller, rules),
  });
}

/** As it is told by itself: with everything that is recorded in the same commit, and not in the middle of it. */
async function readStanding({ project, services }: Call, agentId: string) {
  const settled = await project.commandLoop.submit<object | null>({
    actor: 'system:reader',
    decide: () => ({ ok: true, events: [], answer: null }),
    answerAfterCommit: (state) => standingOf(state, agentId, services.exitProtocol),
  });
  return settled.ok ? settled.answer : null;
}

function ownAgent({ caller }: Call): string {
  if (caller.kind === 'agent' || caller.kind === 'supervisor') return caller.agentId;
  return caller.kind === 'session' ? caller.sessionId : '';
}

type ReportInput = Extract<ReturnType<typeof agentReport.parse>, { ok: true }>['value'];

export type ParsedAgentReport =
  | { readonly ok: true; readonly value: AgentObservation }
  | { readonly ok: false; readonly error: ApiError };

/** A report as it was sent, as what was seen: each kind has fields of its own. */
export function parseAgentReport(input: ReportInput): ParsedAgentReport {
  const seen = parseReportKind(input);
  if (seen !== undefined) return { ok: true, value: seen };
  const message = `a report '${input.kind}' lacks something`;
  return { ok: false, error: { code: 'bad-request', message, hint: 'See AgentReport in src/supervisor/contract.ts.' } };
}

function parseReportKind(input: ReportInput): AgentObservation | undefined {
  const { kind, start, output = null } = input;
  switch (kind) {
    case 'started': {
      const { supervisor, process } = input;
      return start === undefined || supervisor === undefined || process === undefined
        ? undefined
        : { kind, start, supervisor, process };
    }
    case 'exited': {
      const { code = null, signal = null, timed_out = false, blocks_used = false } = input;
      return start === undefined ? undefined : { kind, start, code, signal, timed_out, blocks_used, output };
    }
    case 'attached':
      return start === undefined ? undefined : { kind, start, by: input.by ?? 'somebody' };
    case 'detached': {
      const { how = 'lost', talked = false } = input;
      return start === undefined ? undefined : { kind, start, how, talked };
    }
    case 'idle':
      return { kind, why: input.why ?? 'waiting' };
    case 'stop':
      return { kind };
    case 'blocked':
      return input.blocks === undefined ? undefined : { kind, blocks: input.blocks };
    case 'silent': {
      const { what, for_ms = 0, tool = null } = input;
      return start === undefined || what === undefined ? undefined : { kind, start, what, for_ms, tool };
    }
    case 'heard':
      return start === undefined ? undefined : { kind, start };
    case 'prompted':
      return { kind, prompt: input.prompt ?? '' };
    case 'used': {
      const { conversation_id = null, model = null, input_tokens = 0, output_tokens = 0, cached_tokens = 0 } = input;
      const { cost_millicents = null, turns = 0, waiting_tokens = 0 } = input;
      const tokens = { input_tokens, output_tokens, cached_tokens, waiting_tokens };
      const { open_input_tokens: openIn = 0, open_output_tokens: openOut = 0, open_cached_tokens: cached = 0 } = input;
      const open = { input: openIn, output: openOut, cached, lasting: input.unpriced_tokens ?? 0 };
      const { reserved_input_tokens: nextIn, reserved_output_tokens: nextOut = 0 } = input;
      const reserved = { input: nextIn ?? 0, output: nextOut, cached: input.reserved_cached_tokens ?? 0 };
      // An older supervisor sends neither, and expects each of its reports to be recorded.
      const isDue = input.is_due ?? nextIn === undefined;
      return { kind, conversation_id, model, ...tokens, cost_millicents, turns, open, reserved, isDue };
    }
    case 'errored': {
      const { error, message = '', reset_at = null } = input;
      return error === undefined ? undefined : { kind, error, message, reset_at };
    }
  }
}
