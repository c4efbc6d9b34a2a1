import * as operations from '../../api/operations/agents.ts';
import type { Mission } from '../../protocol/mission.ts';
import { checkClaim, type Caller } from '../../state/caller.ts';
import { refusal } from '../../state/outcome.ts';
import type { State } from '../../state/state.ts';
import { missionIds } from '../../state/tasks/task.ts';
import { isExitProtocolOn, measureOwn } from './find-session.ts';
import { answerFor, handlerFor, type OperationHandler } from './handler.ts';
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
