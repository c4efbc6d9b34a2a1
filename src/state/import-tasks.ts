import { PROTOCOL_LIMITS } from '../protocol/limits.ts';
import type { SHOWN_STATUSES } from '../protocol/shape/shared-fields.ts';
import { actorOf, type Caller } from './caller.ts';
import type { Event } from './event.ts';
import { decided, type Outcome } from './outcome.ts';
import type { Rules } from './rules.ts';
import { excerptStart } from './runs/excerpt.ts';
import { evolve, layeredState, type State } from './state.ts';
import { phaseMovedEvent } from './tasks/claim-task.ts';
import { type CreateTask, decideCreateTask, foldTitle } from './tasks/create-task.ts';
import { decideOperateTask } from './tasks/operate-task.ts';
import { decideUpdateTask } from './tasks/update-task.ts';

export interface ImportTasks {
  /** The tool or file from which the tasks come; reasons quote it. */
  readonly source: string;
  readonly tasks: readonly ImportedTask[];
}

interface ImportedTask extends CreateTask {
  /** The status in the other tool; default: `todo`. */
  readonly status?: (typeof SHOWN_STATUSES)[number];
  /** Why the task is blocked or cancelled. */
  readonly reason?: string;
}

/**
 * Imports all tasks or none. Each is decided on a copy of the state with those before it. Existing ids are counted and
 * stay unchanged.
 */
export function decideImportTasks(
  state: State,
  { source, tasks }: ImportTasks,
  caller: Caller,
  rules: Rules,
  // The answer has only counts, because an entry records it and entries are small.
): Outcome<{ readonly added: number; readonly existing: number }> {
  const copy = layeredState(state);
  const events: Event[] = [];
  let existing = 0;
  for (const task of tasks) {
    if (state.tasks.has(task.id)) {
      existing += 1;
      continue;
    }
    for (const decideStep of [createOne, settleOne]) {
      const outcome = decideStep(copy, task, source, caller, rules);
      if (!outcome.ok) return named(outcome, task);
      for (const event of outcome.events) evolve(copy, { ...event, seq: copy.seq + 1, at: '', actor: actorOf(caller) });
      events.push(...outcome.events);
    }
  }
  return decided(events, { added: tasks.length - existing, existing });
}

function createOne(state: State, task: ImportedTask, _source: string, caller: Caller, rules: Rules): Outcome<unknown> {
  // Work in progress is created in DRAFT and moved to IMPLEMENTATION: it has begun but is unclaimed, and the next claim
  // continues it.
  const fitting = shortenTitle(task);
  const begun = task.status === 'in_progress' ? { ...fitting, phase: 'DRAFT' as const } : fitting;
  return decideCreateTask(state, begun, caller, rules);
}

/** Other tools have no limit for titles, so the whole title of such a task goes into its description. */
function shortenTitle(task: ImportedTask): ImportedTask {
  const { description = '' } = task;
  const title = foldTitle(task.title);
  const most = PROTOCOL_LIMITS.titleCharacters;
  if (title.length <= most) return task;
  return { ...task, title: excerptStart(title, most - 1), description: `${title}\n\n${description}` };
}

function settleOne(
  state: State,
  { id, status = 'todo', reason }: ImportedTask,
  source: string,
  caller: Caller,
  rules: Rules,
): Outcome<unknown> {
  const task = state.tasks.get(id);
  if (task === undefined) return decided([], null);
  switch (status) {
    case 'todo':
      return decided([], null);
    case 'in_progress': {
      const why = { cause: 'imported', reason: `imported as in progress from ${source}` } as const;
      return decided([phaseMovedEvent(task, 'IMPLEMENTATION', why)], null);
    }
    case 'done':
      return decideOperateTask(state, { id, action: 'waive', reason: `imported as done from ${source}` }, rules);
    case 'cancelled':
      return decideOperateTask(state, { id, action: 'cancel', reason: reason ?? `imported from ${source}` }, rules);
    case 'blocked': {
      const notes = reason ?? `imported as blocked from ${source}`;
      return decideUpdateTask(state, { task_id: id, status, notes }, caller, rules);
    }
  }
}

/** Adds the id of the refused task, if the message does not name it. */
function named({ refusal }: Extract<Outcome<never>, { ok: false }>, { id }: ImportedTask): Outcome<never> {
  const message = refusal.message.includes(id) ? refusal.message : `${id}: ${refusal.message}`;
  return { ok: false, refusal: { ...refusal, message } };
}
