import { isInteractive } from '../../agents/prepare-agent.ts';
import * as operations from '../../api/operations/runs.ts';
import * as operationsDecisionHandlers from '../../api/operations/workflow.ts';
import type { Command } from '../../state/decide.ts';
import { refusal } from '../../state/outcome.ts';
import { type AgentRun, agentStatus } from '../../state/runs/agent-run.ts';
import type { Decision } from '../../state/runs/decision.ts';
import type { PipelineRun } from '../../state/runs/pipeline-run.ts';
import type { KilledAgent } from '../../state/runs/steer-agent.ts';
import { overallPipelineStatus } from '../../state/runs/steer-pipeline.ts';
import type { State } from '../../state/state.ts';
import { agentFiles, requireLaunch } from '../../supervisor/contract.ts';
import { answerFor, type Call, handlerFor, type OperationHandler } from './call.ts';
import { findRunByPrefix, type FoundRun, submitRunCommand, waitForRun } from './run-lookup.ts';
import { agentView, decisionView, pipelineView } from './run-views.ts';

export const AGENT_RUN_HANDLERS: Readonly<Record<string, OperationHandler>> = {
  agent_list: handlerFor(operations.agentList, async ({ input, project }) => {
    const settled = await project.commandLoop.read(({ state }) =>
      [...state.agents.values()]
        .filter(({ over }) => input.all === true || over === null)
        .map((run) => agentView(run, project.stateDir)),
    );
    return answerFor(settled, (agents) => ({ agents }));
  }),

  agent_show: handlerFor(operations.agentShow, async (call) =>
    waitForRun(call, call.input.wait_ms ?? 0, (state) => {
      const found = findRunByPrefix(state.agents, call.input.id, 'agent');
      if (!found.ok) return found;
      return {
        ok: true,
        view: {
          ...agentView(found.run, call.project.stateDir),
          env_dropped: readDroppedVariables(found.run, call.project.stateDir),
        },
        isSettled: !WORKING_STATUSES.has(agentStatus(found.run)),
      };
    }),
  ),

  agent_send: handlerFor(operations.agentSend, async (call) => {
    const { text } = call.input;
    const messageId = call.services.newId();
    return submitAgentCommand(call, ({ id }) => ({ kind: 'send-message', command: { agentId: id, messageId, text } }));
  }),

  agent_attach: handlerFor(operations.agentAttach, async (call) => {
    const { by, id } = call.input;
    const find = (state: State): FoundRun<AgentRun> => {
      const found = findRunByPrefix(state.agents, id, 'agent');
      return !found.ok || isInteractive(found.run.plan) ? found : notInteractive(found.run);
    };
    const settled = await submitRunCommand<AgentRun, { id: string; start: number }>(call, find, (run) => ({
      kind: 'attach-agent',
      command: { agentId: run.id, by: by.slice(0, 200) },
    }));
    return answerFor(settled, (answer) => ({ ...answer, folder: agentFiles(call.project.stateDir, answer.id).folder }));
  }),

  agent_kill: handlerFor(operations.agentKill, async (call) => {
    const { reason } = call.input;
    return submitAgentCommand(call, ({ id }) => {
      const command = { agentId: id, ...(reason === undefined ? {} : { reason }) };
      return { kind: 'kill-agent', command };
    });
  }),
};

/** Neither over nor waiting for a person. */
const WORKING_STATUSES: ReadonlySet<string> = new Set(['starting', 'running', 'attached', 'leaving']);

function notInteractive({ id, plan }: AgentRun): ReturnType<typeof refusal> {
  const message = `agent ${id} runs \`${plan.run}\`, which has no interactive mode that Baton knows`;
  return refusal('not-interactive', message, `Talk with it line by line: baton agent attach --lines ${id}`);
}

async function submitAgentCommand(call: Call<{ readonly id: string }>, command: (run: AgentRun) => Command) {
  const find = (state: State) => findRunByPrefix(state.agents, call.input.id, 'agent');
  return answerFor(await submitRunCommand<AgentRun, KilledAgent>(call, find, command), ({ id, outcome }) => ({
    id,
    ...(outcome === undefined ? {} : { outcome }),
  }));
}

/** The names of the daemon's variables that its newest process did not get; null if another host started it, or its folder is gone. */
function readDroppedVariables({ id, start }: AgentRun, stateDir: string): readonly string[] | null {
  try {
    return requireLaunch(agentFiles(stateDir, id).launch(start)).env_dropped ?? null;
  } catch {
    return null;
  }
}

export const PIPELINE_HANDLERS: Readonly<Record<string, OperationHandler>> = {
  pipeline_list: handlerFor(operations.pipelineList, async ({ input, project }) => {
    const settled = await project.commandLoop.read(({ state }) =>
      [...state.pipelines.values()]
        .filter(({ outcome }) => input.all === true || outcome === null)
        .map((run) => pipelineView(state, run, project.stateDir)),
    );
    return answerFor(settled, (pipelines) => ({ pipelines }));
  }),

  pipeline_show: handlerFor(operations.pipelineShow, async (call) =>
    waitForRun(call, call.input.wait_ms ?? 0, (state) => {
      const found = findRunByPrefix(state.pipelines, call.input.id, 'pipeline');
      if (!found.ok) return found;
      return {
        ok: true,
        view: pipelineView(state, found.run, call.project.stateDir),
        isSettled: overallPipelineStatus(state, found.run) !== 'running',
      };
    }),
  ),

  pipeline_cancel: handlerFor(operations.pipelineCancel, async (call) => {
    const { reason } = call.input;
    return submitPipelineCommand(call, ({ id }) => {
      const command = { id, ...(reason === undefined ? {} : { reason }) };
      return { kind: 'cancel-pipeline', command };
    });
  }),

  pipeline_retry: handlerFor(operations.pipelineRetry, async (call) => {
    const newId = call.services.newId();
    return submitPipelineCommand(call, ({ id }) => ({ kind: 'retry-pipeline', command: { id, newId } }));
  }),

  pipeline_resume: handlerFor(operations.pipelineResume, async (call) => {
    const { message } = call.input;
    return submitPipelineCommand(call, ({ id }) => {
      const command = { id, ...(message === undefined ? {} : { message }) };
      return { kind: 'resume-pipeline', command };
    });
  }),
};

async function submitPipelineCommand(call: Call<{ readonly id: string }>, command: (run: PipelineRun) => Command) {
  const find = (state: State) => findRunByPrefix(state.pipelines, call.input.id, 'pipeline');
  return answerFor(await submitRunCommand<PipelineRun, { id: string }>(call, find, command), ({ id }) => ({ id }));
}

export const DECISION_HANDLERS: Readonly<Record<string, OperationHandler>> = {
  decision_list: handlerFor(operationsDecisionHandlers.decisionList, async ({ input, project }) => {
    const settled = await project.commandLoop.read(({ state }) =>
      [...state.decisions.values()].filter(({ result }) => input.all === true || result === null).map(decisionView),
    );
    return answerFor(settled, (decisions) => ({ decisions }));
  }),

  decision_show: handlerFor(operationsDecisionHandlers.decisionShow, async (call) =>
    waitForRun(call, 0, (state) => {
      const found = findRunByPrefix(state.decisions, call.input.id, 'decision');
      return found.ok ? { ok: true, view: decisionView(found.run), isSettled: true } : found;
    }),
  ),

  decision_resolve: handlerFor(operationsDecisionHandlers.decisionResolve, async (call) => {
    const { option, message } = call.input;
    const settled = await submitRunCommand<Decision, { id: string; option: number; action: string }>(
      call,
      (state) => findRunByPrefix(state.decisions, call.input.id, 'decision'),
      ({ id }) => ({
        kind: 'resolve-decision',
        command: { id, option, ...(message === undefined ? {} : { message }) },
      }),
    );
    return answerFor(settled, (resolved) => resolved);
  }),
};
