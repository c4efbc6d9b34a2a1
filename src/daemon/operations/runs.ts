import { isInteractive } from '../../agents/prepare-agent.ts';
import * as operations from '../../api/operations/runs.ts';
import * as operationsDecisionHandlers from '../../api/operations/workflow.ts';
import { refusal } from '../../state/outcome.ts';
import { type AgentRun, agentStatus } from '../../state/runs/agent-run.ts';
import type { KilledAgent } from '../../state/runs/steer-agent.ts';
import { overallPipelineStatus } from '../../state/runs/steer-pipeline.ts';
import type { State } from '../../state/state.ts';
import { agentFiles, requireLaunch } from '../../supervisor/contract.ts';
import { handlerFor, reads, steers, unchanged } from './call.ts';
import { findRunByPrefix, type FoundRun, waitForRun } from './run-lookup.ts';
import { agentView, decisionView, pipelineView } from './run-views.ts';

const find = ({ agents }: State, { id }: { readonly id: string }) => findRunByPrefix(agents, id, 'agent');
const show = ({ id, outcome }: KilledAgent) => ({ id, ...(outcome === undefined ? {} : { outcome }) });

export const AGENT_RUN_HANDLERS = {
  agent_list: reads(operations.agentList, ({ state }, { input, project }) => {
    const listed = [...state.agents.values()].filter(({ over }) => input.all === true || over === null);
    return unchanged({ agents: listed.map((run) => agentView(run, project.stateDir)) });
  }),

  agent_show: handlerFor(operations.agentShow, async (call) =>
    waitForRun(call, call.input.wait_ms ?? 0, (state) => {
      const found = find(state, call.input);
      if (!found.ok) return found;
      const { stateDir } = call.project;
      return {
        ok: true,
        view: { ...agentView(found.run, stateDir), env_dropped: readDroppedVariables(found.run, stateDir) },
        isSettled: !WORKING_STATUSES.has(agentStatus(found.run)),
      };
    }),
  ),

  agent_send: steers(
    operations.agentSend,
    find,
    ({ text }, { services }) => {
      const messageId = services.newId();
      return ({ id: agentId }) => ({ agentId, messageId, text });
    },
    show,
  ),

  agent_attach: steers(
    operations.agentAttach,
    findInteractive,
    ({ by }) =>
      ({ id: agentId }) => ({ agentId, by: by.slice(0, 200) }),
    (attached, { project }) => ({
      ...attached,
      folder: agentFiles(project.stateDir, attached.id).folder,
    }),
  ),

  agent_kill: steers(
    operations.agentKill,
    find,
    ({ reason }) =>
      ({ id: agentId }) => ({ agentId, ...(reason === undefined ? {} : { reason }) }),
    show,
  ),
};

/** Neither over nor waiting for a person. */
const WORKING_STATUSES: ReadonlySet<string> = new Set(['starting', 'running', 'attached', 'leaving']);

function findInteractive(state: State, input: { readonly id: string }): FoundRun<AgentRun> {
  const found = find(state, input);
  if (!found.ok || isInteractive(found.run.plan)) return found;
  const { id, plan } = found.run;
  const message = `agent ${id} runs \`${plan.run}\`, which has no interactive mode that Baton knows`;
  return refusal('not-interactive', message, `Talk with it line by line: baton agent attach --lines ${id}`);
}

/** The names of the daemon's variables that its newest process did not get; null if another host started it, or its folder is gone. */
function readDroppedVariables({ id, start }: AgentRun, stateDir: string): readonly string[] | null {
  try {
    return requireLaunch(agentFiles(stateDir, id).launch(start)).env_dropped ?? null;
  } catch {
    return null;
  }
}

const findPipelineHandlers = ({ pipelines }: State, { id }: { readonly id: string }) =>
  findRunByPrefix(pipelines, id, 'pipeline');
const showPipelineHandlers = ({ id }: { readonly id: string }) => ({ id });

export const PIPELINE_HANDLERS = {
  pipeline_list: reads(operations.pipelineList, ({ state }, { input, project }) => {
    const listed = [...state.pipelines.values()].filter(({ outcome }) => input.all === true || outcome === null);
    return unchanged({ pipelines: listed.map((run) => pipelineView(state, run, project.stateDir)) });
  }),

  pipeline_show: handlerFor(operations.pipelineShow, async (call) =>
    waitForRun(call, call.input.wait_ms ?? 0, (state) => {
      const found = findPipelineHandlers(state, call.input);
      if (!found.ok) return found;
      return {
        ok: true,
        view: pipelineView(state, found.run, call.project.stateDir),
        isSettled: overallPipelineStatus(state, found.run) !== 'running',
      };
    }),
  ),

  pipeline_cancel: steers(
    operations.pipelineCancel,
    findPipelineHandlers,
    (input) =>
      ({ id }) => ({ ...input, id }),
    showPipelineHandlers,
  ),

  pipeline_retry: steers(
    operations.pipelineRetry,
    findPipelineHandlers,
    (_, { services }) => {
      const newId = services.newId();
      return ({ id }) => ({ id, newId });
    },
    showPipelineHandlers,
  ),

  pipeline_resume: steers(
    operations.pipelineResume,
    findPipelineHandlers,
    (input) =>
      ({ id }) => ({ ...input, id }),
    showPipelineHandlers,
  ),
};

const findDecisionHandlers = ({ decisions }: State, { id }: { readonly id: string }) =>
  findRunByPrefix(decisions, id, 'decision');

export const DECISION_HANDLERS = {
  decision_list: reads(operationsDecisionHandlers.decisionList, ({ state }, { input }) => {
    const listed = [...state.decisions.values()].filter(({ result }) => input.all === true || result === null);
    return unchanged({ decisions: listed.map(decisionView) });
  }),

  decision_show: reads(operationsDecisionHandlers.decisionShow, ({ state }, { input }) => {
    const found = findDecisionHandlers(state, input);
    return found.ok ? unchanged(decisionView(found.run)) : found;
  }),

  decision_resolve: steers(
    operationsDecisionHandlers.decisionResolve,
    findDecisionHandlers,
    (input) =>
      ({ id }) => ({ ...input, id }),
    (resolved) => resolved,
  ),
};
