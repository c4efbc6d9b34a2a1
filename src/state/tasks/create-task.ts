import { type Phase, PHASES } from '../../protocol/phase.ts';
import { PROTOCOL_LIMITS } from '../../protocol/limits.ts';
import { taskId as taskIdShape } from '../../protocol/shape/shared-fields.ts';
import { utf8Length } from '../../protocol/text/text-format.ts';
import { type Caller, checkClaim } from '../caller.ts';
import { event, type GithubIssueRef } from '../event.ts';
import { decided, type Outcome, refusal } from '../outcome.ts';
import type { Rules } from '../rules.ts';
import { dependantsOf } from '../dependants.ts';
import type { State } from '../state.ts';
import { type CreatedTask, decideSessionTask } from '../families/propose-task.ts';
import type { Claim, Task } from './task.ts';
import { originBelow } from '../families/task-family.ts';

export interface CreateTask {
  readonly id: string;
  readonly title: string;
  readonly after?: readonly string[];
  readonly priority?: number;
  readonly phase?: Phase;
  readonly nextRole?: string;
  readonly promptFile?: string;
  readonly epicId?: string;
  readonly prdId?: string;
  readonly description?: string;
  readonly githubIssue?: GithubIssueRef;
}

const TASK_ID = new RegExp(taskIdShape.pattern, 'u');

export function decideCreateTask(
  state: State,
  command: CreateTask,
  caller: Caller,
  rules: Rules,
): Outcome<CreatedTask> {
  const { id, after = [], phase = 'IMPLEMENTATION', priority = 0 } = command;
  const title = foldTitle(command.title);
  const own = findOwnTask(state, caller);
  if (!own.ok) return own;
  if (!TASK_ID.test(id))
    return refusal('invalid-id', `Invalid task_id: ${id}`, `Use ${taskIdShape.expected} characters.`);
  if (title === '')
    return refusal('empty-title', 'a task needs a title', 'Write in a few words what should be done: --title TEXT');
  const names = { role: command.nextRole, epic_id: command.epicId, prd_id: command.prdId };
  const long =
    findTooLong({ title }, PROTOCOL_LIMITS.titleCharacters) ??
    findTooLong({ prompt_file: command.promptFile }, PATH_CHARACTERS) ??
    findTooLong(names);
  if (long !== undefined) return long;
  if (!firstPhases(caller).has(phase)) {
    const hint = `Use a first phase: ${[...firstPhases(caller)].join(', ')}.`;
    return refusal('invalid-phase', `a task cannot start in ${phase}`, hint);
  }
  if (!Number.isSafeInteger(priority))
    return refusal('invalid-priority', `priority is not a whole number: ${priority}`, 'Use a whole number.');
  if (state.tasks.has(id))
    return refusal('task-exists', `task ${id} exists already`, `See the task: baton task show ${id}`);
  if (after.includes(id)) return refusal('cycle', `cycle: ${id} → ${id}`, 'A task cannot wait for itself.');
  const proposed = own.answer === null ? [] : listProposals(state, own.answer.task);
  if (proposed.includes(id))
    return refusal('task-exists', `task ${id} is proposed already`, 'A person decides about it. Choose another id.');
  const unknown = after.find((before) => !state.tasks.has(before) && !proposed.includes(before));
  if (unknown !== undefined) return refuseUnknownTask(unknown);
  const description = command.description?.trim() ?? '';
  const bytes = utf8Length(description);
  if (bytes > PROTOCOL_LIMITS.descriptionBytes) {
    const message = `the description of ${id} is too large: ${bytes} bytes > ${PROTOCOL_LIMITS.descriptionBytes} bytes maximum`;
    return refusal(
      'too-large',
      message,
      'Put the description into a file of the repository, and name the file: --prompt FILE',
    );
  }
  const n = state.tasks.size + 1;
  const created = {
    task_id: id,
    n,
    title,
    after: [...new Set(after)],
    priority,
    phase,
    next_role: command.nextRole ?? null,
    prompt_file: command.promptFile ?? null,
    epic_id: command.epicId ?? null,
    prd_id: command.prdId ?? null,
    ...(description === '' ? {} : { description }),
    ...(command.githubIssue === undefined ? {} : { github_issue: command.githubIssue }),
  };
  if (own.answer !== null) return decideSessionTask(state, created, own.answer.task, own.answer.claim, rules);
  return decided([event('TaskCreated', created)], { n, priority });
}

/** A title is one line of visible text, so that no surface shows a part of it as something else. */
export function foldTitle(title: string): string {
  return title
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim();
}

const PATH_CHARACTERS = 4000;
const NAME_CHARACTERS = 200;

/**
 * Refuses long names and titles, which are kept with each claim and shown in each list. Long texts have their own
 * fields.
 */
export function findTooLong(
  fields: Readonly<Record<string, string | undefined>>,
  most = NAME_CHARACTERS,
): ReturnType<typeof refusal> | undefined {
  for (const [name, { length } = ''] of Object.entries(fields))
    if (length > most) return refusal('too-long', `${name} has ${length} characters; at most ${most}`, 'Shorten it.');
  return undefined;
}

/**
 * The task and the live claim of a session; null for other callers. A session needs its claim for every write, even one
 * about something else.
 */
function findOwnTask(state: State, caller: Caller): Outcome<{ readonly task: Task; readonly claim: Claim } | null> {
  if (caller.kind !== 'session') return decided([], null);
  const task = state.tasks.get(caller.taskId);
  if (task === undefined) return refuseUnknownTask(caller.taskId);
  const held = checkClaim(task, caller);
  return held.ok ? decided([], { task, claim: held.claim }) : held;
}

function listProposals({ families }: State, parent: Task): readonly string[] {
  return (families.get(originBelow(parent).root)?.proposals ?? []).map(({ task_id }) => task_id);
}

/**
 * The phases in which a caller may create a task. None may create one that is completed or blocked; a session may not
 * create one that has passed a gate.
 */
function firstPhases({ kind }: Caller): ReadonlySet<Phase> {
  return kind === 'operator' || kind === 'system' ? START_PHASES : AGENT_START_PHASES;
}

const AGENT_START_PHASES: ReadonlySet<Phase> = new Set(['DRAFT', 'IMPLEMENTATION']);
const START_PHASES: ReadonlySet<Phase> = new Set(
  PHASES.filter((phase) => phase !== 'COMPLETED' && phase !== 'BLOCKED'),
);

export interface AddDependency {
  readonly id: string;
  readonly after: string;
}

export function decideAddDependency(state: State, { id, after }: AddDependency): Outcome<null> {
  const task = state.tasks.get(id);
  if (task === undefined) return refuseUnknownTask(id);
  if (!state.tasks.has(after)) return refuseUnknownTask(after);
  if (task.after.includes(after)) return decided([], null);
  const way = id === after ? [id] : findDependencyPath(state, id, after);
  if (way !== undefined)
    return refusal('cycle', `cycle: ${[...way, id].join(' → ')}`, 'Remove one of these dependencies.');
  return decided([event('DependencyAdded', { task_id: id, after })], null);
}

/** Finds a path breadth first, because the shortest path is the easiest to read. */
function findDependencyPath(state: State, from: string, to: string): string[] | undefined {
  const cameFrom = new Map<string, string | undefined>([[from, undefined]]);
  for (const id of cameFrom.keys()) {
    if (id === to) return pathFrom(cameFrom, id);
    for (const next of dependantsOf(state, id)) if (!cameFrom.has(next)) cameFrom.set(next, id);
  }
  return undefined;
}

function pathFrom(cameFrom: ReadonlyMap<string, string | undefined>, end: string): string[] {
  const way: string[] = [];
  for (let id: string | undefined = end; id !== undefined; id = cameFrom.get(id)) way.unshift(id);
  return way;
}

export function refuseUnknownTask(id: string): ReturnType<typeof refusal> {
  return refusal('no-such-task', `there is no task ${id}`, 'See all tasks: baton task list');
}
