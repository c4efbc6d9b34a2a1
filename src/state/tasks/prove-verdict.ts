import { isBuiltInRole, isSeparated, type Judge, useTheTool, VERDICT_TOOLS } from '../../protocol/handoff/judge.ts';
import { type Caller, isOperator } from '../caller.ts';
import { event, type Event, type EventOf } from '../event.ts';
import { decided, type Outcome, refusal } from '../outcome.ts';
import type { Rules } from '../rules.ts';
import type { AgentRun } from '../runs/agent-run.ts';
import { agentsOfClaim } from '../runs/find-run.ts';
import type { State } from '../state.ts';
import { type Claim, isApproval, type Task } from './task.ts';

/**
 * An approval counts if a person gives it, if a built-in role does, or if the judge's own client sent it and no code
 * under judgement shares the client's identity. Any other approval moves nothing: it is recorded with what it asks for,
 * and a person confirms it, unless the person's own configuration accepts it. A rejection needs no proof.
 */
export function holdUnprovenVerdict<A>(state: State, caller: Caller, given: Rules, outcome: Outcome<A>): Outcome<A> {
  if (!outcome.ok || caller.kind === 'operator' || caller.kind === 'system') return outcome;
  const approval = outcome.events.find(isApprovalEvent);
  const task = approval && state.tasks.get(approval.data.task_id);
  if (approval === undefined || task === undefined || task.claim === null) return outcome;
  const unproven = findUnproven(state, caller, task.claim, given);
  if (unproven === undefined) return outcome;
  const { epoch, sessionId: session_id, holder, principal } = task.claim;
  const { because } = unproven;
  const about = { task_id: task.id, epoch, session_id, holder, principal, because };
  if (unproven.unseparated === 'accept')
    return decided([...outcome.events, event('VerdictUnproven', { ...about, held: null })], outcome.answer);
  const held = heldBy(task, approval, outcome.events);
  const kept = outcome.events.filter((each) => !WITHHELD.has(each.type)).map(withoutMove);
  return decided([...kept, event('VerdictUnproven', { ...about, held })], withoutMoved(outcome.answer));
}

type ApprovalEvent = EventOf<'PhaseMoved'> | EventOf<'MergeRequested'>;

function isApprovalEvent(each: Event): each is ApprovalEvent {
  return each.type === 'MergeRequested' || (each.type === 'PhaseMoved' && isApproval(each.data.from, each.data.to));
}

/** What an approval does. It waits for the person, who sees it in the decision. */
const WITHHELD: ReadonlySet<string> = new Set(['PhaseMoved', 'HandoffDelivered', 'MergeRequested']);

function heldBy(
  task: Task,
  approval: ApprovalEvent,
  events: readonly Event[],
): NonNullable<EventOf<'VerdictUnproven'>['data']['held']> {
  if (approval.type === 'MergeRequested') {
    const { merge_id, handoff } = approval.data;
    return { to: 'COMPLETED', next_role: handoff?.next_role ?? null, handoff, merge_id };
  }
  const delivered = events.find((each) => each.type === 'HandoffDelivered' && each.data.task_id === task.id);
  const handoff = delivered?.type === 'HandoffDelivered' ? delivered.data : null;
  const { to, next_role } = approval.data;
  return { to, next_role, handoff, merge_id: null };
}

/** The session has ended, but it has moved nothing yet. */
function withoutMove(each: Event): Event {
  return each.type === 'AgentSessionCompleted' ? { ...each, data: { ...each.data, next_phase: null } } : each;
}

function withoutMoved<A>(answer: A): A {
  if (typeof answer !== 'object' || answer === null) return answer;
  const moved = 'next_phase' in answer ? { next_phase: null } : {};
  return { ...answer, ...moved, ...('status' in answer ? { status: 'in_progress' } : {}) };
}

interface Unproven extends Pick<EventOf<'VerdictUnproven'>['data'], 'because'>, Pick<Judge, 'unseparated'> {}

/** Returns why the approval is not proven; undefined if it is. */
function findUnproven(
  state: State,
  caller: Caller,
  { sessionId, principal }: Claim,
  { unseparated = 'ask' }: Rules,
): Unproven | undefined {
  // A person who claimed the task judges it.
  if (isOperator(principal)) return undefined;
  const agents = agentsOfClaim(state, sessionId);
  if (agents.length > 0 && agents.every(({ plan }) => isBuiltInRole(plan))) return undefined;
  const judge = agents.find((agent) => isMatchedBy(agent, caller))?.judge ?? agents.find(isJudge)?.judge;
  if (judge === undefined) return { because: 'client', unseparated };
  const isMatched = agents.some((agent) => isMatchedBy(agent, caller));
  if (isMatched && isSeparated(judge)) return undefined;
  return { because: isMatched ? 'shell' : 'client', unseparated: judge.unseparated };
}

function isJudge({ judge }: AgentRun): boolean {
  return judge !== undefined;
}

function isMatchedBy({ id, judge }: AgentRun, caller: Caller): boolean {
  return caller.kind === 'session' && caller.matched === id && judge?.stream === true;
}

/**
 * Refuses a message in the name of a separated judge, unless its supervisor has matched it with the client's output:
 * whoever has stolen the session's token can send no verdict with it, whichever way it takes to the daemon.
 */
export function findUnmatchedCall(
  state: State,
  kind: string,
  command: unknown,
  caller: Caller,
): ReturnType<typeof refusal> | undefined {
  const tool = VERDICT_TOOLS.get(kind);
  if (caller.kind !== 'session' || tool === undefined || isProgress(kind, command)) return undefined;
  const judges = agentsOfClaim(state, caller.sessionId).filter(
    ({ judge }) => judge !== undefined && isSeparated(judge),
  );
  if (judges.length === 0 || judges.some((agent) => isMatchedBy(agent, caller))) return undefined;
  const { code, message, hint } = useTheTool(tool);
  return refusal(code, message, hint);
}

/** Progress and signs of life move nothing. */
function isProgress(kind: string, command: unknown): boolean {
  if (typeof command !== 'object' || command === null) return false;
  if (kind === 'update-task') return 'status' in command && command.status === 'in_progress';
  return kind === 'signal-agent' && 'signal' in command && command.signal === 'continue';
}
