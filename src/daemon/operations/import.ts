import { taskImport } from '../../api/operations/tasks.ts';
import type { SHOWN_STATUSES } from '../../protocol/shape/shared-fields.ts';
import { actorOf, type Caller } from '../../state/caller.ts';
import type { Event } from '../../state/event.ts';
import { decided, type Outcome } from '../../state/outcome.ts';
import type { Rules } from '../../state/rules.ts';
import type { State } from '../../state/state.ts';
import { phaseMovedEvent } from '../../state/tasks/claim-task.ts';
import { decideCreateTask } from '../../state/tasks/create-task.ts';
import { createTask, evolveTask } from '../../state/tasks/evolve-task.ts';
import { decideOperateTask } from '../../state/tasks/operate-task.ts';
import { decideUpdateTask } from '../../state/tasks/update-task.ts';
import { answerFor, handlerFor } from './call.ts';
import { isFileInRepository } from './tasks.ts';

/** Many tasks in one commit, or none. */
export const importHandler = handlerFor(taskImport, async (call) => {
  const { input, caller, project, key } = call;
  const missing = input.tasks.find(
    ({ prompt_file: file }) => file !== undefined && !isFileInRepository(project.path, file),
  );
  if (missing !== undefined) {
    const message = `prompt_file '${missing.prompt_file}' is not a file in the repository`;
    return { ok: false, error: { code: 'bad-request', message, hint: 'Name it from the top, as in docs/tasks/x.md.' } };
  }
  const settled = await project.commandLoop.submit<Imported>({
    actor: actorOf(caller),
    ...(key === undefined ? {} : { key }),
    decide: ({ state, rules }) => decideImport(state, input, caller, rules),
  });
  return answerFor(settled, (imported) => imported);
});

/** Counts only: the answer is recorded, and an entry is small. */
interface Imported {
  readonly added: number;
  readonly existing: number;
}

interface ImportInput {
  readonly source: string;
  readonly tasks: readonly ImportedTask[];
}

interface ImportedTask {
  readonly task_id: string;
  readonly title: string;
  readonly after?: readonly string[];
  readonly priority?: number;
  readonly status?: (typeof SHOWN_STATUSES)[number];
  readonly reason?: string;
  readonly prompt_file?: string;
}

/** The same decisions as for one task at a time, on a state that runs ahead of them. */
function decideImport(state: State, { source, tasks }: ImportInput, caller: Caller, rules: Rules): Outcome<Imported> {
  const ahead: State = { ...state, tasks: new Map(state.tasks) };
  const events: Event[] = [];
  let existing = 0;
  for (const task of tasks) {
    if (state.tasks.has(task.task_id)) {
      existing += 1;
      continue;
    }
    const steps = [decideCreate(task), decideStatus(task, source)];
    for (const step of steps) {
      const outcome = step(ahead, caller, rules);
      if (!outcome.ok) return nameTask(outcome, task);
      for (const event of outcome.events) applyEvent(ahead, event, state.seq);
      events.push(...outcome.events);
    }
  }
  return decided(events, { added: tasks.length - existing, existing });
}

type ImportStep = (state: State, caller: Caller, rules: Rules) => Outcome<unknown>;

function decideCreate({
  task_id: id,
  title,
  after,
  priority,
  status,
  prompt_file: promptFile,
}: ImportedTask): ImportStep {
  const command = {
    id,
    title,
    ...(after === undefined ? {} : { after }),
    ...(priority === undefined ? {} : { priority }),
    ...(promptFile === undefined ? {} : { promptFile }),
    // Work that has begun elsewhere has left its first phase, and nobody holds it here: whoever comes goes on with it.
    ...(status === 'in_progress' ? { phase: 'DRAFT' as const } : {}),
  };
  return (state, caller) => decideCreateTask(state, command, caller);
}

/** Brings a new task to where it stands elsewhere. */
function decideStatus({ task_id: id, status = 'todo', reason }: ImportedTask, source: string): ImportStep {
  return (state, caller, rules) => {
    const task = state.tasks.get(id);
    if (task === undefined || status === 'todo') return decided([], null);
    if (status === 'in_progress') {
      return decided(
        [
          phaseMovedEvent(task, 'IMPLEMENTATION', {
            cause: 'imported',
            reason: `imported as in progress from ${source}`,
          }),
        ],
        null,
      );
    }
    if (status === 'done')
      return decideOperateTask(state, { id, action: 'waive', reason: `imported as done from ${source}` }, rules);
    if (status === 'cancelled')
      return decideOperateTask(state, { id, action: 'cancel', reason: reason ?? `imported from ${source}` }, rules);
    const notes = reason ?? `imported as blocked from ${source}`;
    return decideUpdateTask(state, { task_id: id, status, notes }, caller, rules);
  };
}

/** As far as the next decisions look: the tasks. */
function applyEvent(ahead: State, event: Event, seq: number): void {
  const recorded = { ...event, seq, at: '' };
  if (recorded.type === 'TaskCreated') {
    ahead.tasks.set(recorded.data.task_id, createTask(recorded));
    return;
  }
  const id = 'task_id' in recorded.data ? recorded.data.task_id : null;
  const task = id === null ? undefined : ahead.tasks.get(id);
  if (task !== undefined) ahead.tasks.set(task.id, evolveTask(task, recorded));
}

/** Which of them it was. */
function nameTask({ refusal }: Extract<Outcome<never>, { ok: false }>, { task_id }: ImportedTask): Outcome<never> {
  const message = refusal.message.includes(task_id) ? refusal.message : `${task_id}: ${refusal.message}`;
  return { ok: false, refusal: { ...refusal, message } };
}
