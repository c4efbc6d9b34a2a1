import type { Answer } from '../api/answer.ts';
import * as agents from '../api/agent-operations.ts';
import * as operations from '../api/supervisor-operations.ts';
import { actorOf } from '../state/caller.ts';
import { decide, type Command } from '../state/decide.ts';
import type { AgentSeen } from '../state/runs/report-agent.ts';
import { standingOf } from '../state/runs/standing.ts';
import type { Call } from './call.ts';
import { answerOf, handle, type Handler } from './handler.ts';
import { seenIn } from './seen-in.ts';

/** What supervisors, hooks and agents themselves say about a run. Each is answered with how the agent stands now. */
export const AGENT_REPORT_HANDLERS: Readonly<Record<string, Handler>> = {
  agent_report: handle(operations.agentReport, async (call) => {
    const seen = seenIn(call.input);
    return seen.ok ? report(call, undefined, seen.value) : { ok: false, error: seen.error };
  }),

  agent_idle: handle(agents.agentIdle, async (call) =>
    report(call, call.input.agent_id, { kind: 'idle', why: 'stop' }),
  ),

  agent_stop: handle(agents.agentStop, async (call) => report(call, call.input.agent_id, { kind: 'stop' })),

  agent_standing: handle(operations.agentStanding, async (call) => {
    const id = call.caller.kind === 'worker' ? (call.input.agent_id ?? '') : ownAgent(call);
    return { ok: true, result: await readStanding(call, id) };
  }),

  command_report: handle(operations.commandReport, async (call) => {
    const { code = null, timed_out: timedOut = false, output = null } = call.input;
    const commandId = call.caller.kind === 'supervisor' ? call.caller.agentId : '';
    const command = { commandId, exitCode: code, timedOut, output };
    return answerOf(await say(call, { kind: 'finish-command', command }), () => null);
  }),
};

/** Answered once the report, and what followed from it, is durable. */
async function report(call: Call, agentId: string | undefined, seen: AgentSeen): Promise<Answer> {
  const { project, services, caller, key, isKept = false } = call;
  const command = { ...(agentId === undefined ? {} : { agentId }), report: seen };
  const settled = await project.keeper.submit<object | null>({
    actor: actorOf(caller),
    ...(key === undefined ? {} : { key }),
    isKept,
    decide: ({ state, rules, at }) => {
      const outcome = decide(state, { kind: 'report-agent', command: { ...command, at } }, caller, rules);
      return outcome.ok ? { ...outcome, answer: null } : outcome;
    },
    afterwards: (state) => standingOf(state, agentId ?? ownAgent(call), services.exitProtocol),
  });
  return answerOf(settled, (standing) => ({ standing }));
}

async function say(call: Call, command: Command) {
  return call.project.keeper.submit<unknown>({
    actor: actorOf(call.caller),
    ...(call.key === undefined ? {} : { key: call.key }),
    decide: ({ state, rules }) => decide(state, command, call.caller, rules),
  });
}

/** As it is told by itself: with everything that is recorded in the same commit, and not in the middle of it. */
async function readStanding({ project, services }: Call, agentId: string) {
  const settled = await project.keeper.submit<object | null>({
    actor: 'system:reader',
    decide: () => ({ ok: true, events: [], answer: null }),
    afterwards: (state) => standingOf(state, agentId, services.exitProtocol),
  });
  return settled.ok ? settled.answer : null;
}

function ownAgent({ caller }: Call): string {
  if (caller.kind === 'agent' || caller.kind === 'supervisor') return caller.agentId;
  return caller.kind === 'session' ? caller.sessionId : '';
}
