import type { Entry } from '../ledger/format/entry.ts';
import type { AgentSessionCompleted } from '../protocol/agent-session-completed.ts';
import type { Result } from '../protocol/result.ts';
import { addDependant, type Dependants, dependantsOf } from './dependants.ts';
import { HOW_CLAIM_ENDED, type RecordedEvent, type SettledRequest, type EventOf } from './event.ts';
import { evolveFleet, type FleetState } from './fleet/fleet.ts';
import { LayeredMap } from './layered-map.ts';
import { evolveMain, type MainBranches } from './main/main-branch.ts';
import { evolveMemory, type Memory } from './packet/memory.ts';
import { addStatements, type Statements } from './packet/statement.ts';
import { statementsOf } from './packet/statements-of.ts';
import { evolvePageKeys, type PageKeyRecord } from './page-keys.ts';
import { findUnknownType, toRecordedEvent } from './recorded-event.ts';
import { type Adoption, evolveAdoption } from './rules.ts';
import { evolveRuns } from './runs/evolve-runs.ts';
import { emptyRuns, type Runs } from './runs/runs.ts';
import { evolveNumbers, type NumberState, takeEntryNumbers } from './tasks/task-numbers.ts';
import { createTask, evolveTask } from './tasks/evolve-task.ts';
import { addToFamily, evolveProposals, findMaker } from './families/task-family.ts';
import { isCancelled, type Task } from './tasks/task.ts';
import { evolveTimelines } from './timeline/evolve-timeline.ts';
import type { Timelines } from './timeline/timeline.ts';
import { evolveChecksDeclined, type ProjectAnswer } from './workflow/decline-checks.ts';
import { reporterKey } from './workflow/judge-report.ts';
import type { WorkflowEvents } from './workflow/workflow-event.ts';

/** A project, as the fold of its ledger. The values are immutable; only the maps change. */
export interface State extends Runs, Timelines, FleetState, NumberState {
  readonly tasks: Map<string, Task>;
  /** The reverse of `after`: the tasks that wait for each task. */
  readonly dependants: Map<string, Dependants>;
  readonly sessions: Map<string, Session>;
  /** Audit sessions that owe a thought record; a seal waits for it. */
  readonly openAudits: Map<string, Audit>;
  /** The runbook in force, under a single key. */
  readonly adopted: Map<string, Adoption>;
  /** Operators' answers about the project: see `workflow/decline-checks.ts`. */
  readonly answers: Map<string, ProjectAnswer>;
  /** The keys of pages that act for an operator in this project, by id. */
  readonly pageKeys: Map<string, PageKeyRecord>;
  /** The app whose reports count, by check and repository: see `workflow/judge-report.ts`. */
  readonly reporters: Map<string, string>;
  readonly main: MainBranches;
  /** The reports of agents, people and gates about each task, for the next reader: see `packet/`. */
  readonly statements: Statements;
  readonly memory: Memory;
  /** The open workflows that workers started: task → worker. A worker's `concurrency` limits their number. */
  readonly workersWorkflows: Map<string, string>;
  /** The newest answers to keyed commands: a repeated command gets the same answer without a second effect. */
  readonly settled: Map<string, unknown>;
  /**
   * The types of entries that this version does not know, with the seq of the first of each: see `findUnknownEntry`.
   */
  readonly unknown: Map<string, number>;
  seq: number;
}

export interface Session {
  readonly id: string;
  readonly taskId: string;
  readonly epoch: number;
  /** The principal responsible for it: see `caller.ts`. */
  readonly principal: string;
  /** The entry of its exit signal: a repeated signal gets the same answer. */
  readonly exit: AgentSessionCompleted | null;
  /** The workspace and mission; absent for a claim by hand. */
  readonly prepared?: SessionPreparation;
  readonly result?: Result;
  readonly measured?: boolean;
}

export type SessionPreparation = WorkflowEvents['SessionPrepared'];

interface Audit {
  readonly id: string;
  readonly actor: string;
  readonly taskId: string | null;
}

/** Creates an empty state. `newMap` makes maps that can be rolled back. */
export function emptyState(newMap: <V>() => Map<string, V> = () => new Map()): State {
  return {
    tasks: newMap(),
    dependants: newMap(),
    sessions: newMap(),
    openAudits: newMap(),
    adopted: newMap(),
    answers: newMap(),
    pageKeys: newMap(),
    reporters: newMap(),
    main: newMap(),
    statements: newMap(),
    memory: newMap(),
    workersWorkflows: newMap(),
    settled: newMap(),
    unknown: newMap(),
    taskNumbers: newMap(),
    counted: newMap(),
    timelines: newMap(),
    hosts: newMap(),
    fleet: newMap(),
    ...emptyRuns(newMap),
    seq: 0,
  };
}

/** Copies the state, so that the copy can be changed separately. Tasks, runs and sessions are immutable and shared. */
export function copyState(state: State): State {
  return withMaps(state, (part) => new Map(part));
}

/** A copy that costs the same for every size of the state. It is valid until `state` changes. */
export function layeredState(state: State): State {
  return withMaps(state, (part) => new LayeredMap(part));
}

function withMaps(state: State, copy: (part: ReadonlyMap<unknown, unknown>) => unknown): State {
  const parts = Object.entries(state).map(([name, part]: [string, unknown]) => [
    name,
    part instanceof Map ? copy(part) : part,
  ]);
  return Object.fromEntries(parts) as State; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

/** Folds an entry into the state in place, so that a hundred thousand tasks are not copied for each entry. */
export function evolve(state: State, recorded: RecordedEvent): State {
  keepStatements(state, recorded);
  evolveNumbers(state, recorded);
  switch (recorded.type) {
    case 'TaskCreated': {
      const task = createTask(recorded, findMaker(state, recorded));
      state.tasks.set(task.id, task);
      addToFamily(state.families, task);
      for (const before of task.after) addDependant(state, before, task.id);
      break;
    }
    case 'TaskProposed':
    case 'ProposalsSettled':
      evolveProposals(state.families, recorded);
      break;
    case 'AuditSessionStarted': {
      const { audit_id: id, task_id: taskId } = recorded.data;
      state.openAudits.set(id, { id, actor: recorded.actor, taskId });
      break;
    }
    case 'RunbookAdopted':
      evolveAdoption(state, recorded);
      break;
    case 'ChecksDeclined':
      evolveChecksDeclined(state, recorded);
      break;
    case 'PageKeyAdded':
    case 'PageKeyRevoked':
      evolvePageKeys(state, recorded);
      break;
    default:
      evolveWithTask(state, recorded);
  }
  const settled = evolveRuns(state, recorded);
  evolveFleet(state, recorded);
  evolveMain(state, recorded, settled);
  if (recorded.type === 'MainMoved') noteCarried(state, recorded.data);
  evolveTimelines(state, recorded, (id) => dependantsOf(state, id));
  if (recorded.settles !== undefined) keepAnswer(state, recorded.settles);
  state.seq = recorded.seq;
  return state;
}

/** Folds an entry of any type. Returns it if this version knows the type. */
export function foldEntry(state: State, entry: Entry): RecordedEvent | undefined {
  const recorded = toRecordedEvent(entry);
  takeEntryNumbers(state, entry);
  if (recorded !== undefined) evolve(state, recorded);
  const unknown = findUnknownType(entry);
  if (unknown !== undefined && !state.unknown.has(unknown)) state.unknown.set(unknown, entry.seq);
  state.seq = entry.seq;
  return recorded;
}

/**
 * Returns the first entry that this version could not fold. While there is one, no command may be decided on this
 * state.
 */
export function findUnknownEntry({ unknown }: Pick<State, 'unknown'>): UnknownEntry | undefined {
  let first: UnknownEntry | undefined;
  for (const [type, seq] of unknown) if (first === undefined || seq < first.seq) first = { type, seq };
  return first;
}

interface UnknownEntry {
  readonly type: string;
  readonly seq: number;
}

/** Called before the entry is folded, because an entry that ends a claim is about that claim. */
function keepStatements(state: State, recorded: RecordedEvent): void {
  const found = statementsOf(state, recorded);
  if (found !== undefined)
    state.statements.set(found.taskId, addStatements(state.statements.get(found.taskId) ?? [], found.statements));
  evolveMemory(state.memory, state.tasks, recorded);
}

/** Larger than the number of answers during any client's retries. */
const KEPT_ANSWERS = 100_000;

function keepAnswer(state: State, { key, answer }: SettledRequest): void {
  state.settled.set(key, answer);
  if (state.settled.size <= KEPT_ANSWERS) return;
  for (const oldest of state.settled.keys()) {
    state.settled.delete(oldest);
    return;
  }
}

function evolveWithTask(state: State, recorded: RecordedEvent): void {
  const task = state.tasks.get(taskIdOf(recorded) ?? '');
  if (task === undefined) return;
  const after = evolveTask(task, recorded);
  state.tasks.set(task.id, after);
  if (after.flow.worker !== null) trackWorkflow(state, after, after.flow.worker);
  if (recorded.type === 'DependencyAdded') addDependant(state, recorded.data.after, task.id);
  if (recorded.type === 'TaskClaimed') {
    const { session_id: id, epoch, principal } = recorded.data;
    state.sessions.set(id, { id, taskId: task.id, epoch, principal, exit: null });
  }
  if (recorded.type === 'CheckFinished' && recorded.data.reporter !== undefined) {
    const { name, reporter } = recorded.data;
    state.reporters.set(reporterKey(name, reporter.repository), reporter.app);
  }
  if (recorded.type === 'SessionPrepared') prepareSession(state, recorded.data);
  if (recorded.type === 'ResultSubmitted')
    updateSession(state, recorded.data.session_id, { result: recorded.data.result });
  if (recorded.type === 'SessionMeasured') measureSession(state, recorded.data.session_id);
  if (HOW_CLAIM_ENDED.has(recorded.type) && 'session_id' in recorded.data)
    forgetUnmeasured(state, recorded.data.session_id ?? '');
  if (recorded.type === 'AgentSessionCompleted')
    updateSession(state, recorded.data.session_id, { exit: recorded.data });
  if (recorded.type === 'ThoughtRecorded') settleAudits(state, recorded);
}

/**
 * Without a next role no worker continues a workflow, for example after it was reinstated, so it does not count against
 * its worker's limit.
 */
function trackWorkflow({ workersWorkflows }: State, task: Task, worker: string): void {
  const isOver = isCancelled(task) || task.nextRole === null;
  if (isOver) workersWorkflows.delete(task.id);
  else if (!workersWorkflows.has(task.id)) workersWorkflows.set(task.id, worker);
}

function taskIdOf({ type, data }: RecordedEvent): string | null | undefined {
  if (type === 'AgentRequested') return data.task?.task_id;
  return 'task_id' in data ? data.task_id : undefined;
}

/** From then on main has commits of these tasks, and its newer positions do not show what others did. */
function noteCarried(state: State, { old, carried = [] }: EventOf<'MainMoved'>['data']): void {
  for (const id of carried) {
    const task = state.tasks.get(id);
    if (task === undefined || old === null || task.flow.mainBefore !== undefined) continue;
    state.tasks.set(id, { ...task, flow: { ...task.flow, mainBefore: old } });
  }
}

function prepareSession(state: State, prepared: SessionPreparation): void {
  const session = state.sessions.get(state.tasks.get(prepared.task_id)?.claim?.sessionId ?? '');
  if (session?.epoch === prepared.epoch) state.sessions.set(session.id, { ...session, prepared });
}

function updateSession(state: State, id: string, what: Partial<Session>): void {
  const session = state.sessions.get(id);
  if (session !== undefined) state.sessions.set(id, { ...session, ...what });
}

/** Removes a result that has been compared with the measurement. */
function measureSession(state: State, id: string): void {
  const session = state.sessions.get(id);
  if (session === undefined) return;
  const { result: _, ...rest } = session;
  state.sessions.set(id, { ...rest, measured: true });
}

/**
 * Removes the results of a claim by hand, which is never measured: otherwise, a caller that repeatedly claims and
 * reports would fill the memory.
 */
function forgetUnmeasured(state: State, id: string): void {
  const session = state.sessions.get(id);
  if (session?.result === undefined || session.prepared !== undefined) return;
  const { result: _, ...rest } = session;
  state.sessions.set(id, rest);
}

/** Settles audits: one of a task by a record of that task, one without a task by any record of its actor. */
function settleAudits(state: State, recorded: Extract<RecordedEvent, { type: 'ThoughtRecorded' }>): void {
  for (const { id, actor, taskId } of state.openAudits.values()) {
    const concerns = taskId === null ? actor === recorded.actor : taskId === recorded.data.task_id;
    if (concerns) state.openAudits.delete(id);
  }
}
