import type { Event, EventOf, EventType, MoveCause, RecordedEvent } from '../state/event.ts';
import { rulesInForce } from '../state/rules.ts';
import type { AgentRun } from '../state/runs/agent-run.ts';
import { isAboutOverspent } from '../state/runs/open-decisions.ts';
import type { PipelineRun } from '../state/runs/pipeline-run.ts';
import type { State } from '../state/state.ts';
import type { Task } from '../state/tasks/task.ts';
import {
  onError,
  onExit,
  onHeard,
  onIdle,
  onPrompt,
  onSilent,
  onStartFailed,
  onStop,
  onUndelivered,
} from './agent-events.ts';
import { onAttach } from './attach.ts';
import { onBlocked, retryError, reviewRounds, setStallTimer } from './blocked.ts';
import { endTimeBudget, timeBudgets, watchBudgets } from './budgets.ts';
import { cancelPipeline, onCancelled } from './cancel.ts';
import { onClaimEnd, onExitSignal, onReturned, onSignal, onUnblocked, onUnclosed } from './claims.ts';
import type { EngineContext, EngineInputs } from './context.ts';
import { onCompleted, onDecision } from './decisions.ts';
import { fillCapacity } from './dispatch.ts';
import { afterAgent, type ClaimEndType, endAgent } from './end-agent.ts';
import { holdAtCheckpoint } from './hold-task.ts';
import { onMainMoved } from './main-moved.ts';
import {
  cancelMerge,
  closePullOfCancelled,
  onCiPending,
  onMeasured,
  onMerged,
  onNewHead,
  openProtectedDecision,
  requestPull,
} from './merge.ts';
import { notifyAttention } from './notify.ts';
import { askAfterAgent, askAfterPipeline, beginStepsAfterExit } from './overspent.ts';
import { onCommand, onPipelineEnd, onTimer } from './pipelines.ts';
import { beginStep, enterPipeline, finishStep, runStep } from './steps.ts';

/**
 * (state, entry) → the entries that follow from it, recorded in the same commit; requests for effects are among them. The state includes
 * the entry and everything decided together with it. Each rule goes by the current state, because the entry may be outdated by then.
 */
export function react(state: State, recorded: RecordedEvent, tools: EngineInputs): readonly Event[] {
  const world: EngineContext = { ...tools, rules: rulesInForce(state, tools.rules), state };
  const followed = dropRepeatedCancellations(reactionsTo(world, recorded));
  const makesRoom = MAKES_ROOM.has(recorded.type) || isNewDay(recorded) || isAnswered(recorded, followed);
  if (!makesRoom && !isOverspentDecision(world, recorded)) return followed;
  // The decision itself makes room when it is opened; work that depends on its answer must not start first.
  if (followed.some(({ type, data }) => type === 'DecisionOpened' && data.source === 'budget')) return followed;
  // A task that is about to be held must not be claimed first; `TaskHeld` makes room itself.
  if (followed.some(({ type }) => type === 'TaskHeld')) return followed;
  // The task's move is recorded with this entry. The move decides whether the task is held, and makes room.
  if (isYetToMove(world, recorded)) return followed;
  // A run that ends with its claim makes room when it has ended; until then its worker must not get more work.
  return recorded.type in CLAIM_ENDED && followed.length > 0 ? followed : [...followed, ...fillCapacity(world)];
}

/** Work that the budget of the day before held back may begin. */
function isNewDay({ type, data }: RecordedEvent): boolean {
  return type === 'TimerFired' && data.purpose.kind === 'day';
}

/** The decision held a review or a merge. If its answer moves a task, that move makes room. */
function isAnswered({ type }: RecordedEvent, followed: readonly Event[]): boolean {
  return (type === 'DecisionResolved' || type === 'DecisionWithdrawn') && followed.length === 0;
}

/** Whether this decision was opened in place of an entry that would have made room. */
function isOverspentDecision({ state }: EngineContext, { type, data }: RecordedEvent): boolean {
  const asked = type === 'DecisionOpened' ? state.decisions.get(data.decision_id) : undefined;
  return asked !== undefined && isAboutOverspent(state, asked);
}

/** On the end of a process. */
function afterProcess(world: EngineContext, agent: AgentRun): Event[] {
  const asked = askAfterAgent(world, agent);
  return asked.length > 0 ? asked : beginStepsAfterExit(world, agent);
}

function isYetToMove({ state }: EngineContext, { type, data, seq }: RecordedEvent): boolean {
  if (type === 'PhaseMoved' || !('task_id' in data) || data.task_id === null) return false;
  return (state.tasks.get(data.task_id)?.flow.movedAt ?? 0) > seq;
}

/** If two rules cancel the same timer or command, it is cancelled once. */
function dropRepeatedCancellations(events: readonly Event[]): readonly Event[] {
  const seen = new Set<string>();
  return events.filter(({ type, data }) => {
    if (type !== 'TimerCancelled' && type !== 'CommandCancelled') return true;
    const what = type === 'TimerCancelled' ? data.timer_id : data.command_id;
    return !seen.has(what) && seen.add(what);
  });
}

const CLAIM_ENDED: Readonly<Record<ClaimEndType, true>> = {
  ClaimCompleted: true,
  ClaimBlocked: true,
  ClaimFailed: true,
  ClaimReleased: true,
  ClaimExpired: true,
  ClaimRevoked: true,
};

/** After these entries there may be room for another agent, or work for a worker. */
const MAKES_ROOM: ReadonlySet<string> = new Set<EventType>([
  'WorkersConfigured',
  'TaskCreated',
  'PhaseMoved',
  'AgentExited',
  'AgentStartFailed',
  'AgentEnded',
  'AgentParked',
  'PipelineFinished',
  'BudgetRaised',
  'TaskHeld',
  'TaskFreed',
  'MergeFinished',
  ...Object.keys(CLAIM_ENDED).map((type) => type as ClaimEndType), // oxlint-disable-line typescript/no-unsafe-type-assertion
]);

/** The causes with which a task leaves BLOCKED without a person. */
const RETURN_CAUSES: ReadonlySet<string> = new Set<MoveCause>(['retried', 'claim-restored']);

function reactionsTo(world: EngineContext, recorded: RecordedEvent): readonly Event[] {
  const { type, data, seq } = recorded;
  const ofAgent = (rule: (agent: AgentRun) => Event[], id: string): Event[] => {
    const agent = world.state.agents.get(id);
    return agent === undefined ? [] : rule(agent);
  };
  const ofPipeline = (rule: (run: PipelineRun) => Event[], id: string): Event[] => {
    const run = world.state.pipelines.get(id);
    return run === undefined ? [] : rule(run);
  };
  const ofTask = (rule: (task: Task) => Event[], id: string): Event[] => {
    const task = world.state.tasks.get(id);
    return task === undefined ? [] : rule(task);
  };
  switch (type) {
    case 'PipelineStarted':
      return ofPipeline(enterPipeline, data.pipeline_id);
    case 'StepStarted':
      return ofPipeline((run) => beginStep(world, run, data.visit), data.pipeline_id);
    case 'WorkspacePrepared':
      return ofPipeline((run) => runStep(world, run), data.pipeline_id);
    case 'WorkspaceFailed': {
      const failed = { outcome: 'failed', reason: data.reason, output: null } as const;
      return ofPipeline((run) => finishStep(world, run, failed), data.pipeline_id);
    }
    case 'PipelineCancelRequested':
      return ofPipeline((run) => cancelPipeline(world, run, data.reason), data.pipeline_id);
    case 'PipelineFinished':
      return [...onPipelineEnd(world, data), ...ofPipeline((run) => askAfterPipeline(world, run), data.pipeline_id)];
    case 'CommandFinished':
      return onCommand(world, data);
    case 'TimerFired':
      return onTimer(world, data);
    case 'AgentSignalled':
      return onSignal(world, data);
    case 'AgentSessionCompleted':
      return onExitSignal(world, data);
    case 'AgentIdle':
      return ofAgent((agent) => onIdle(world, agent), data.agent_id);
    case 'AgentSilent':
      return ofAgent((agent) => onSilent(world, agent, data), data.agent_id);
    case 'AgentHeard':
      return ofAgent((agent) => onHeard(world, agent), data.agent_id);
    case 'AgentStop':
      return ofAgent((agent) => onStop(world, agent), data.agent_id);
    case 'AgentPrompted':
      return ofAgent((agent) => onPrompt(world, agent, data.prompt), data.agent_id);
    case 'SessionUsed':
      // The budgets of time too: the clock may have been changed since they were timed.
      return ofAgent(
        (agent) => [...watchBudgets(world, agent), ...timeBudgets(world, agent), ...askAfterAgent(world, agent)],
        data.agent_id,
      );
    case 'AgentRequested':
    // Also an agent that a person had taken over: its use was not limited meanwhile.
    case 'AgentResumeRequested':
      return ofAgent((agent) => watchBudgets(world, agent), data.agent_id);
    case 'AgentStarted':
      return ofAgent((agent) => timeBudgets(world, agent), data.agent_id);
    case 'AgentUnparked':
      return ofAgent((agent) => [...watchBudgets(world, agent), ...timeBudgets(world, agent)], data.agent_id);
    case 'AgentErrored':
      return ofAgent((agent) => onError(world, agent, data), data.agent_id);
    case 'AgentExited':
      return ofAgent((agent) => [...onExit(world, agent, data), ...afterProcess(world, agent)], data.agent_id);
    case 'AgentStartFailed':
      return ofAgent(
        (agent) => [...onStartFailed(world, agent, data.reason), ...afterProcess(world, agent)],
        data.agent_id,
      );
    case 'AgentKillRequested':
      return ofAgent((agent) => endAgent(world, agent, 'cancelled', data.reason), data.agent_id);
    case 'AgentAttachRequested':
      return ofAgent((agent) => onAttach(world, agent), data.agent_id);
    case 'AgentEnded':
      return ofAgent(
        (agent) => [...endTimeBudget(world, { kind: 'agent', id: agent.id }), ...afterAgent(world, agent, data)],
        data.agent_id,
      );
    case 'MessageDelivered':
      return data.ok ? [] : ofAgent((agent) => onUndelivered(world, agent, data.reason), data.agent_id);
    case 'DecisionOpened':
      return data.adopts !== undefined ? [notifyAttention(world, data.title, data.context, data.decision_id)] : [];
    case 'DecisionResolved':
      return onDecision(world, data);
    case 'PhaseMoved':
      return [
        ...(data.from === 'BLOCKED' && data.to !== 'BLOCKED'
          ? RETURN_CAUSES.has(data.cause)
            ? onReturned(world, data.task_id)
            : onUnblocked(world, data.task_id, 'the task was unblocked')
          : []),
        ...(data.to === 'BLOCKED'
          ? ofTask(
              (task) => [...onBlocked(world, task, recorded), ...closePullOfCancelled(world, task, data)],
              data.task_id,
            )
          : []),
        ...(data.to === 'COMPLETED' ? onCompleted(world, data.task_id) : []),
        ...(data.cause === 'cancelled' ? ofTask((task) => onCancelled(world, task), data.task_id) : []),
        ...ofTask((task) => cancelMerge(task, data), data.task_id),
        ...ofTask((task) => afterPhaseMove(world, task, data), data.task_id),
        ...ofTask((task) => setStallTimer(world, task, seq), data.task_id),
      ];
    case 'ChecksFinished':
    case 'PullRequestPublished':
      return ofTask((task) => onNewHead(world, task, data), data.task_id);
    case 'SessionMeasured':
      return ofTask((task) => onMeasured(world, task), data.task_id);
    case 'MergeHeld':
      return ofTask((task) => openProtectedDecision(world, task), data.task_id);
    case 'MainMoved':
      return onMainMoved(world, data);
    case 'MergeFinished':
      return ofTask((task) => onMerged(world, task, data), data.task_id);
    case 'HandoffDelivered':
      if (data.to === 'fixer-agent') return ofTask((task) => reviewRounds(world, task), data.task_id);
      return retryError(world, data);
    case 'TaskReinstated':
      return onUnblocked(world, data.task_id, 'the task was reinstated');
    case 'TaskCreated':
      return ofTask((task) => [...holdAtCheckpoint(world, task), ...setStallTimer(world, task, seq)], data.task_id);
    case 'ClaimBlocked':
    case 'ClaimFailed':
    case 'ClaimReleased':
      return [
        ...onClaimEnd(world, type, data),
        ...ofTask((task) => onUnclosed(world, task, data.reason), data.task_id),
      ];
    case 'ClaimCompleted':
    case 'ClaimExpired':
    case 'ClaimRevoked':
      return onClaimEnd(world, type, data);
    default:
      return [];
  }
}

/** On a task that entered a phase. If it only returned there, people have been asked before. */
function afterPhaseMove(world: EngineContext, task: Task, { from, to }: EventOf<'PhaseMoved'>['data']): Event[] {
  const isBack = from === 'BLOCKED' || (from === 'REVIEW' && to === 'READY_FOR_REVIEW');
  return [...requestPull(world, task), ...onCiPending(world, task), ...(isBack ? [] : holdAtCheckpoint(world, task))];
}
