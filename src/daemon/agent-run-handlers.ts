import * as operations from '../api/run-operations.ts';
import type { Command } from '../state/decide.ts';
import { statusOf, type AgentRun } from '../state/runs/agent-run.ts';
import type { State } from '../state/state.ts';
import type { Call } from './call.ts';
import { findRun } from './find-run.ts';
import { answerOf, handle, type Handler } from './handler.ts';
import { orderFor } from './order-for.ts';
import { agentView } from './run-views.ts';
import { watchRun } from './watch-run.ts';

export const AGENT_RUN_HANDLERS: Readonly<Record<string, Handler>> = {
  agent_list: handle(operations.agentList, async ({ input, project }) => {
    const settled = await project.keeper.read(({ state }) =>
      [...state.agents.values()]
        .filter(({ over }) => input.all === true || over === null)
        .map((run) => agentView(run, project.stateDir)),
    );
    return answerOf(settled, (agents) => ({ agents }));
  }),

  agent_show: handle(operations.agentShow, async (call) =>
    watchRun(call, call.input.wait_ms ?? 0, (state) => {
      const found = findRun(state.agents, call.input.id, 'agent');
      if (!found.ok) return found;
      return {
        ok: true,
        view: agentView(found.run, call.project.stateDir),
        isSettled: !AT_WORK.has(statusOf(found.run)),
      };
    }),
  ),

  agent_send: handle(operations.agentSend, async (call) => {
    const { text } = call.input;
    const messageId = call.services.newId();
    return steer(call, ({ id }) => ({ kind: 'send-message', command: { agentId: id, messageId, text } }));
  }),

  agent_kill: handle(operations.agentKill, async (call) => {
    const { reason } = call.input;
    return steer(call, ({ id }) => {
      const command = { agentId: id, ...(reason === undefined ? {} : { reason }) };
      return { kind: 'kill-agent', command };
    });
  }),
};

/** Neither over nor waiting for a person. */
const AT_WORK: ReadonlySet<string> = new Set(['starting', 'running', 'leaving']);

async function steer(call: Call<{ readonly id: string }>, command: (run: AgentRun) => Command) {
  const find = (state: State) => findRun(state.agents, call.input.id, 'agent');
  return answerOf(await orderFor<AgentRun, { id: string }>(call, find, command), ({ id }) => ({ id }));
}
