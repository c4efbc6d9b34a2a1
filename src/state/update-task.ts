import type { TaskUpdate } from '../protocol/task-update.ts';
import type { Caller } from './caller.ts';
import { requireClaim } from './caller.ts';
import { abandonClaim, endClaim, moveTo } from './claim-task.ts';
import { noSuchTask } from './create-task.ts';
import type { Event } from './event.ts';
import { event } from './event.ts';
import { decided, refusal, type Outcome } from './outcome.ts';
import { decideRecordThought, type RecordThought } from './record-thought.ts';
import type { Rules } from './rules.ts';
import type { State } from './state.ts';
import { evolveTask } from './evolve-task.ts';
import type { Claim, Task } from './task.ts';
import { requireGates, requireWriteback } from './writeback.ts';

type Updated = Outcome<{ readonly status: TaskUpdate['status'] }>;

/** What a worker, or an operator, says about a task: how far it is, that it is stuck, given back, or done. */
export function decideUpdateTask(state: State, update: TaskUpdate, caller: Caller, rules: Rules): Updated {
  const task = state.tasks.get(update.task_id);
  if (task === undefined) return noSuchTask(update.task_id);
  const held = findClaim(task, caller);
  if (!held.ok) return held;
  const claim = held.answer;
  const told = tellProgress(task, claim, update);
  switch (update.status) {
    case 'done':
      return finish(task, claim, rules, told);
    case 'blocked':
      return block(task, claim, update.notes ?? '', told);
    case 'todo':
      return decided(
        [...told, ...(claim === null ? [] : abandonClaim(task, claim, 'released', update.notes ?? null))],
        update,
      );
    case 'in_progress':
      return decided(told, update);
  }
}

/** The claim that a session writes under; for operators, none. */
function findClaim(task: Task, caller: Caller): Outcome<Claim | null> {
  if (caller.kind === 'worker')
    return refusal('no-claim', `task ${task.id} is not yours`, `Claim it: baton task claim ${task.id}`);
  if (caller.kind !== 'session') return decided([], null);
  const held = requireClaim(task, caller);
  return held.ok ? decided([], held.claim) : held;
}

function tellProgress(task: Task, claim: Claim | null, { progress, notes }: TaskUpdate): Event[] {
  if (progress === undefined && notes === undefined) return [];
  const told = { task_id: task.id, epoch: claim?.epoch ?? null, progress: progress ?? null, notes: notes ?? null };
  return [event('TaskProgressed', told)];
}

/** Done: the record is there, the gates are passed, the claim ends and the task is COMPLETED, in one transaction. */
function finish(task: Task, claim: Claim | null, rules: Rules, told: readonly Event[]): Updated {
  if (task.phase === 'COMPLETED') return decided([], { status: 'done' });
  if (task.phase === 'BLOCKED') {
    return refusal(
      'blocked',
      `task ${task.id} is blocked: ${task.blocked?.reason ?? ''}`,
      `First: baton task unblock ${task.id}`,
    );
  }
  const written = requireWriteback(task, claim);
  if (!written.ok) return written;
  const passed = requireGates(task, rules);
  if (!passed.ok) return passed;
  return decided(
    [...told, ...complete(task, claim ?? task.claim, claim === null ? 'completed by an operator' : 'done')],
    {
      status: 'done',
    },
  );
}

/** The entries of a completion. An operator's ends the claim of whoever was still at it. */
export function complete(task: Task, claim: Claim | null, reason: string): Event[] {
  const ended = claim === null ? [] : endClaim(task, claim, 'completed', null);
  return [...ended, moveTo(task, 'COMPLETED', reason, null)];
}

function block(task: Task, claim: Claim | null, reason: string, told: readonly Event[]): Updated {
  if (task.phase === 'COMPLETED') return refusal('completed', `task ${task.id} is completed`, 'Reinstate it instead.');
  if (task.phase === 'BLOCKED') return decided(told, { status: 'blocked' });
  const live = claim ?? task.claim;
  const ended = live === null ? [] : endClaim(task, live, 'blocked', reason);
  return decided([...told, ...ended, moveTo(task, 'BLOCKED', reason)], { status: 'blocked' });
}

/** The record and the completion in one call, and in one transaction: both, or neither. */
export function decideCompleteTask(state: State, command: RecordThought, caller: Caller, rules: Rules): Updated {
  const recorded = decideRecordThought(state, command, caller);
  if (!recorded.ok) return recorded;
  const task = state.tasks.get(command.record.task_id);
  if (task === undefined) return noSuchTask(command.record.task_id);
  const [first] = recorded.events;
  if (recorded.events.length !== 1 || first?.type !== 'ThoughtRecorded') {
    return refusal(
      'reinstates',
      'a record with status todo reinstates the task; it cannot complete it',
      'Leave the status out.',
    );
  }
  const after = evolveTask(task, { ...first, seq: state.seq + 1, at: '' });
  const held = findClaim(task, caller);
  if (!held.ok) return held;
  const finished = finish(after, held.answer, rules, []);
  return finished.ok ? decided([...recorded.events, ...finished.events], finished.answer) : finished;
}
