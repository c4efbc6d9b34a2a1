import type { PlanEntry } from '../../acp/messages.ts';
import type { Answer } from '../../api/answer.ts';
import type { ProjectCalls } from '../../api/client/signed-client.ts';
import type { TaskOverview } from '../../api/operations/task-view.ts';
import type { DecisionView } from '../../api/run-views.ts';
import { isOver } from '../../protocol/phase.ts';
import type { FollowedEntry } from '../run/follow-entries.ts';
import { readHeadSeq } from '../run/follow-entries.ts';
import { RunStory, WorkflowStory } from '../run/story.ts';
import { describeEnd } from './describe-end.ts';
import { planOfStages, planOfSteps } from './plan-entries.ts';
import { type StageCall, stageCalls, stepCalls } from './stage-calls.ts';

export interface StartedRun {
  readonly kind: 'workflow' | 'pipeline' | 'agent';
  readonly id: string;
}

/** The current state of a run, for an editor. */
export interface RunState {
  readonly seq: number;
  readonly plan: readonly PlanEntry[];
  readonly calls: readonly StageCall[];
  readonly decisions: readonly DecisionView[];
  /** The final message; undefined until the run is over. */
  readonly end: readonly string[] | undefined;
}

/** The actions of an editor on a run: a workflow, a pipeline or an agent. */
export interface RunSource {
  readonly run: StartedRun;
  readonly read: (signal: AbortSignal) => Promise<Answer<RunState>>;
  readonly describe: (entry: FollowedEntry) => string | undefined;
  readonly cancel: (reason: string) => Promise<Answer>;
  /** The command that cancels the run from a terminal. */
  readonly cancelCommand: string;
}

/** `seen`: the state of an earlier workflow when the editor began to follow it. */
export function createSource(run: StartedRun, client: ProjectCalls, seen?: TaskOverview): RunSource {
  if (run.kind === 'workflow') return workflowSource(run, client, seen);
  const story = new RunStory(run.id);
  const describe = ({ type, data }: FollowedEntry): string | undefined => story.describe(type, data);
  const { id } = run;
  if (run.kind === 'pipeline')
    return {
      run,
      describe,
      read: async (signal) => readPipeline(id, client, signal),
      cancel: async (reason) => client.call('pipeline_cancel', { id, reason }),
      cancelCommand: `baton pipeline cancel ${id.slice(0, 8)}`,
    };
  return {
    run,
    describe,
    read: async (signal) => readAgent(id, client, signal),
    cancel: async (reason) => client.call('agent_kill', { id, reason }),
    cancelCommand: `baton agent kill ${id.slice(0, 8)}`,
  };
}

function workflowSource(run: StartedRun, client: ProjectCalls, seen: TaskOverview | undefined): RunSource {
  const { id } = run;
  const story = new WorkflowStory(id, seen);
  return {
    run,
    describe: ({ type, data }) => story.describe(type, data),
    read: async (signal) => {
      const answer = await client.call('task_view', { task_id: id }, { signal });
      return answer.ok ? { ok: true, result: workflowState(answer.result) } : answer;
    },
    cancel: async (reason) => client.call('task_cancel', { task_id: id, reason }),
    cancelCommand: `baton task cancel ${id} --reason "…"`,
  };
}

function workflowState(view: TaskOverview): RunState {
  return {
    seq: view.seq,
    plan: planOfStages(view.stages),
    calls: stageCalls(view),
    decisions: view.decisions,
    end: isOver(view.activity) ? describeEnd(view) : undefined,
  };
}

async function readPipeline(id: string, client: ProjectCalls, signal: AbortSignal): Promise<Answer<RunState>> {
  // Read first, so that no entry is missed: changes between the two calls appear in the view, and their entries again.
  const seq = await readHeadSeq(client);
  const answer = await client.call('pipeline_show', { id }, { signal });
  if (!answer.ok) return answer;
  const { steps, status, name, reason, decision_id, ended_at } = answer.result;
  const end = ended_at === null ? undefined : [`${name} ${status}${reason === null ? '' : `: ${reason}`}`];
  return {
    ok: true,
    result: {
      seq,
      plan: planOfSteps(steps),
      calls: stepCalls(answer.result),
      decisions: await readDecision(decision_id, client),
      end,
    },
  };
}

async function readAgent(id: string, client: ProjectCalls, signal: AbortSignal): Promise<Answer<RunState>> {
  const seq = await readHeadSeq(client);
  const answer = await client.call('agent_show', { id }, { signal });
  if (!answer.ok) return answer;
  const { name, outcome, reason, decision_id } = answer.result;
  const end = outcome === null ? undefined : [`${name}: ${outcome}${reason === null ? '' : `: ${reason}`}`];
  return { ok: true, result: { seq, plan: [], calls: [], decisions: await readDecision(decision_id, client), end } };
}

async function readDecision(id: string | null, client: ProjectCalls): Promise<readonly DecisionView[]> {
  const answer = id === null ? undefined : await client.call('decision_show', { id });
  return answer?.ok === true ? [answer.result] : [];
}
