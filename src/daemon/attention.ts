import { shellWord } from '../agents/shell-quote.ts';
import { loosens, type RuleDifference } from '../runbook/compare-rules.ts';
import { dependantsOf } from '../state/dependants.ts';
import { findMain } from '../state/main/main-branch.ts';
import { rulesFor, rulesInForce, type Rules } from '../state/rules.ts';
import type { State } from '../state/state.ts';
import { isCancelled, type Status, type Task } from '../state/task.ts';
import { unservedTasks } from '../state/unserved.ts';
import { describeProblem, type RunbookWatch } from './runbook-watch.ts';

/** Something that waits for a person without asking them a question, in the words that every surface shows. */
export interface Attention {
  readonly kind: 'runbook' | 'blocked' | 'cancelled' | 'unserved' | 'main';
  /** How many things this stands for. */
  readonly count: number;
  readonly task_id: string | null;
  readonly title: string;
  /** Why it waits. */
  readonly context: string;
  /** The command to type. */
  readonly next: string;
}

/** A runbook with mistakes: work goes on by the last version without any. */
export function runbookAttention(runbook: RunbookWatch): Attention[] {
  const { checked } = runbook.read();
  if (checked.ok) return [];
  const [first, ...rest] = checked.problems;
  const counts = runbook.good === undefined ? 'nothing in it counts' : 'the last valid version stays in force';
  return [
    {
      kind: 'runbook',
      count: 1,
      task_id: null,
      title: `${first.file} has errors; ${counts}`,
      context: `${describeProblem(first)}${rest.length === 0 ? '' : ` (and ${rest.length} more)`}`,
      next: 'baton runbook check',
    },
  ];
}

/** A working file whose gates are not those in force: work goes on by the adopted ones. */
export function rulesAttention(differences: readonly RuleDifference[]): Attention[] {
  if (differences.length === 0) return [];
  const fields = differences.map(({ field }) => field);
  const shown = fields.slice(0, MOST).join(', ');
  return [
    {
      kind: 'runbook',
      count: 1,
      task_id: null,
      title: 'baton.toml differs from the rules in force; the rules in force count',
      context: `${loosens(differences) ? 'It loosens them' : 'It tightens them'}: ${shown}${fields.length > MOST ? ` and ${fields.length - MOST} more` : ''}`,
      next: 'baton runbook adopt',
    },
  ];
}

/** Commits on the main branch that a person did not want: merges wait until it is back. */
export function mainAttention(state: State): Attention[] {
  const main = findMain(state);
  if (main === undefined || main.trusted === null || main.decisionId !== null) return [];
  const { branch, sha } = main.trusted;
  return [
    {
      kind: 'main',
      count: 1,
      task_id: null,
      title: `Merges wait until ${branch} is back at ${sha.slice(0, 12)}`,
      context: `${main.branch} is at ${main.sha.slice(0, 12)}, with commits that were not accepted.`,
      next: `git branch -f ${shellWord(branch)} ${sha.slice(0, 12)} (or, where it is checked out: git reset --keep ${sha.slice(0, 12)})`,
    },
  ];
}

/** Blocked tasks that nobody is asked about, each with its reason; after the first few only how many more there are. */
export function blockedAttention(state: State): Attention[] {
  const settled = settledTasks(state);
  const blocked = [...state.tasks.values()].filter((task) => task.blocked !== null && !isCancelled(task));
  const waiting = blocked.filter((task) => !settled.has(task.id));
  return listed(waiting, blockedTask, { kind: 'blocked', more: 'more tasks are blocked', next: 'blocked' });
}

/** Cancelled tasks that others wait for: those never begin unless a person acts. */
export function cancelledAttention(state: State): Attention[] {
  const waited = [...state.tasks.values()].filter(
    (task) => isCancelled(task) && openDependants(state, task).length > 0,
  );
  const show = (task: Task): Attention => cancelledTask(task, openDependants(state, task));
  return listed(waited, show, { kind: 'cancelled', more: 'more cancelled tasks are waited for', next: 'cancelled' });
}

/** Tasks that wait in a phase that nobody serves: see `unservedTasks`. */
export function unservedAttention(state: State, rules: Rules): Attention[] {
  const show = (task: Task): Attention => unservedTask(task, rulesFor(task, rulesInForce(state, rules)));
  return listed(unservedTasks(state, rules), show, { kind: 'unserved', more: 'more tasks wait', next: 'in_progress' });
}

interface More {
  readonly kind: Attention['kind'];
  /** After the number of those that are not shown. */
  readonly more: string;
  /** The status by which the rest is found. */
  readonly next: Status;
}

/** The first few, and how many more there are. To say that there is one more takes as much room as to show it. */
function listed(tasks: readonly Task[], show: (task: Task) => Attention, { kind, more, next }: More): Attention[] {
  const shown = tasks.slice(0, tasks.length === MOST + 1 ? MOST + 1 : MOST).map(show);
  const count = tasks.length - shown.length;
  const title = `${count} ${more}`;
  const rest = { kind, count, task_id: null, title, context: '', next: `baton task list --status ${next}` };
  return count === 0 ? shown : [...shown, rest];
}

const MOST = 5;

/** Those that a decision asks about, and those that are tried again by themselves. */
function settledTasks({ decisions, effects }: State): ReadonlySet<string | null> {
  // What does not fit what is in git is another question than what blocks the task.
  const asked = [...decisions.values()].filter(({ result, source }) => result === null && source !== 'reconcile');
  const retried = [...effects.values()].flatMap((effect) =>
    effect.kind === 'wait' && effect.purpose.kind === 'unblock' ? [effect.purpose.task_id] : [],
  );
  return new Set([...asked.map(({ taskId }) => taskId), ...retried]);
}

/** Those that wait for a task and are neither done nor cancelled themselves. */
function openDependants(state: State, { id }: Task): readonly string[] {
  const isOpen = (dependant: string): boolean => {
    const task = state.tasks.get(dependant);
    return task !== undefined && task.phase !== 'COMPLETED' && !isCancelled(task);
  };
  return [...dependantsOf(state, id)].filter(isOpen);
}

function cancelledTask({ id, title, blocked }: Task, waiting: readonly string[]): Attention {
  const shown = waiting.slice(0, MOST).join(', ');
  const more = waiting.length > MOST ? ` and ${waiting.length - MOST} more` : '';
  return {
    kind: 'cancelled',
    count: 1,
    task_id: id,
    title: `Task is cancelled, and others wait for it: ${id} ${title}`,
    context: `${blocked?.reason ?? ''}; waiting: ${shown}${more}`,
    next: `baton task reinstate ${shellWord(id)} --reason "…" (or cancel those that wait)`,
  };
}

function unservedTask({ id, title, phase, nextRole }: Task, { mergeGate }: Rules): Attention {
  const role = nextRole === null ? '' : ` --role ${shellWord(nextRole)}`;
  const isMerge = mergeGate && phase === 'READY_FOR_MERGE';
  return {
    kind: 'unserved',
    count: 1,
    task_id: id,
    title: `Nobody takes up ${id} in ${phase}: ${title}`,
    context: `No worker may take it${nextRole === null ? '' : ` as ${nextRole}`}, and no session holds it.`,
    next: isMerge ? `baton merge ${shellWord(id)}` : `baton task claim ${shellWord(id)} --as NAME${role}`,
  };
}

function blockedTask({ id, title, blocked }: Task): Attention {
  return {
    kind: 'blocked',
    count: 1,
    task_id: id,
    title: `Task is blocked: ${id} ${title}`,
    context: blocked?.reason ?? '',
    next: `baton task unblock ${shellWord(id)} --reason "…"`,
  };
}
