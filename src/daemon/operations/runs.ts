import type { Answer } from '../../api/answer.ts';
import { isInteractive } from '../../agents/prepare-agent.ts';
import * as operations from '../../api/operations/runs.ts';
import { refusal, type Refusal } from '../../state/outcome.ts';
import { type AgentRun, agentStatus } from '../../state/runs/agent-run.ts';
import type { Decision } from '../../state/runs/decision.ts';
import type { KilledAgent } from '../../state/runs/steer-agent.ts';
import { findPipelineDecision, overallPipelineStatus } from '../../state/runs/steer-pipeline.ts';
import type { State } from '../../state/state.ts';
import { agentFiles, requireLaunch } from '../../supervisor/contract.ts';
import { LATER } from '../loop/request.ts';
import { answerFor, type Call, type FoundRun, handlerFor, reads, steers, unchanged } from './call.ts';
import { agentView, pipelineView } from '../views/run-views.ts';

const find = ({ agents }: State, { id }: { readonly id: string }) => findRunByPrefix(agents, id, 'agent');
/** Replaces the caller's id prefix by the run's full id. */
const withFoundId =
  <I>(input: I) =>
  ({ id }: { readonly id: string }) => ({ ...input, id });
const show = ({ id, outcome }: KilledAgent) => ({ id, ...(outcome === undefined ? {} : { outcome }) });

export const AGENT_RUN_HANDLERS = {
  agent_list: reads(operations.agentList, ({ state }, { input, project }) => {
    const listed = [...state.agents.values()].filter(({ over }) => input.all === true || over === null);
    return unchanged({ agents: listed.map((run) => agentView(state, run, project.stateDir)) });
  }),

  agent_show: handlerFor(operations.agentShow, async (call) =>
    waitForRun(call, call.input.wait_ms ?? 0, (state) => {
      const found = find(state, call.input);
      if (!found.ok) return found;
      const { stateDir } = call.project;
      return {
        ok: true,
        view: {
          ...agentView(state, found.run, stateDir),
          env_dropped: readDroppedVariables(found.run, stateDir),
          hosts: found.run.exit?.hosts ?? [],
        },
        isSettled:
          !WORKING_STATUSES.has(agentStatus(found.run)) && !isAnswered(state.decisions.get(found.run.parked ?? '')),
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
    (attached, { project }) => ({ ...attached, folder: agentFiles(project.stateDir, attached.id).folder }),
  ),

  agent_kill: steers(
    operations.agentKill,
    find,
    ({ reason }) =>
      ({ id: agentId }) => ({ agentId, ...(reason === undefined ? {} : { reason }) }),
    show,
  ),
};

const WORKING_STATUSES: ReadonlySet<string> = new Set(['starting', 'running', 'attached', 'leaving']);

function findInteractive(state: State, input: { readonly id: string }): FoundRun<AgentRun> {
  const found = find(state, input);
  if (!found.ok || isInteractive(found.run.plan)) return found;
  const { id, plan } = found.run;
  const message = `agent ${id} runs \`${plan.run}\`, which has no interactive mode that Baton knows`;
  return refusal('not-interactive', message, `Talk with the agent line by line: baton agent attach --chat ${id}`);
}

/**
 * The daemon's variables that were not passed to the newest process. Null if another host started it, or if its folder
 * no longer exists.
 */
function readDroppedVariables({ id, start }: AgentRun, stateDir: string): readonly string[] | null {
  try {
    return requireLaunch(agentFiles(stateDir, id).launch(start)).env_dropped ?? null;
  } catch {
    return null;
  }
}

const findPipeline = ({ pipelines }: State, { id }: { readonly id: string }) =>
  findRunByPrefix(pipelines, id, 'pipeline');
const findRun = ({ pipelines, agents }: State, { id }: { readonly id: string }) =>
  findRunByPrefix(new Map<string, { readonly id: string }>([...agents, ...pipelines]), id, 'run');
const showId = ({ id }: { readonly id: string }) => ({ id });

export const PIPELINE_HANDLERS = {
  pipeline_list: reads(operations.pipelineList, ({ state }, { input, project }) => {
    const listed = [...state.pipelines.values()].filter(({ outcome }) => input.all === true || outcome === null);
    return unchanged({ pipelines: listed.map((run) => pipelineView(state, run, project.stateDir)) });
  }),

  pipeline_show: handlerFor(operations.pipelineShow, async (call) =>
    waitForRun(call, call.input.wait_ms ?? 0, (state) => {
      const found = findPipeline(state, call.input);
      if (!found.ok) return found;
      return {
        ok: true,
        view: pipelineView(state, found.run, call.project.stateDir),
        isSettled:
          overallPipelineStatus(state, found.run) !== 'running' && !isAnswered(findPipelineDecision(state, found.run)),
      };
    }),
  ),

  pipeline_cancel: steers(operations.pipelineCancel, findPipeline, withFoundId, showId),

  run_ack: steers(operations.runAck, findRun, withFoundId, showId),

  pipeline_retry: steers(
    operations.pipelineRetry,
    findPipeline,
    (_, { services }) => {
      const newId = services.newId();
      return ({ id }) => ({ id, newId });
    },
    showId,
  ),

  pipeline_resume: steers(operations.pipelineResume, findPipeline, withFoundId, showId),
};

export function findRunByPrefix<T>(
  runs: ReadonlyMap<string, T>,
  id: string,
  what: 'pipeline' | 'agent' | 'decision' | 'run',
): FoundRun<T> {
  const exact = runs.get(id);
  if (exact !== undefined) return { ok: true, run: exact };
  const fitting = [...runs].filter(([each]) => each.startsWith(id));
  const [first, second] = fitting;
  if (first === undefined)
    return refusal(
      `no-such-${what}`,
      `there is no ${what} ${id}`,
      what === 'run' ? 'See what needs you: baton status' : `See: baton ${what} list --all`,
    );
  if (second === undefined) return { ok: true, run: first[1] };
  const names = fitting.slice(0, 5).map(([each]) => each);
  return refusal(
    'ambiguous',
    `${id} is the beginning of ${fitting.length} ids: ${names.join(', ')}`,
    'Type more characters of the id.',
  );
}

/** Whether the run continues by itself, so that it does not need a person. */
function isAnswered(decision: Decision | undefined): boolean {
  return decision?.answer !== undefined;
}

type WatchedRun<V> =
  | { readonly ok: true; readonly view: V; readonly isSettled: boolean }
  | { readonly ok: false; readonly refusal: Refusal };

/**
 * Reads a run. With `wait_ms`, waits until it is over, needs a person, or the time is over. An entry wakes the call.
 */
export async function waitForRun<V>(
  { project, signal }: Pick<Call, 'project' | 'signal'>,
  waitMs: number,
  read: (state: State) => WatchedRun<V>,
): Promise<Answer<V>> {
  const settled = await project.commandLoop.submit<V | undefined>({
    actor: 'system:reader',
    waitLimit: {
      ms: waitMs,
      otherwise: { ok: true, events: [], answer: undefined },
      ...(signal === undefined ? {} : { signal }),
    },
    decide: ({ state }) => {
      const seen = read(state);
      if (!seen.ok) return seen;
      return seen.isSettled || waitMs === 0 ? { ok: true, events: [], answer: seen.view } : LATER;
    },
  });
  if (!settled.ok || settled.answer !== undefined) return answerFor(settled, (view) => view as V); // oxlint-disable-line typescript/no-unsafe-type-assertion
  return waitForRun({ project }, 0, read);
}
