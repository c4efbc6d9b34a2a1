import type { PipelinePlan, Plan, StepPlan } from '../../protocol/run-plan.ts';
import type { Event, EventOf, Events, RecordedEvent } from '../event.ts';
import type { RunOutcome } from './run-event.ts';
import { NO_SPENDING, type Spending } from './spent.ts';

export interface PipelineRun extends Pick<Events['PipelineStarted'], 'name' | 'vars' | 'task' | 'worker'> {
  readonly id: string;
  /** The plan of the root, for a nested pipeline. */
  readonly plan: Extract<Plan, { kind: 'pipeline' }>;
  readonly parent: { readonly pipelineId: string; readonly step: string } | null;
  /** Null if none is recorded: see `hostOf`. */
  readonly host: string | null;
  readonly startedAt: string;
  readonly endedAt: string | null;
  /** Null before the first step and after the last. */
  readonly step: CurrentStep | null;
  readonly history: Readonly<Record<string, StepRecord>>;
  /** The workspace; `step` created it, or is empty if it is the parent's. */
  readonly workspace: { readonly path: string; readonly branch: string; readonly step: string } | null;
  /** A person's answer, which the next agent gets. */
  readonly note?: string;
  readonly cancelling: string | null;
  /** The spending of all agents in it, including nested pipelines. */
  readonly spent: Spending;
  readonly outcome: RunOutcome | null;
  readonly reason: string | null;
  /** Set if a person has acknowledged that it failed. */
  readonly acknowledged?: true;
  /** Seq of the entry that ended it; null before that. */
  readonly over: number | null;
}

export interface CurrentStep {
  readonly name: string;
  readonly visit: number;
  readonly status: 'running' | 'waiting';
  readonly since: string;
  readonly reason: string | null;
  readonly decisionId: string | null;
  /** The agent, command or nested pipeline that runs the step. */
  readonly agentId: string | null;
  readonly commandId: string | null;
  readonly childId: string | null;
}

interface StepRecord {
  readonly visits: number;
  readonly retries: number;
  readonly outcome: RunOutcome | null;
  readonly reason: string | null;
  readonly output: string | null;
  readonly exitCode: number | null;
  /** The last command, whose output is kept under this id. */
  readonly commandId: string | null;
}

export type PipelineStatus = 'running' | 'waiting' | RunOutcome;

export function pipelineStatus({ outcome, step }: PipelineRun): PipelineStatus {
  return outcome ?? (step?.status === 'waiting' ? 'waiting' : 'running');
}

/** Returns undefined only if the plan lacks the pipeline. */
export function findPipelinePlan({ plan, parent, name }: PipelineRun): PipelinePlan | undefined {
  return plan.pipelines[parent === null ? plan.pipeline : name];
}

export function findStepPlan(run: PipelineRun, step: string): StepPlan | undefined {
  return findPipelinePlan(run)?.steps.find(({ name }) => name === step);
}

type Envelope = Pick<RecordedEvent, 'seq' | 'at'>;

/** Creates a pipeline. A nested one follows its root's plan and uses its parent's workspace. */
export function createPipeline(
  { data, at }: EventOf<'PipelineStarted'> & Envelope,
  parent: PipelineRun | undefined,
): PipelineRun {
  const { pipeline_id: id, name, vars, task, worker, host = null } = data;
  const given = { id, name, vars, task, worker, host };
  return {
    ...given,
    plan: data.plan ?? parent?.plan ?? { kind: 'pipeline', pipeline: name, pipelines: {}, agents: {} },
    parent: data.parent === null ? null : { pipelineId: data.parent.pipeline_id, step: data.parent.step },
    startedAt: at,
    endedAt: null,
    step: null,
    history: {},
    workspace: parent?.workspace ? { ...parent.workspace, step: '' } : null,
    cancelling: null,
    spent: NO_SPENDING,
    outcome: null,
    reason: null,
    over: null,
  };
}

export function evolvePipeline(run: PipelineRun, { type, data, seq, at }: Event & Envelope): PipelineRun {
  switch (type) {
    case 'StepStarted':
      return evolveStepStarted(run, data, at);
    case 'StepWaiting':
      return withStep(run, { status: 'waiting', since: at, reason: data.reason, decisionId: data.decision_id });
    case 'StepResumed':
      return withStep(run, { status: 'running', since: at, reason: null, decisionId: null });
    case 'StepFinished': {
      const { step, outcome, reason, output } = data;
      return withRecord({ ...run, step: null }, step, { outcome, reason, output });
    }
    case 'PipelineFinished':
      return { ...run, step: null, outcome: data.outcome, reason: data.reason, endedAt: at, over: seq };
    case 'RunAcknowledged':
      return { ...run, acknowledged: true };
    case 'PipelineCancelRequested':
      return { ...run, cancelling: data.reason };
    case 'WorkspacePrepared':
      return { ...run, workspace: { path: data.path, branch: data.branch, step: run.step?.name ?? '' } };
    case 'AgentRequested': {
      const { note: _, ...after } = run;
      return withStep(after, { agentId: data.agent_id });
    }
    case 'CommandRequested':
      return evolveCommandStarted(run, data.command_id);
    case 'PipelineStarted':
      return withStep(run, { childId: data.pipeline_id });
    case 'CommandFinished':
      return run.step === null ? run : withRecord(run, run.step.name, { exitCode: data.exit_code });
    default:
      return run;
  }
}

function evolveStepStarted(run: PipelineRun, { step: name, visit, retry }: EventOf<'StepStarted'>['data'], at: string) {
  const retries = retry ? (run.history[name]?.retries ?? 0) + 1 : 0;
  const runner = { agentId: null, commandId: null, childId: null };
  const step: CurrentStep = { name, visit, status: 'running', since: at, reason: null, decisionId: null, ...runner };
  return withRecord({ ...run, step }, name, { visits: visit, retries, outcome: null, reason: null, commandId: null });
}

function evolveCommandStarted(run: PipelineRun, commandId: string): PipelineRun {
  return run.step === null ? run : withStep(withRecord(run, run.step.name, { commandId }), { commandId });
}

function withStep(run: PipelineRun, changes: Partial<CurrentStep>): PipelineRun {
  return run.step === null ? run : { ...run, step: { ...run.step, ...changes } };
}

const NO_RESULT = { outcome: null, reason: null, output: null, exitCode: null, commandId: null };
const NO_RECORD: StepRecord = { visits: 0, retries: 0, ...NO_RESULT };

function withRecord(run: PipelineRun, step: string, changes: Partial<StepRecord>): PipelineRun {
  const record = { ...(run.history[step] ?? NO_RECORD), ...changes };
  return { ...run, history: { ...run.history, [step]: record } };
}
