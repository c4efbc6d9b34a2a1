import type { AgentPlan } from '../../protocol/run-plan.ts';
import { agentPrincipal } from '../caller.ts';
import type { FindingKind } from '../../protocol/shape/shared-fields.ts';
import { event, type Event, type EventOf, type Events } from '../event.ts';
import { decided, type Outcome, refusal } from '../outcome.ts';
import type { Rules } from '../rules.ts';
import type { State } from '../state.ts';
import { checkIsNotAuthor } from '../tasks/judging.ts';
import { JUDGED_PHASES, type Task } from '../tasks/task.ts';
import { finishTask } from '../tasks/update-task.ts';
import {
  type Decision,
  type DecisionAction,
  type DecisionOption,
  OPTION_LABELS,
  type PendingAnswer,
} from './decision.ts';
import { excerptStart } from './excerpt.ts';
import { nameOption, refuseAnswered, refuseUnknownDecision } from './pending-answer.ts';

interface ResolveDecision {
  readonly id: string;
  /** The number of the option, starting at 1. */
  readonly option: number;
  readonly message?: string;
  /** For `hand_over`: the agent that the caller named, as defined in the runbook. */
  readonly handTo?: AgentPlan;
  /** When the answer takes effect; default: at once. */
  readonly effectiveAt?: string;
}

export interface Resolved {
  readonly id: string;
  readonly option: number;
  readonly action: DecisionAction;
  /** Null if the answer is in effect. */
  readonly effectiveAt: string | null;
}

/** Answers a decision. A repeated answer returns the first one; a different answer is refused. */
export function decideResolveDecision(state: State, command: ResolveDecision, rules: Rules): Outcome<Resolved> {
  const { id, option, message, handTo, effectiveAt } = command;
  const decision = state.decisions.get(id);
  if (decision === undefined) return refuseUnknownDecision(id);
  const chosen = decision.options[option - 1];
  if (chosen === undefined) {
    const most = decision.options.length;
    return refusal('no-such-option', `decision ${id} has no option ${option}`, `Choose one of 1 to ${most}.`);
  }
  const { result, answer: pending } = decision;
  const { action } = chosen;
  const answer = { id, option, action, effectiveAt: effectiveAt ?? null };
  if (result?.kind === 'resolved' && result.option === option) return decided([], { ...answer, effectiveAt: null });
  if (result !== null) return refuseSettled(decision);
  if (pending !== undefined)
    return isRepeated(pending, command)
      ? decided([], { ...answer, effectiveAt: pending.effectiveAt })
      : refuseAnswered(decision, pending);
  const complete = checkAnswer(state, decision, action, { option, message: message ?? null, handTo }, rules);
  if (!complete.ok) return complete;
  const given = action === 'hand_over' && handTo !== undefined ? { hand_to: handTo } : {};
  const resolved = { decision_id: id, option, action, message: message ?? null, ...given };
  return decided(
    [
      effectiveAt === undefined
        ? event('DecisionResolved', resolved)
        : event('DecisionAnswered', { ...resolved, effective_at: effectiveAt }),
    ],
    answer,
  );
}

/** Reports whether the answer repeats the pending one. An answer with immediate effect is a different one. */
function isRepeated(pending: PendingAnswer, { option, message, handTo, effectiveAt }: ResolveDecision): boolean {
  const isSame = pending.message === (message ?? null) && pending.handTo?.name === handTo?.name;
  return isSame && pending.option === option && effectiveAt !== undefined;
}

interface AnswerDecisions {
  readonly answers: readonly Omit<ResolveDecision, 'handTo' | 'effectiveAt'>[];
  readonly effectiveAt: string;
}

/** Answers several decisions in one commit: all of them, or none. */
export function decideAnswerDecisions(
  state: State,
  { answers, effectiveAt }: AnswerDecisions,
  rules: Rules,
): Outcome<readonly Resolved[]> {
  const events: Event[] = [];
  const given: Resolved[] = [];
  for (const each of answers) {
    if (given.some(({ id }) => id === each.id)) {
      const message = `decision ${each.id} is answered twice in one request`;
      return refusal('answer-pending', message, 'Send one answer for each decision.');
    }
    const outcome = decideResolveDecision(state, { ...each, effectiveAt }, rules);
    if (!outcome.ok) {
      const { code, message, hint } = outcome.refusal;
      const which = `answer ${given.length + 1} of ${answers.length}, to decision ${each.id}; none was recorded`;
      return refusal(code, `${message} (${which})`, hint);
    }
    events.push(...outcome.events);
    given.push(outcome.answer);
  }
  return decided(events, given);
}

interface ApplyAnswer {
  readonly id: string;
  /** Seq of the answer's entry, which distinguishes it from a later answer with its own time. */
  readonly seq: number;
}

/** Puts an answer into effect once. If it is no longer possible, it lapses and the decision waits for another one. */
export function decideApplyAnswer(state: State, { id, seq }: ApplyAnswer, rules: Rules): Outcome<null> {
  const decision = state.decisions.get(id);
  const { answer } = decision ?? {};
  if (decision === undefined || answer?.seq !== seq) return decided([], null);
  const { option, action, message, handTo, by } = answer;
  const possible = checkAnswer(state, decision, action, { option, message, handTo }, rules);
  if (!possible.ok) {
    const { message: reason } = possible.refusal;
    return decided([event('DecisionAnswerWithdrawn', { decision_id: id, reason })], null);
  }
  const to = handTo === undefined ? {} : { hand_to: handTo };
  return decided([event('DecisionResolved', { decision_id: id, option, action, message, ...to, by })], null);
}

/** Requires a note for work that is sent back, and a suitable agent for work that is handed over. */
function checkAnswer(
  state: State,
  { id, source, options, taskId, agentId }: Decision,
  action: DecisionAction,
  { option, message, handTo }: Pick<PendingAnswer, 'option' | 'message'> & { readonly handTo: AgentPlan | undefined },
  rules: Rules,
): Outcome<null> {
  // For a merge that is held back, Baton's own finding serves as the note.
  if (action === 'send_back' && source !== 'merge' && (message ?? '').trim() === '') {
    const hint = `Say what must change: baton decision resolve ${id} ${option} -m "…"`;
    return refusal('no-note', 'work cannot be sent back without a note', hint);
  }
  if (action !== 'hand_over') return handTo === undefined ? decided([], null) : refuseAgent(options, option);
  if (handTo === undefined) {
    const hint = `Name the agent: baton decision resolve ${id} ${option} --agent NAME (see: baton runbook list)`;
    return refusal('no-agent-named', 'the decision does not name the agent that gets the work', hint);
  }
  const task = state.tasks.get(taskId ?? state.agents.get(agentId ?? '')?.task?.task_id ?? '');
  const role = task?.claim?.role ?? task?.nextRole ?? null;
  if (role !== null && handTo.role !== undefined && handTo.role !== role) {
    const message = `agent ${handTo.name} plays ${handTo.role}, but the next role is ${role}`;
    return refusal('wrong-role', message, 'Name an agent of that role: baton runbook list');
  }
  // An author must not play a judging role. The open decision itself is no obstacle.
  if (task !== undefined && JUDGED_PHASES.has(task.blocked?.from ?? task.phase))
    return checkIsNotAuthor(task, agentPrincipal(handTo.name), rules);
  return decided([], null);
}

/** Refuses an agent for other actions, because a mistyped number must not start something else. */
function refuseAgent(options: Decision['options'], option: number): ReturnType<typeof refusal> {
  const other = options.findIndex(({ action }) => action === 'hand_over') + 1;
  const hint =
    other === 0 ? 'Leave --agent out.' : `Leave --agent out, or choose ${other} (${OPTION_LABELS.hand_over}).`;
  const message = `option ${option} (${options[option - 1]?.label ?? ''}) hands the work to no agent`;
  return refusal('no-hand-over', message, hint);
}

export function findOption({ options }: Decision, ...actions: readonly DecisionAction[]): number | undefined {
  for (const action of actions) {
    const at = options.findIndex((option) => option.action === action);
    if (at >= 0) return at + 1;
  }
  return undefined;
}

function refuseSettled({ id, options, result }: Decision): ReturnType<typeof refusal> {
  const hint = `See the decision: baton decision show ${id}`;
  if (result?.kind !== 'resolved')
    return refusal('decision-withdrawn', `decision ${id} was withdrawn: ${result?.reason ?? ''}`, hint);
  const { option, by, at } = result;
  const chosen = nameOption({ options }, option);
  return refusal('decision-resolved', `decision ${id} was resolved by ${by} at ${at}: ${chosen}`, hint);
}

/** A contradiction between a task and git that a person must settle. */
export interface RaisedFinding {
  readonly decisionId: string;
  readonly taskId: string;
  readonly kind: FindingKind;
  /** The text that identifies the finding: a person is not asked twice about the same text. */
  readonly context: string;
  readonly remedy: 'reinstate' | 'complete' | null;
  /** The task's state at the comparison; a finding about an older state is dropped. */
  readonly epoch: number;
  readonly movedAt: number;
}

export interface RaiseFindings {
  /** All current findings: open decisions about others are withdrawn. */
  readonly findings: readonly RaisedFinding[];
  /** The tasks that were compared, if not all: only their decisions can be withdrawn. */
  readonly about?: readonly string[];
}

export interface RaiseResult {
  readonly asked: readonly string[];
}

/** Opens one decision per finding, and withdraws it when the finding is gone. */
export function decideRaiseFindings(
  state: State,
  { findings, about }: RaiseFindings,
  rules: Rules,
): Outcome<RaiseResult> {
  const known = [...state.decisions.values()].filter(({ source }) => source === 'reconcile');
  const open = known.filter(({ result }) => result === null);
  const isCompared = ({ taskId }: Decision): boolean => about === undefined || about.includes(taskId ?? '');
  const over = open.filter(
    (decision) => isCompared(decision) && !findings.some((finding) => isAbout(decision, finding)),
  );
  const standing = known.filter(({ result }) => result?.kind !== 'withdrawn');
  const fresh = findings
    .filter((finding) => !standing.some((decision) => isAbout(decision, finding)))
    .flatMap((finding) => {
      const task = state.tasks.get(finding.taskId);
      return task !== undefined && isAsItWas(task, finding) ? [{ finding, task }] : [];
    })
    .slice(0, Math.max(0, MOST_OPEN - (open.length - over.length)));
  const events = [
    ...over.map(({ id }) => event('DecisionWithdrawn', { decision_id: id, reason: 'it fits again' })),
    ...fresh.map(({ finding: { decisionId, taskId, kind, context, remedy }, task }) =>
      decisionOpenedEvent(decisionId, {
        source: 'reconcile',
        title: `Task needs attention: ${taskId} does not match git`,
        context,
        options: optionsFor(task, remedy, rules),
        task_id: taskId,
        finding: kind,
      }),
    ),
  ];
  return decided(events, { asked: fresh.map(({ finding }) => finding.decisionId) });
}

/** A rewritten history contradicts all tasks at once, and a person cannot answer hundreds of decisions. */
const MOST_OPEN = 50;

function isAbout({ taskId, context }: Decision, finding: RaisedFinding): boolean {
  return taskId === finding.taskId && context === excerptStart(finding.context);
}

/** A claimed task, or one that is being merged, is about to change, and is compared again later. */
function isAsItWas({ epoch, claim, flow }: Task, finding: RaisedFinding): boolean {
  return claim === null && flow.merge === null && epoch === finding.epoch && flow.movedAt === finding.movedAt;
}

/** The options that are possible. */
function optionsFor(task: Task, remedy: RaisedFinding['remedy'], rules: Rules): Question['options'] {
  const leave = { label: OPTION_LABELS.dismiss, action: 'dismiss' } as const;
  if (remedy === 'reinstate') return [{ label: 'Reinstate the task', action: 'retry' }, leave];
  if (remedy === 'complete' && finishTask(task, null, rules, []).ok)
    return [{ label: OPTION_LABELS.done, action: 'done' }, leave];
  return [leave];
}

type Opened = Events['DecisionOpened'];

/** The first option is recommended, unless `recommends` names another action; null recommends none. */
export type Question = Pick<Opened, 'source' | 'title' | 'context'> &
  Partial<Omit<Opened, 'decision_id' | 'options'>> & {
    readonly options: readonly Omit<DecisionOption, 'recommended'>[];
    readonly recommends?: DecisionAction | null;
  };

export function decisionOpenedEvent(
  id: string,
  { options, recommends = options[0]?.action, ...question }: Question,
): EventOf<'DecisionOpened'> {
  const recommended = options.findIndex(({ action }) => action === recommends);
  return event('DecisionOpened', {
    agent_id: null,
    pipeline_id: null,
    task_id: null,
    ...question,
    decision_id: id,
    context: excerptStart(question.context),
    options: options.map((option, i) => ({ ...option, recommended: i === recommended })),
  });
}
