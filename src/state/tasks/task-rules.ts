import type { Constraint } from '../../protocol/agent-session-completed.ts';
import type { Mission } from '../../protocol/mission.ts';
import type { Phase } from '../../protocol/phase.ts';
import { event, type Event } from '../event.ts';
import { decided, type Outcome, refusal, type Refusal } from '../outcome.ts';
import { findAdoption, type Rules } from '../rules.ts';
import type { State } from '../state.ts';
import { refuseUnknownTask } from './create-task.ts';
import { returnFromBlocked } from './operate-task.ts';
import { isCancelled, type Task } from './task.ts';
import { refuseCompleted, refuseCancelled } from './update-task.ts';

/** Moves workflows from the rules with which they were started to the rules in force. */
export interface MoveTaskRules {
  readonly ids: readonly string[];
}

interface Moved {
  readonly moved: readonly string[];
  /** Those that were blocked by a limit, which the rules in force do not set or set higher. */
  readonly released: readonly string[];
}

/** Moves all of the tasks or none. A task that follows the rules in force already stays as it is. */
export function decideMoveTaskRules(state: State, { ids }: MoveTaskRules, rules: Rules): Outcome<Moved> {
  const events: Event[] = [];
  const answer = { moved: new Set<string>(), released: new Set<string>() };
  for (const id of new Set(ids)) {
    const task = state.tasks.get(id);
    if (task === undefined) return refuseUnknownTask(id);
    const refused = refuseMove(task);
    if (refused !== undefined) return refused;
    const moves = moveRules(state, task);
    const isReleased = moves.length > 0 && isReleasedBy(state, task, rules.constraints);
    const why = { cause: 'unblocked', reason: 'the rules in force allow what blocked it' } as const;
    events.push(...moves, ...(isReleased ? returnFromBlocked(task, why, rules) : []));
    if (moves.length > 0) answer.moved.add(id);
    if (isReleased) answer.released.add(id);
  }
  return decided(events, { moved: [...answer.moved], released: [...answer.released] });
}

/** The entry that moves a task to the rules in force; empty if it follows them already, or may not be moved. */
export function moveRules(state: State, task: Task): Event[] {
  const inForce = findAdoption(state)?.sha256;
  const previous = task.flow.runbook;
  if (inForce === undefined || previous === null || previous === inForce || refuseMove(task) !== undefined) return [];
  return [event('TaskRulesMoved', { task_id: task.id, runbook: inForce, previous })];
}

/** Checks, approvals and merges follow one runbook, so the rules stay from the checks on, and during a session. */
function refuseMove(task: Task): { readonly ok: false; readonly refusal: Refusal } | undefined {
  const { id, claim, phase, blocked } = task;
  if (phase === 'COMPLETED') return refuseCompleted(task);
  if (isCancelled(task)) return refuseCancelled(task);
  if (claim !== null) {
    const hint = 'Wait until the session has ended, or release its claim: baton task release';
    return refusal('already-claimed', `task ${id} is claimed by ${claim.holder}`, hint);
  }
  if (BEFORE_JUDGEMENT.has(blocked?.from ?? phase)) return undefined;
  const message = `task ${id} is being judged by the rules with which it was started`;
  return refusal('being-judged', message, `Bring it back to work first: baton task reinstate ${id} --reason TEXT`);
}

const BEFORE_JUDGEMENT: ReadonlySet<Phase> = new Set(['DRAFT', 'IMPLEMENTATION']);

/** The open work with its own rules that a limit blocks, and that the rules in force would release. */
export function findReleasedTasks(state: State, rules: Rules): readonly string[] {
  return [...state.tasks.values()].flatMap((task) =>
    moveRules(state, task).length > 0 && isReleasedBy(state, task, rules.constraints) ? [task.id] : [],
  );
}

/** The constraints because of which the task is blocked, although its session said that it had completed the work. */
export function blockingConstraints(state: State, { blocked, endings, flow }: Task): readonly Constraint[] {
  const session = state.sessions.get(endings.at(-1)?.sessionId ?? '');
  const isRefuted = blocked !== null && session?.exit?.claimed_exit_reason === 'completed';
  return isRefuted ? (flow.unfit?.broken ?? []) : [];
}

function isReleasedBy(state: State, task: Task, constraints: Mission['constraints'] = {}): boolean {
  const broken = blockingConstraints(state, task);
  const { unfit, waived = [] } = task.flow;
  const allows = (name: Constraint): boolean => {
    if (waived.includes(name)) return true;
    if (name !== 'max_files') return constraints[name] !== true;
    return constraints.max_files === undefined || (unfit?.files ?? Number.POSITIVE_INFINITY) <= constraints.max_files;
  };
  return broken.length > 0 && broken.every(allows);
}
