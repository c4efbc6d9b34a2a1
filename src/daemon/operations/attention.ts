import { type Reason, summarizeReasons } from '../../api/all-clear.ts';
import type { AgentView } from '../../api/run-views.ts';
import { stateFiles } from '../../api/state-folder.ts';
import { shellWord } from '../../protocol/text/quote-for-shell.ts';
import type { RuleDifference } from '../../runbook/gates/compare-rules.ts';
import { findMain } from '../../state/main/main-branch.ts';
import { type Rules, rulesInForce } from '../../state/rules.ts';
import { findGitFolders } from '../../git/repository.ts';
import { listFailedRuns } from '../../state/runs/find-run.ts';
import { asksAboutWork } from '../../state/runs/open-decisions.ts';
import { dependantsOf } from '../../state/dependants.ts';
import type { State } from '../../state/state.ts';
import { isClaimable } from '../../state/tasks/claim-task.ts';
import { isCancelled, type Status, type Task } from '../../state/tasks/task.ts';
import { findStuckTasks, fitsWorker } from '../../state/tasks/worker-fit.ts';
import { findWorkflowObstacle } from '../../state/workflow/start-workflow.ts';
import type { RestartRecord } from '../../watchdog/restart-record.ts';
import { renderRunbookProblem } from '../rules/rulebook.ts';
import type { RunbookWatch } from '../rules/runbook-watch.ts';

export type Attention = Reason;

export function runbookAttention(runbook: RunbookWatch): Attention[] {
  const { checked } = runbook.read();
  if (checked.ok) return [];
  const [first, ...rest] = checked.problems;
  const counts = runbook.lastValid === undefined ? 'no runbook is in force' : 'the last valid version stays in force';
  const title = `${first.file} has errors; ${counts}`;
  const context = `${renderRunbookProblem(first)}${rest.length === 0 ? '' : ` (and ${rest.length} more)`}`;
  return [{ ...ONE, kind: 'runbook', title, context, next: 'baton runbook check' }];
}

/** A working file that differs from the rules in force. Work continues with the adopted ones. */
export function rulesAttention(differences: readonly RuleDifference[], isFirst: boolean): Attention[] {
  if (differences.length === 0) return [];
  const loosening = differences.filter(({ effect }) => effect === 'loosens');
  const isLooser = loosening.length > 0;
  const than = isFirst
    ? 'the defaults; the defaults apply until you adopt it'
    : 'the rules in force, which still apply';
  const title = `baton.toml ${isLooser ? 'asks for more access than' : 'differs from'} ${than}`;
  const fields = joinFirst((isLooser ? loosening : differences).map(({ field }) => field));
  const context = `${isLooser ? 'baton.toml is looser' : 'It loosens nothing'}: ${fields}`;
  return [{ ...ONE, kind: isLooser ? 'rules' : 'proposal', title, context, next: 'baton runbook adopt' }];
}

/** A daemon that keeps crashing. It runs now but may crash again. */
export function crashAttention(record: RestartRecord | undefined, nowMs: number): Attention[] {
  if (record === undefined || nowMs - Date.parse(record.at) > CRASH_SHOWN_MS) return [];
  if (!record.gave_up && record.in_row < CRASHES_SHOWN) return [];
  const title = record.gave_up
    ? 'The daemon crashed repeatedly, and its watchdog stopped restarting it'
    : `The daemon crashed ${record.in_row} times in a row`;
  const context = `Last at ${record.at}: ${record.reason}. See daemon.log in the state folder.`;
  return [{ ...ONE, kind: 'daemon', title, context, next: 'baton down && baton up --foreground' }];
}

/** A repository that is gone: nothing can start, merge or be compared. */
export async function repositoryAttention(path: string): Promise<Attention[]> {
  const found = await findGitFolders(path);
  if (found.ok) return [];
  const title = `The repository is gone: ${path}`;
  const next = `Bring it back, or stop its work: baton project list`;
  return [{ ...ONE, kind: 'repository', title, context: found.problem.message, next }];
}

/** Runs without a task that failed, until they are run again or acknowledged. */
export function failedAttention(state: State): Attention[] {
  const reasons = listFailedRuns(state).map(({ kind, id, name, reason }): Attention => ({
    ...ONE,
    kind: 'failed',
    title: `${kind === 'pipeline' ? 'Pipeline' : 'Agent'} failed: ${name} ${id.slice(0, 8)}`,
    context: reason ?? '',
    next: `${kind === 'pipeline' ? `baton pipeline retry ${id.slice(0, 8)}` : `baton agent logs ${id.slice(0, 8)}`} (or: baton ack ${id.slice(0, 8)})`,
  }));
  return [
    ...summarizeReasons(reasons, (count) => ({
      title: `${count} more runs failed`,
      next: 'baton pipeline list --all',
    })),
  ];
}

/** Messages of agents that wait in the outbox. They include exit signals, so work waits. */
export function outboxAttention(blockedMs: number, stateDir: string): Attention[] {
  if (blockedMs < BLOCKED_SHOWN_MS) return [];
  const title = `Messages of agents have not been recorded for ${Math.round(blockedMs / 1000)} s`;
  const context = 'The messages are kept, and work waits for them. The reason is in daemon.log in the state folder.';
  const next = `ls -l ${shellWord(stateFiles(stateDir).outbox)}`;
  return [{ ...ONE, kind: 'outbox', title, context, next }];
}

/** Commits on the main branch that an operator rejected. Merges wait until the branch is back. */
export function mainAttention(state: State): Attention[] {
  const main = findMain(state);
  if (main === undefined || main.trusted === null || main.decisionId !== null) return [];
  const { branch } = main.trusted;
  const sha = main.trusted.sha.slice(0, 12);
  const title = `Merges wait until ${branch} is back at ${sha}`;
  const context = `${main.branch} is at ${main.sha.slice(0, 12)}, with commits that were not accepted.`;
  const next = `git branch -f ${shellWord(branch)} ${sha} (or, if it is checked out: git reset --keep ${sha})`;
  return [{ ...ONE, kind: 'main', title, context, next }];
}

/** Workers that may start no workflow although tasks wait for them. One reason, however many tasks. */
export function workersAttention(state: State, rules: Rules): Attention[] {
  const starting = [...state.workers.values()].filter(({ plan }) => plan.kind === 'workflow');
  const inForce = rulesInForce(state, rules);
  const obstacle = starting.length === 0 ? undefined : findWorkflowObstacle(state, inForce);
  if (obstacle === undefined) return [];
  const ready = [...state.tasks.values()].filter((task) => isClaimable(state, task, inForce));
  const waiting = starting.filter((worker) =>
    ready.some((task) => fitsWorker(state, { worker, runbook: null }, task, inForce)),
  );
  return waiting.map(({ name }) => ({
    ...ONE,
    kind: 'worker',
    title: `Worker ${name} starts no workflow`,
    context: obstacle.message,
    next: obstacle.hint,
  }));
}

type WaitingRun = Pick<AgentView, 'id' | 'name' | 'task_id' | 'decision_id'> & { readonly status: string };

/** Runs that wait for a decision that is not open, so nothing would ever continue them. */
export function stuckAttention(
  pipelines: readonly (WaitingRun & { readonly parent: object | null })[],
  agents: readonly (WaitingRun & { readonly pipeline_id: string | null })[],
  open: ReadonlySet<string>,
): Attention[] {
  const isStuck = ({ status, decision_id: id }: WaitingRun): boolean =>
    (status === 'waiting' || status === 'escalated') && (id === null || !open.has(id));
  const stuck =
    (what: 'pipeline' | 'agent', end: string) =>
    (run: WaitingRun): Attention => ({
      ...ONE,
      kind: 'stuck',
      task_id: run.task_id,
      title: `The ${what} ${run.name} ${run.id.slice(0, 8)} waits, and no decision is open`,
      context: '',
      next: `baton ${what} ${end} ${run.id.slice(0, 8)}`,
    });
  return [
    ...pipelines.filter((run) => run.parent === null && isStuck(run)).map(stuck('pipeline', 'cancel')),
    ...agents.filter((run) => run.pipeline_id === null && isStuck(run)).map(stuck('agent', 'kill')),
  ];
}

/** Agents that are frozen because the database does not acknowledge their claims. */
export function frozenAttention(
  { agents }: Pick<State, 'agents'>,
  isFrozen: (sessionId: string) => boolean,
): Attention[] {
  const frozen = [...agents.values()].filter(
    ({ over, task }) => over === null && task !== null && isFrozen(task.session_id),
  );
  const reasons = frozen.map(({ id, plan: { name }, task }): Attention => ({
    ...ONE,
    kind: 'frozen',
    task_id: task?.task_id ?? null,
    title: `Agent ${name} ${id.slice(0, 8)} is frozen until its claim can be renewed`,
    context:
      'This host cannot renew the claim, so another host may have the task by now. Messages of the agent are kept.',
    next: 'baton status --fleet',
  }));
  return [
    ...summarizeReasons(reasons, (count) => ({ title: `${count} more agents are frozen`, next: 'baton agent list' })),
  ];
}

export function blockedAttention(state: State): Attention[] {
  const settled = settledTasks(state);
  const blocked = [...state.tasks.values()].filter((task) => task.blocked !== null && !isCancelled(task));
  const waiting = blocked.filter((task) => !settled.has(task.id));
  return listWithRest(waiting, blockedTask, 'more tasks are blocked', 'blocked');
}

/** Tasks that nothing would ever move. They begin again when an operator reinstates them. */
export function unmovedAttention(state: State, rules: Rules): Attention[] {
  const reasons = findStuckTasks(state, rules).map(({ id, title, phase }): Attention => ({
    ...ONE,
    kind: 'unserved',
    task_id: id,
    title: `Nothing moves task ${id} ${title}`,
    context: `It is ${phase}, and no session, check, merge or question is under way.`,
    next: `baton task reinstate ${shellWord(id)} --reason "…"`,
  }));
  return [
    ...summarizeReasons(reasons, (count) => ({ title: `Nothing moves ${count} more tasks`, next: 'baton task list' })),
  ];
}

/** Cancelled tasks that other tasks depend on. Those never start unless a person acts. */
export function cancelledAttention(state: State): Attention[] {
  const waited = [...state.tasks.values()].filter(
    (task) => isCancelled(task) && openDependants(state, task).length > 0,
  );
  const show = (task: Task): Attention => cancelledTask(task, openDependants(state, task));
  return listWithRest(waited, show, 'more cancelled tasks have tasks that wait for them', 'cancelled');
}

function listWithRest(
  tasks: readonly Task[],
  show: (task: Task) => Attention,
  more: string,
  status: Status,
): Attention[] {
  const rest = (count: number) => ({ title: `${count} ${more}`, next: `baton task list --status ${status}` });
  return [...summarizeReasons(tasks.map(show), rest)];
}

const MAX_LISTED = 5;
const ONE = { count: 1, task_id: null } as const;

function joinFirst(names: readonly string[]): string {
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : '';
  return `${names.slice(0, MAX_LISTED).join(', ')}${more}`;
}

/** Tasks with an open decision, and those that are retried automatically. */
function settledTasks({ decisions, effects }: State): ReadonlySet<string | null> {
  const asked = [...decisions.values()].filter(asksAboutWork);
  const retried = [...effects.values()].flatMap((effect) =>
    effect.type === 'TimerSet' && effect.data.purpose.kind === 'unblock' ? [effect.data.purpose.task_id] : [],
  );
  return new Set([...asked.map(({ taskId }) => taskId), ...retried]);
}

function openDependants(state: State, { id }: Task): readonly string[] {
  const isOpen = (dependant: string): boolean => {
    const task = state.tasks.get(dependant);
    return task !== undefined && task.phase !== 'COMPLETED' && !isCancelled(task);
  };
  return [...dependantsOf(state, id)].filter(isOpen);
}

function cancelledTask({ id, title, blocked }: Task, waiting: readonly string[]): Attention {
  return {
    ...ONE,
    kind: 'cancelled',
    task_id: id,
    title: `Task is cancelled, but other tasks wait for it: ${id} ${title}`,
    context: `${blocked?.reason ?? ''}; waiting: ${joinFirst(waiting)}`,
    next: `baton task reinstate ${shellWord(id)} --reason "…" (or cancel the tasks that wait)`,
  };
}

function blockedTask({ id, title, blocked }: Task): Attention {
  return {
    ...ONE,
    kind: 'blocked',
    task_id: id,
    title: `Task is blocked: ${id} ${title}`,
    context: blocked?.reason ?? '',
    next: `baton task unblock ${shellWord(id)} --reason "…"`,
  };
}

const CRASH_SHOWN_MS = 60 * 60_000;
const CRASHES_SHOWN = 3;
const BLOCKED_SHOWN_MS = 15_000;
