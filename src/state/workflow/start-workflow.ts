import { PROTOCOL_LIMITS } from '../../protocol/limits.ts';
import type { Phase } from '../../protocol/phase.ts';
import type { WorkflowMode } from '../../protocol/run-plan.ts';
import { actorOf, type Caller } from '../caller.ts';
import { event, type Event } from '../event.ts';
import { decideImportTasks, type ImportTasks } from '../import-tasks.ts';
import { findMain } from '../main/main-branch.ts';
import { decided, type Outcome, type Refusal, refusal } from '../outcome.ts';
import { findAdoption, type Rules } from '../rules.ts';
import { layeredState, evolve, type State } from '../state.ts';
import { phaseMovedEvent } from '../tasks/claim-task.ts';
import { type CreateTask, decideCreateTask, refuseUnknownTask } from '../tasks/create-task.ts';
import type { Task } from '../tasks/task.ts';
import { refuseBlocked } from '../tasks/update-task.ts';
import { findChecksDeclined } from './decline-checks.ts';

/** Starts a workflow for a new task, or with `tasks` for existing ones. */
export type StartWorkflow = NewWorkflow | TakenWorkflows;

interface TakenWorkflows extends WorkflowStart {
  readonly tasks: readonly string[];
  /** Tasks to create first, in the same commit; existing ids stay unchanged. */
  readonly imports?: ImportTasks;
}

interface NewWorkflow extends WorkflowStart, Omit<CreateTask, 'id' | 'phase' | 'nextRole'> {
  /** Default: the next free id, such as W-00001. */
  readonly id?: string;
}

interface WorkflowStart {
  readonly mode: WorkflowMode;
  /** Default: the runbook in force. */
  readonly runbook?: string;
}

interface RequestedStart extends WorkflowStart {
  /** The worker that starts it; absent if an operator does. */
  readonly worker?: string;
}

/** `ids` if there are several; `id` is the first. */
type Started = Outcome<{ readonly id: string; readonly n: number; readonly ids?: readonly string[] }>;

export function decideStartWorkflow(state: State, command: StartWorkflow, caller: Caller, rules: Rules): Started {
  if (!('tasks' in command)) return createWorkflow(state, command, caller, rules);
  const { imports } = command;
  if (imports === undefined) return takeTasks(state, command);
  const imported = decideImportTasks(state, imports, caller, rules);
  if (!imported.ok) return imported;
  const copy = layeredState(state);
  for (const each of imported.events) evolve(copy, { ...each, seq: copy.seq + 1, at: '', actor: actorOf(caller) });
  const taken = takeTasks(copy, command);
  return taken.ok ? decided([...imported.events, ...taken.events], taken.answer) : taken;
}

/** Starts all or none, and lists every refusal. Open dependencies are no obstacle: such a workflow waits for them. */
function takeTasks(state: State, { tasks: ids, ...start }: TakenWorkflows): Started {
  const { size } = new Set(ids);
  if (size > PROTOCOL_LIMITS.importPart) return refuseMany(size);
  const found = [...new Set(ids)].map((id) => ({ id, taken: findTaskForWorkflow(state, id) }));
  const refused = found.flatMap(({ id, taken }) => (taken.ok ? [] : [{ id, refusal: taken.refusal }]));
  if (refused.length > 0) return refuseTasks(refused, found.length);
  const tasks = found.flatMap(({ taken }) => (taken.ok ? [taken.answer] : []));
  const [first, second] = tasks;
  if (first === undefined) return refusal('bad-request', 'no task is named', 'Name one: baton run issue --task ID');
  const events = tasks.flatMap((task) => workflowStartEvents(state, task, start));
  const answer = { id: first.id, n: first.n, ...(second === undefined ? {} : { ids: tasks.map(({ id }) => id) }) };
  return decided(events, answer);
}

/** One commit starts all of them, and nobody else is answered while it is decided. */
function refuseMany(count: number): Started {
  const message = `no workflow was started: ${count} tasks are named; at most ${PROTOCOL_LIMITS.importPart} at once`;
  return refusal('tasks-not-started', message, 'Start them in several commands.');
}

function refuseTasks(refused: readonly { readonly id: string; readonly refusal: Refusal }[], count: number): Started {
  const [only] = refused;
  if (only !== undefined && count === 1) return { ok: false, refusal: only.refusal };
  const lines = refused.map(({ refusal: { message, hint } }) => `  ${message}. ${hint}`);
  const message = `no workflow was started: ${refused.length} of ${count} tasks cannot become workflows\n${lines.join('\n')}`;
  return refusal('tasks-not-started', message, 'Follow the hint of each task, or leave the task out.');
}

/**
 * Workflows run all roles, whatever was done before: the issue builds on the work of earlier sessions, and their
 * commits stay on the branch.
 */
export function workflowStartEvents(state: State, task: Task, start: RequestedStart): Event[] {
  const why = { cause: 'workflow-started', reason: 'it became a workflow' } as const;
  return [started(state, task.id, start), phaseMovedEvent(task, 'DRAFT', why, FIRST_ROLE)];
}

function createWorkflow(state: State, { mode, runbook, ...task }: NewWorkflow, caller: Caller, rules: Rules): Started {
  const id = task.id ?? freeId(state);
  const created = decideCreateTask(state, { ...task, id, phase: 'DRAFT', nextRole: FIRST_ROLE }, caller, rules);
  if (!created.ok) return created;
  const start = { mode, ...(runbook === undefined ? {} : { runbook }) };
  return decided([...created.events, started(state, id, start)], { id, n: state.tasks.size + 1 });
}

function started(
  state: State,
  id: string,
  { mode, runbook = findAdoption(state)?.sha256, worker }: RequestedStart,
): Event {
  return event('WorkflowStarted', {
    task_id: id,
    mode,
    ...(runbook === undefined ? {} : { runbook }),
    ...(worker === undefined ? {} : { worker }),
  });
}

const FIRST_ROLE = 'issue-manager';

function freeId({ tasks }: State): string {
  for (let n = tasks.size + 1; ; n++) {
    const id = `W-${String(n).padStart(5, '0')}`;
    if (!tasks.has(id)) return id;
  }
}

/** An existing task can become a workflow while it is unclaimed, and before its work is checked or judged. */
function findTaskForWorkflow(state: State, id: string): Outcome<Task> {
  const task = state.tasks.get(id);
  if (task === undefined) return refuseUnknownTask(id);
  if (task.flow.mode !== null)
    return refusal(
      'workflow-started',
      `task ${id} is a workflow already`,
      `Follow the workflow: baton run --follow ${id}`,
    );
  if (task.claim !== null) {
    const hint = `Wait until that claim ends, or end it: baton task release ${id}`;
    return refusal('already-claimed', `task ${id} is claimed by ${task.claim.holder}`, hint);
  }
  if (task.phase === 'COMPLETED')
    return refusal('completed', `task ${id} is completed`, `To do it again: baton task reinstate ${id} --reason "…"`);
  if (task.phase === 'BLOCKED') return refuseBlocked(task);
  if (!WORKFLOW_START_PHASES.has(task.phase)) {
    const hint = `A workflow begins in DRAFT or IMPLEMENTATION. To begin the work again: baton task reinstate ${id} --reason "…"`;
    return refusal('not-workable', `task ${id} is ${task.phase}`, hint);
  }
  return decided([], task);
}

/** Why workers start no workflow; undefined if they may. `baton run issue` checks the same conditions, and more. */
export function findWorkflowObstacle(state: State, { unchecked, unreviewable }: Rules): Refusal | undefined {
  if (unchecked !== undefined && findChecksDeclined(state) === undefined) return unchecked;
  return unreviewable ?? (findMain(state) === undefined ? NO_MAIN : undefined);
}

const NO_MAIN: Refusal = {
  code: 'git/no-main-branch',
  message: 'there is no main branch to merge into',
  hint: 'Make a first commit, or name the branch in baton.toml: merge.into',
};

export const WORKFLOW_START_PHASES: ReadonlySet<Phase> = new Set(['DRAFT', 'IMPLEMENTATION']);
