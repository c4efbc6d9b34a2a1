import type { Event, EventOf, RecordedEvent } from '../event.ts';
import type { CurrentStep, PipelineRun, StepRecord } from './pipeline-run.ts';
import { NO_SPENDING } from './spent.ts';

type Envelope = Pick<RecordedEvent, 'seq' | 'at'>;

/** A nested pipeline keeps to the plan of its root, and works where its parent works. */
export function createPipeline(
  { data, at }: EventOf<'PipelineStarted'> & Envelope,
  parent: PipelineRun | undefined,
): PipelineRun {
  return {
    id: data.pipeline_id,
    name: data.name,
    vars: data.vars,
    plan: data.plan ?? parent?.plan ?? { kind: 'pipeline', pipeline: data.name, pipelines: {}, agents: {} },
    parent: data.parent === null ? null : { pipelineId: data.parent.pipeline_id, step: data.parent.step },
    task: data.task,
    worker: data.worker,
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

/** (pipeline, entry) → pipeline. Entries that say nothing about it leave it as it is. */
export function evolvePipeline(run: PipelineRun, { type, data, seq, at }: Event & Envelope): PipelineRun {
  switch (type) {
    case 'StepStarted':
      return evolveStepStarted(run, data, at);
    case 'StepWaiting':
      return withStep(run, { status: 'waiting', since: at, reason: data.reason, decisionId: data.decision_id });
    case 'StepResumed':
      return withStep(run, { status: 'running', since: at, reason: null, decisionId: null });
    case 'StepFinished':
      return evolveStepFinished(run, data);
    case 'PipelineFinished':
      return { ...run, step: null, outcome: data.outcome, reason: data.reason, endedAt: at, over: seq };
    case 'PipelineCancelRequested':
      return { ...run, cancelling: data.reason };
    case 'WorkspacePrepared':
      return { ...run, workspace: { path: data.path, branch: data.branch, step: run.step?.name ?? '' } };
    case 'AgentRequested':
      return withStep(run, { agentId: data.agent_id });
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
  const step: CurrentStep = {
    name,
    visit,
    status: 'running',
    since: at,
    reason: null,
    decisionId: null,
    agentId: null,
    commandId: null,
    childId: null,
  };
  return withRecord({ ...run, step }, name, { visits: visit, retries, outcome: null, reason: null, commandId: null });
}

function evolveCommandStarted(run: PipelineRun, commandId: string): PipelineRun {
  return run.step === null ? run : withStep(withRecord(run, run.step.name, { commandId }), { commandId });
}

function evolveStepFinished(run: PipelineRun, data: EventOf<'StepFinished'>['data']): PipelineRun {
  const { outcome, reason, output } = data;
  return withRecord({ ...run, step: null }, data.step, { outcome, reason, output });
}

function withStep(run: PipelineRun, changes: Partial<CurrentStep>): PipelineRun {
  return run.step === null ? run : { ...run, step: { ...run.step, ...changes } };
}

const NO_RECORD: StepRecord = {
  visits: 0,
  retries: 0,
  outcome: null,
  reason: null,
  output: null,
  exitCode: null,
  commandId: null,
};

function withRecord(run: PipelineRun, step: string, changes: Partial<StepRecord>): PipelineRun {
  const record = { ...(run.history[step] ?? NO_RECORD), ...changes };
  return { ...run, history: { ...run.history, [step]: record } };
}
