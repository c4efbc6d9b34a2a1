import * as operations from '../api/agent-operations.ts';
import { createExitSignal } from '../protocol/create-exit-signal.ts';
import type { Mission } from '../protocol/mission.ts';
import { actorOf, requireClaim } from '../state/caller.ts';
import { decideExitSession } from '../state/exit-session.ts';
import { refusal } from '../state/outcome.ts';
import { missionIds } from '../state/task.ts';
import { decideUpdateTask } from '../state/update-task.ts';
import { answerOf, handle, type Handler } from './handler.ts';

export const AGENT_HANDLERS: Readonly<Record<string, Handler>> = {
  mission_get: handle(operations.missionGet, async ({ caller, project }) => {
    const settled = await project.keeper.submit<Mission>({
      actor: 'system:reader',
      decide: ({ state }) => {
        const task = caller.kind === 'session' ? state.tasks.get(caller.taskId) : undefined;
        if (task === undefined || caller.kind !== 'session') return NO_SESSION;
        const held = requireClaim(task, caller);
        if (!held.ok) return held;
        const { taskId: task_id, epicId: epic_id, prdId: prd_id } = missionIds(task);
        const brief = `baton://task/${task.id}/brief`;
        const context = { epic_file: brief, task_file: task.promptFile ?? brief };
        const mission: Mission = { version: '1', task_id, epic_id, prd_id, instruction: task.title, context };
        return { ok: true, events: [], answer: mission };
      },
    });
    return answerOf(settled, (mission) => mission);
  }),

  agent_signal: handle(operations.agentSignal, async (call) => {
    const { input, caller, project, services } = call;
    if (caller.kind !== 'session') return answerOf(NO_SESSION, () => null);
    if (input.kind === 'continue') await project.renew(caller.taskId, caller.epoch);
    const settled = await project.keeper.submit<SignalAnswer>({
      actor: actorOf(caller),
      ...(call.key === undefined ? {} : { key: call.key }),
      decide: ({ state, rules }) => {
        const task = state.tasks.get(caller.taskId);
        if (task === undefined) return NO_SESSION;
        const answer = { kind: input.kind, task_id: task.id, phase: task.phase };
        if (input.kind === 'complete' && state.sessions.get(caller.sessionId)?.exit)
          return { ok: true, events: [], answer };
        const held = requireClaim(task, caller);
        if (!held.ok) return held;
        if (input.kind === 'continue') return { ok: true, events: [], answer };
        if (input.kind === 'escalate') {
          // A person is needed, and until there are decisions to open, a blocked task is what people look at.
          const notes = input.message ?? 'the agent asks for a person';
          const outcome = decideUpdateTask(state, { task_id: task.id, status: 'blocked', notes }, caller, rules);
          return outcome.ok ? { ...outcome, answer: { ...answer, phase: 'BLOCKED' } } : outcome;
        }
        if (services.exitProtocol)
          return refusal('missing', 'cannot complete: missing exit signal', 'Run: baton emit exit');
        const signal = createExitSignal(task.phase, 'completed');
        const exit = {
          signal: input.message === undefined ? signal : signal.withNotes(input.message),
          eventId: services.newId(),
          at: services.now().toISOString(),
          committed: false,
          violations: [],
        };
        const outcome = decideExitSession(state, exit, caller, rules);
        if (!outcome.ok) return outcome;
        return { ...outcome, answer: { ...answer, phase: outcome.answer.next_phase ?? task.phase } };
      },
    });
    return answerOf(settled, (answer) => answer);
  }),
};

interface SignalAnswer {
  readonly kind: string;
  readonly task_id: string;
  /** Where the task stands now. */
  readonly phase: string;
}

const NO_SESSION = refusal(
  'no-claim',
  'only a session that holds a claim can do this',
  'Claim a task: baton task claim',
);
