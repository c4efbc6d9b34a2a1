import { isInteractive } from '../agents/prepare-agent.ts';
import * as operations from '../api/run-operations.ts';
import type { Command } from '../state/decide.ts';
import { statusOf, type AgentRun } from '../state/runs/agent-run.ts';
import type { Killed } from '../state/runs/steer-agent.ts';
import { refusal } from '../state/outcome.ts';
import type { State } from '../state/state.ts';
import { agentFiles } from '../supervisor/contract.ts';
import { requireLaunch } from '../supervisor/read-launch.ts';
import type { Call } from './call.ts';
import { findRun, type FoundRun } from './find-run.ts';
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
        view: {
          ...agentView(found.run, call.project.stateDir),
          env_dropped: droppedOf(found.run, call.project.stateDir),
        },
        isSettled: !AT_WORK.has(statusOf(found.run)),
      };
    }),
  ),

  agent_send: handle(operations.agentSend, async (call) => {
    const { text } = call.input;
    const messageId = call.services.newId();
    return steer(call, ({ id }) => ({ kind: 'send-message', command: { agentId: id, messageId, text } }));
  }),

  agent_attach: handle(operations.agentAttach, async (call) => {
    const { by, id } = call.input;
    const find = (state: State): FoundRun<AgentRun> => {
      const found = findRun(state.agents, id, 'agent');
      return !found.ok || isInteractive(found.run.plan) ? found : notInteractive(found.run);
    };
    const settled = await orderFor<AgentRun, { id: string; start: number }>(call, find, (run) => ({
      kind: 'attach-agent',
      command: { agentId: run.id, by: by.slice(0, 200) },
    }));
    return answerOf(settled, (answer) => ({ ...answer, folder: agentFiles(call.project.stateDir, answer.id).folder }));
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
const AT_WORK: ReadonlySet<string> = new Set(['starting', 'running', 'attached', 'leaving']);

function notInteractive({ id, plan }: AgentRun): ReturnType<typeof refusal> {
  const message = `agent ${id} runs \`${plan.run}\`, which has no interactive mode that Baton knows`;
  return refusal('not-interactive', message, `Talk with it line by line: baton agent attach --lines ${id}`);
}

async function steer(call: Call<{ readonly id: string }>, command: (run: AgentRun) => Command) {
  const find = (state: State) => findRun(state.agents, call.input.id, 'agent');
  return answerOf(await orderFor<AgentRun, Killed>(call, find, command), ({ id, outcome }) => ({
    id,
    ...(outcome === undefined ? {} : { outcome }),
  }));
}

/** The names of the daemon's variables that its newest process did not get; null if another host started it, or its folder is gone. */
function droppedOf({ id, start }: AgentRun, stateDir: string): readonly string[] | null {
  try {
    return requireLaunch(agentFiles(stateDir, id).launch(start)).env_dropped ?? null;
  } catch {
    return null;
  }
}
