import {
  type ClaimEndType,
  type Event,
  type EventOf,
  type EventType,
  HOW_CLAIM_ENDED,
  type MoveCause,
  type RecordedEvent,
} from '../state/event.ts';
import { rulesInForce } from '../state/rules.ts';
import type { AgentRun } from '../state/runs/agent-run.ts';
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
import { onBlocked, retryError, restartStallTimer, reviewRounds, setStallTimer } from './blocked.ts';
import { endTimeBudget, timeBudgets, watchBudgets } from './budgets.ts';
import { cancelPipeline, clearCompleted, onCancelled } from './cancel.ts';
import {
  onClaimEnd,
  onExitSignal,
  onReturned,
  onSignal,
  onUnblocked,
  onUnclosed,
  onUnclosedByError,
} from './claims.ts';
import type { EngineContext, EngineInputs } from './context.ts';
import { onCompleted, onDecision, onWithdrawn } from './decisions/answer.ts';
import { askQuestions } from './decisions/ask-question.ts';
import { fillCapacity } from './dispatch.ts';
import { afterAgent, endAgent } from './end-agent.ts';
import { closeGithubIssue, onGithubIssueClosed } from './github-issue.ts';
import { askAboutVerdict } from './decisions/confirm-verdict.ts';
import { holdAtCheckpoint } from './decisions/hold-task.ts';
import { onAnswerWithdrawn } from './decisions/lapse.ts';
import { onHostRemoved } from './fleet/removed-host.ts';
import { onMainMoved } from './main-moved.ts';
import { makesRoom } from './makes-room.ts';
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
import { sendNote } from './notes.ts';
import { askAboutReport, withdrawReports } from './decisions/check-report.ts';
import { askAboutProposals } from './decisions/proposals.ts';
import { notifyAttention } from './decisions/notify.ts';
import { askAfterAgent, askAfterPipeline, beginStepsAfterExit } from './overspent.ts';
import { onCommand, onPipelineEnd, onTimer } from './pipelines.ts';
import { beginStep, enterPipeline, finishStep, runStep } from './steps.ts';

/**
 * (state, entry) → the entries that follow from it, including requests for effects, recorded in the same commit. The
 * state includes the entry and everything decided together with it. Each rule uses the current state, because the entry
 * may be outdated by then.
 */
export function react(state: State, recorded: RecordedEvent, tools: EngineInputs): readonly Event[] {
  const world: EngineContext = { ...tools, rules: rulesInForce(state, tools.rules), state };
  const followed = dropRepeatedCancellations(reactionsTo(world, recorded));
  if (!makesRoom(world, recorded, followed)) return followed;
  // The opened decision makes room itself. Work that depends on its answer must not start first.
  if (followed.some(({ type, data }) => type === 'DecisionOpened' && data.source === 'budget')) return followed;
  // A task that is about to be held must not be claimed first. `TaskHeld` makes room itself.
  if (followed.some(({ type }) => type === 'TaskHeld')) return followed;
  // The task's move is recorded with this entry. The move decides whether the task is held, and makes room.
  if (isYetToMove(world, recorded)) return followed;
  // A run that ends with its claim makes room when it has ended. Until then its worker must not get more work.
  if (HOW_CLAIM_ENDED.has(recorded.type) && followed.length > 0) return followed;
  return [...followed, ...fillCapacity(world, (task) => isBeforeCheckpoint(task, recorded, followed))];
}

/**
 * Whether a move of the task is still to come. Its rule may ask a person first and makes room itself, so until then no
 * worker may claim the task.
 */
function isBeforeCheckpoint({ id, flow }: Task, { seq }: RecordedEvent, followed: readonly Event[]): boolean {
  if (flow.mode === null || flow.mode === 'autonomous') return false;
  return flow.movedAt > seq || followed.some(({ type, data }) => type === 'PhaseMoved' && data.task_id === id);
}

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

/** The causes with which a task leaves BLOCKED without a person. */
const RETURN_CAUSES: ReadonlySet<string> = new Set<MoveCause>(['retried', 'claim-restored']);

type Data<T extends EventType> = EventOf<T>['data'];
type Rule<T extends EventType> = (
  world: EngineContext,
  data: Data<T>,
  recorded: RecordedEvent & EventOf<T>,
) => readonly Event[];

/** The rules of every entry type that has any, in order. */
const RULES: { readonly [T in EventType]?: Rule<T> } = {
  PipelineStarted: ofPipeline((_world, run) => enterPipeline(run)),
  StepStarted: ofPipeline((world, run, { visit }) => beginStep(world, run, visit)),
  WorkspacePrepared: ofPipeline((world, run) => runStep(world, run)),
  WorkspaceFailed: ofPipeline((world, run, { reason }) =>
    finishStep(world, run, { outcome: 'failed', reason, output: null }),
  ),
  PipelineCancelRequested: ofPipeline((world, run, { reason }) => cancelPipeline(world, run, reason)),
  PipelineFinished: all(
    onPipelineEnd,
    ofPipeline((world, run) => askAfterPipeline(world, run)),
  ),
  CommandFinished: onCommand,
  TimerFired: onTimer,
  AgentSignalled: onSignal,
  AgentSessionCompleted: onExitSignal,
  AgentIdle: ofAgent(onIdle),
  AgentSilent: ofAgent(onSilent),
  AgentHeard: ofAgent(onHeard),
  AgentStop: ofAgent(onStop),
  AgentPrompted: ofAgent((world, agent, { prompt }) => onPrompt(world, agent, prompt)),
  // Includes time budgets, because the clock may have been changed since their timer was set.
  SessionUsed: ofAgent(watchBudgets, timeBudgets, askAfterAgent),
  AgentRequested: ofAgent(watchBudgets),
  // Includes an agent that a person had attached to, because its use was not limited meanwhile.
  AgentResumeRequested: ofAgent(watchBudgets),
  AgentStarted: ofAgent(timeBudgets),
  AgentUnparked: ofAgent(watchBudgets, timeBudgets),
  AgentErrored: ofAgent(onError),
  AgentExited: ofAgent(onExit, afterProcess),
  AgentStartFailed: ofAgent((world, agent, { reason }) => onStartFailed(world, agent, reason), afterProcess),
  AgentKillRequested: ofAgent((world, agent, { reason }) => endAgent(world, agent, 'cancelled', reason)),
  AgentAttachRequested: ofAgent(onAttach),
  AgentEnded: ofAgent((world, { id }) => endTimeBudget(world, { kind: 'agent', id }), afterAgent),
  MessageDelivered: ofAgent((world, agent, { ok, reason }) => (ok ? [] : onUndelivered(world, agent, reason))),
  DecisionOpened: (world, { adopts, title, context, decision_id }) =>
    adopts === undefined ? [] : [notifyAttention(world, title, context, decision_id)],
  DecisionAnswerWithdrawn: onAnswerWithdrawn,
  DecisionResolved: onDecision,
  DecisionWithdrawn: onWithdrawn,
  PhaseMoved: onMove,
  CheckQuestioned: ofTask(askAboutReport),
  CheckFinished: ofTask(withdrawReports),
  ChecksRequested: ofTask(withdrawReports),
  ChecksFinished: ofTask(withdrawReports, (world, task, data) => onNewHead(world, task, data)),
  PullRequestPublished: ofTask((world, task, data) => onNewHead(world, task, data)),
  ResultSubmitted: ofTask(askQuestions),
  SessionMeasured: ofTask(onMeasured),
  MergeHeld: ofTask(openProtectedDecision),
  VerdictUnproven: ofTask(askAboutVerdict),
  MainMoved: onMainMoved,
  MergeFinished: ofTask(onMerged),
  GithubIssueClosed: ofTask(onGithubIssueClosed),
  HandoffDelivered: (world, data, recorded) =>
    data.to === 'fixer-agent' ? ofTask(reviewRounds)(world, data, recorded) : retryError(world, data),
  NoteAdded: ofTask(sendNote),
  TaskReinstated: onReinstated,
  TaskProposed: (world, { root }) => askAboutProposals(world, root),
  TaskCreated: ofTask(onCiPending, holdAtCheckpoint, (world, task, _data, { seq }) => setStallTimer(world, task, seq)),
  ClaimBlocked: all(onEnd, ofTask(onUnclosed)),
  ClaimFailed: all(onEnd, ofTask(onUnclosed)),
  ClaimReleased: all(onEnd, ofTask(onUnclosed)),
  ClaimCompleted: all(onEnd, ofTask(onUnclosedByError)),
  ClaimExpired: onEnd,
  ClaimRevoked: onEnd,
  HostRemoved: onHostRemoved,
};

function reactionsTo(world: EngineContext, recorded: RecordedEvent): readonly Event[] {
  // A type's rule takes the data of that type. The table ensures that, but only for one type at a time.
  const rule = RULES[recorded.type] as Rule<EventType> | undefined; // oxlint-disable-line typescript/no-unsafe-type-assertion
  return rule?.(world, recorded.data, recorded) ?? [];
}

function all<D, R>(...rules: readonly ((world: EngineContext, data: D, recorded: R) => readonly Event[])[]) {
  return (world: EngineContext, data: D, recorded: R) => rules.flatMap((rule) => rule(world, data, recorded));
}

type About<S, D, R> = (world: EngineContext, subject: S, data: D, recorded: R) => readonly Event[];

/** Runs rules with the agent that the entry names. Nothing follows if there is no such agent. */
function ofAgent<D extends { readonly agent_id: string }, R>(...rules: readonly About<AgentRun, D, R>[]) {
  return about<AgentRun, D, R>(({ agents }, { agent_id }) => agents.get(agent_id), rules);
}

function ofPipeline<D extends { readonly pipeline_id: string }, R>(...rules: readonly About<PipelineRun, D, R>[]) {
  return about<PipelineRun, D, R>(({ pipelines }, { pipeline_id }) => pipelines.get(pipeline_id), rules);
}

function ofTask<D extends { readonly task_id: string }, R>(...rules: readonly About<Task, D, R>[]) {
  return about<Task, D, R>(({ tasks }, { task_id }) => tasks.get(task_id), rules);
}

function about<S, D, R>(find: (state: State, data: D) => S | undefined, rules: readonly About<S, D, R>[]) {
  return (world: EngineContext, data: D, recorded: R): readonly Event[] => {
    const subject = find(world.state, data);
    return subject === undefined ? [] : rules.flatMap((rule) => rule(world, subject, data, recorded));
  };
}

function onEnd(world: EngineContext, data: Data<ClaimEndType>, { type }: EventOf<ClaimEndType>): Event[] {
  return onClaimEnd(world, type, data);
}

/**
 * Withdraws the questions about the finished work. An agent can reinstate only completed work, so it cannot remove any
 * other question.
 */
function onReinstated(world: EngineContext, { task_id, by, reason }: Data<'TaskReinstated'>): Event[] {
  return onUnblocked(world, task_id, by === undefined ? 'the task was reinstated' : `reinstated by ${by}: ${reason}`);
}

function onMove(
  world: EngineContext,
  data: Data<'PhaseMoved'>,
  recorded: RecordedEvent & EventOf<'PhaseMoved'>,
): Event[] {
  const { from, to, task_id } = data;
  const moved = world.state.tasks.get(task_id);
  // The question was about the previous phase.
  const held = to === 'COMPLETED' && from !== to ? moved?.flow.held?.decisionId : undefined;
  const task = held === undefined || moved === undefined ? moved : { ...moved, flow: { ...moved.flow, held: null } };
  const isBlocked = to === 'BLOCKED' && task !== undefined;
  return [
    ...(from === 'BLOCKED' && to !== 'BLOCKED' ? onLeftBlocked(world, data) : []),
    ...(isBlocked ? [...onBlocked(world, task, recorded), ...closePullOfCancelled(world, task, data)] : []),
    ...(to === 'COMPLETED' ? onCompleted(world, task_id, held) : []),
    ...(to === 'COMPLETED' && task !== undefined ? closeGithubIssue(world, task, data) : []),
    ...(to === 'COMPLETED' && from !== to && task !== undefined ? clearCompleted(task) : []),
    ...(task === undefined ? [] : onMoved(world, task, recorded)),
  ];
}

function onLeftBlocked(world: EngineContext, { cause, task_id }: Data<'PhaseMoved'>): Event[] {
  return RETURN_CAUSES.has(cause) ? onReturned(world, task_id) : onUnblocked(world, task_id, 'the task was unblocked');
}

/** The rules of a phase. If the task only returned to it, people were asked before. */
function onMoved(world: EngineContext, task: Task, { data, seq }: RecordedEvent & EventOf<'PhaseMoved'>): Event[] {
  const { from, to, cause } = data;
  const isBack = from === 'BLOCKED' || (from === 'REVIEW' && to === 'READY_FOR_REVIEW');
  return [
    ...(cause === 'cancelled' ? onCancelled(world, task) : []),
    ...cancelMerge(task, data),
    ...requestPull(world, task),
    ...onCiPending(world, task),
    // A person who sent the task here has already decided.
    ...(isBack || cause === 'decision' ? [] : holdAtCheckpoint(world, task)),
    ...restartStallTimer(world, task, seq),
  ];
}
