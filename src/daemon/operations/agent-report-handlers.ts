import type { Answer } from '../../api/answer.ts';
import * as agents from '../../api/operations/agents.ts';
import * as operations from '../../api/operations/supervisor-operations.ts';
import { actorOf } from '../../state/caller.ts';
import { decide, type Command } from '../../state/decide.ts';
import type { AgentObservation } from '../../state/runs/report-agent.ts';
import { standingOf } from '../../state/runs/standing.ts';
import type { Call } from './call.ts';
import { answerFor, handlerFor, type OperationHandler } from './handler.ts';
import { parseAgentReport } from './seen-in.ts';

/** What supervisors, hooks and agents themselves say about a run. Each is answered with how the agent stands now. */
export const AGENT_REPORT_HANDLERS: Readonly<Record<string, OperationHandler>> = {
  agent_report: handlerFor(operations.agentReport, async (call) => {
    const seen = parseAgentReport(call.input);
    return seen.ok ? recordReport(call, undefined, seen.value) : { ok: false, error: seen.error };
  }),

  agent_idle: handlerFor(agents.agentIdle, async (call) =>
    recordReport(call, call.input.agent_id, { kind: 'idle', why: 'stop' }),
  ),

  agent_stop: handlerFor(agents.agentStop, async (call) => recordReport(call, call.input.agent_id, { kind: 'stop' })),

  agent_standing: handlerFor(operations.agentStanding, async (call) => {
    const id = call.caller.kind === 'worker' ? (call.input.agent_id ?? '') : ownAgent(call);
    return { ok: true, result: await readStanding(call, id) };
  }),

  command_report: handlerFor(operations.commandReport, async (call) => {
    const { code = null, timed_out: timedOut = false, output = null } = call.input;
    const commandId = call.caller.kind === 'supervisor' ? call.caller.agentId : '';
    const command = { commandId, exitCode: code, timedOut, output };
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
