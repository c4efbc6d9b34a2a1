import type { Phase } from '../protocol/phase.ts';
import type { Caller } from './caller.ts';
import type { Command } from './decide.ts';
import type { Rules } from './rules.ts';

/**
 * A second implementation of the specification's rules, as simple as possible and without code of the kernel: what a
 * command may do, and the tasks' states after it. The kernel is compared with it after every command.
 */
export interface Model {
  readonly rules: Rules;
  /** The number of commands so far, accepted or not. */
  said: number;
  readonly tasks: Map<string, ModelTask>;
  /** Every session so far, and the exit signal that ended it. */
  readonly sessions: Map<string, { readonly task: string; readonly epoch: number; exit: string | null }>;
}

export interface ModelTask {
  phase: Phase;
  first: Phase;
  past: boolean;
  blockedFrom: Phase;
  cancelled: boolean;
  role: string | null;
  epoch: number;
  live: Live | null;
  /** The epochs of the records that count; null for an operator's own record. */
  records: (number | null)[];
  readonly after: string[];
  /** Whether the task was validated and Baton merges it. */
  merging: boolean;
  /** The principals that worked on the task. */
  readonly authors: Set<string>;
  /** Whether the task's commit is known. The model has only one commit. */
  head: boolean;
  /** The approver, and whether the commit was known at the approval. */
  approval: { readonly by: string; readonly head: boolean } | null;
}

interface Live {
  readonly session: string;
  readonly principal: string;
  readonly role: string | null;
  readonly wasReady: boolean;
  readonly requires: readonly string[];
  result: string | null;
  handoff: { readonly phase: Phase | null; readonly next: string | null; readonly isError: boolean } | null;
}

type Of<K extends Command['kind']> = Extract<Command, { kind: K }>['command'];

export function createModel(rules: Rules): Model {
  return { rules, said: 0, tasks: new Map(), sessions: new Map() };
}

/** Returns whether the command is accepted; if so, the model has applied it. */
export function accepts(model: Model, { kind, command }: Command, caller: Caller): boolean {
  model.said += 1;
  switch (kind) {
    case 'create-task':
      return create(model, command, caller);
    case 'add-dependency':
      return depend(model, command);
    case 'claim-task':
      return claim(model, command, caller);
    case 'release-claim':
      return withTask(model, command.id, caller, (task) => abandon(task, command.epoch));
    case 'expire-claim':
      return withTask(model, command.id, caller, (task) => abandon(task, command.epoch));
    case 'update-task':
      return withTask(model, command.task_id, caller, (task) => update(model, task, command, caller));
    case 'record-thought':
      return withTask(model, command.record.task_id, caller, (task) => record(task, command, caller));
    case 'complete-task':
      return withTask(model, command.record.task_id, caller, (task) => complete(model, task, command, caller));
    case 'operate-task':
      return withTask(model, command.id, caller, (task) => operate(task, command));
    case 'exit-session':
      return exit(model, command, caller);
    case 'submit-result':
      return withTask(model, caller.kind === 'session' ? caller.taskId : '', caller, (task) => {
        if (task.live !== null) task.live.result = command.result.status;
        return true;
      });
    case 'send-handoff':
      return withTask(model, command.taskId, caller, (task) => send(model, task, command, caller));
    default:
      return true;
  }
}

/** Requires that the task exists, and that the calling session holds it: every write of a session passes this check. */
function withTask(model: Model, id: string, caller: Caller, then: (task: ModelTask) => boolean): boolean {
  const task = model.tasks.get(id);
  if (task === undefined) return false;
  if (caller.kind === 'session' && (caller.taskId !== id || task.live?.session !== caller.sessionId)) return false;
  return then(task);
}

function create(
  model: Model,
  { id, after = [], phase = 'IMPLEMENTATION', nextRole }: Of<'create-task'>,
  caller: Caller,
): boolean {
  if (caller.kind === 'session' && model.tasks.get(caller.taskId)?.live?.session !== caller.sessionId) return false;
  const early = phase === 'DRAFT' || phase === 'IMPLEMENTATION';
  if (model.tasks.has(id) || phase === 'COMPLETED' || phase === 'BLOCKED') return false;
  if (!early && caller.kind !== 'operator') return false;
  if (after.some((before) => before === id || !model.tasks.has(before))) return false;
  const start = {
    phase,
    first: phase,
    past: false,
    blockedFrom: phase,
    cancelled: false,
    role: nextRole ?? null,
    epoch: 0,
    live: null,
    records: [],
    merging: false,
    head: false,
    approval: null,
  };
  model.tasks.set(id, { ...start, after: [...after], authors: new Set() });
  return true;
}

function depend(model: Model, { id, after }: Of<'add-dependency'>): boolean {
  const task = model.tasks.get(id);
  if (task === undefined || !model.tasks.has(after)) return false;
  if (task.after.includes(after)) return true;
  const waitsFor = (from: string): boolean => from === id || (model.tasks.get(from)?.after ?? []).some(waitsFor);
  if (waitsFor(after)) return false;
  task.after.push(after);
  return true;
}

export function isClaimable({ tasks, rules }: Model, task: ModelTask): boolean {
  const isWork = !['COMPLETED', 'BLOCKED', ...(rules.ciGate ? ['CI_PENDING'] : [])].includes(task.phase);
  return (
    task.live === null && !task.merging && isWork && task.after.every((id) => tasks.get(id)?.phase === 'COMPLETED')
  );
}

/** The principal, by token; the claim's own name is only a label. */
function principalOf(caller: Caller, live: Live | null): string {
  if (caller.kind === 'session') return live?.principal ?? '';
  return 'name' in caller ? `${caller.kind}:${caller.name}` : '';
}

const JUDGED: ReadonlySet<Phase> = new Set(['READY_FOR_REVIEW', 'REVIEW', 'READY_FOR_MERGE']);

/** An author must not judge, except that a person may merge what another principal has approved. */
function mayJudge(task: ModelTask, principal: string): boolean {
  if (!task.authors.has(principal)) return true;
  const { approval, phase, head } = task;
  const isApproved = approval !== null && approval.head && head && !task.authors.has(approval.by);
  return principal.startsWith('operator:') && phase === 'READY_FOR_MERGE' && isApproved;
}

/** Reports whether the claim has the role that the task waits for. */
function isTurn({ role, live }: ModelTask): boolean {
  return role === null || live?.role === role;
}

function isApproval(from: Phase, to: Phase): boolean {
  return to === 'READY_FOR_MERGE' ? from !== to : to === 'COMPLETED' && JUDGED.has(from);
}

function claim(model: Model, { id, sessionId, requires = [], ...command }: Of<'claim-task'>, caller: Caller): boolean {
  const role = command.role ?? null;
  const task = model.tasks.get(id);
  if (task === undefined || model.sessions.has(sessionId)) return false;
  const isFree = task.live === null && !task.merging;
  const closes = task.phase === 'COMPLETED' && isFree && role !== null && role === task.role;
  if (!closes && !isClaimable(model, task)) return false;
  if (role !== null && task.role !== null && role !== task.role) return false;
  const principal = principalOf(caller, null);
  if (JUDGED.has(task.phase) && !mayJudge(task, principal)) return false;
  if (task.phase === 'IMPLEMENTATION' || role === 'implementer') task.authors.add(principal);
  const wasReady = task.phase === 'READY_FOR_REVIEW';
  task.epoch += 1;
  task.live = { session: sessionId, principal, role, wasReady, requires, result: null, handoff: null };
  if (wasReady) task.phase = 'REVIEW';
  model.sessions.set(sessionId, { task: id, epoch: task.epoch, exit: null });
  return true;
}

function abandon(task: ModelTask, epoch = task.epoch): boolean {
  if (task.live === null || epoch !== task.epoch) return false;
  if (task.live.wasReady && task.phase === 'REVIEW') task.phase = 'READY_FOR_REVIEW';
  task.live = null;
  return true;
}

function move(task: ModelTask, to: Phase, role: string | null): void {
  if (to === 'BLOCKED' && task.phase !== 'BLOCKED') task.blockedFrom = task.phase;
  if (to !== 'BLOCKED') task.cancelled = false;
  if (to !== 'BLOCKED' && to !== task.first) task.past = true;
  task.phase = to;
  task.role = role;
  task.live = null;
}

/** Reports whether a path to this phase is open: checks writeback first, then the gates. */
function isOpen(model: Model, task: ModelTask, to: Phase, epoch: number | null): boolean {
  const completes = to === 'COMPLETED' && task.phase !== 'COMPLETED';
  if (completes && (epoch === null ? task.records.length === 0 : !task.records.includes(epoch))) return false;
  return passesGates(model, task, to);
}

function passesGates({ rules }: Model, task: ModelTask, to: Phase): boolean {
  const isLate = (phase: Phase): boolean => !['DRAFT', 'IMPLEMENTATION', 'CI_PENDING', 'BLOCKED'].includes(phase);
  if (to === 'COMPLETED' && task.phase !== 'COMPLETED' && rules.mergeGate) return false;
  return !(rules.ciGate && isLate(to) && !isLate(task.phase));
}

function update(model: Model, task: ModelTask, { status }: Of<'update-task'>, caller: Caller): boolean {
  const isHolder = caller.kind === 'session';
  if (status === 'done') return finish(model, task, isHolder ? task.epoch : null, principalOf(caller, task.live));
  if (status === 'blocked') {
    if (task.phase === 'COMPLETED' || task.cancelled) return false;
    if (task.phase !== 'BLOCKED') move(task, 'BLOCKED', task.role);
    return true;
  }
  if (!isHolder && (task.phase === 'COMPLETED' || task.phase === 'BLOCKED')) return false;
  if (status === 'todo') abandon(task);
  return true;
}

function finish(model: Model, task: ModelTask, epoch: number | null, principal: string): boolean {
  if (task.phase === 'COMPLETED') return true;
  if (task.phase === 'BLOCKED' || !isOpen(model, task, 'COMPLETED', epoch)) return false;
  if (JUDGED.has(task.phase) && !mayJudge(task, principal)) return false;
  if (JUDGED.has(task.phase) && epoch !== null && !isTurn(task)) return false;
  move(task, 'COMPLETED', null);
  return true;
}

function record(task: ModelTask, { record, epoch }: Of<'record-thought'>, caller: Caller): boolean {
  const isForNobody = caller.kind === 'operator' && epoch === undefined;
  if (caller.kind === 'operator' && !isForNobody && (task.live === null || epoch !== task.epoch)) return false;
  if (record.status === 'todo') reinstate(task);
  else {
    task.records.push(isForNobody ? null : task.epoch);
    const holder = isForNobody ? [] : [task.live?.principal ?? ''];
    nameCommit(task, [...holder, ...(caller.kind === 'operator' ? [principalOf(caller, null)] : [])]);
  }
  return true;
}

/** While a task is worked on, the holder for whom the commit is first named and the operator who names it are authors. */
function nameCommit(task: ModelTask, principals: readonly string[]): void {
  if (task.head || task.phase === 'COMPLETED' || JUDGED.has(task.phase)) return;
  for (const each of principals) task.authors.add(each);
  task.head = task.phase !== 'BLOCKED';
}

function reinstate(task: ModelTask): void {
  move(task, 'IMPLEMENTATION', null);
  task.first = 'IMPLEMENTATION';
  task.past = false;
  task.records = [];
  task.approval = null;
}

function complete(model: Model, task: ModelTask, command: Of<'complete-task'>, caller: Caller): boolean {
  if (command.record.status === 'todo') return false;
  const before = structuredClone(task);
  const principal = principalOf(caller, task.live);
  const epoch = caller.kind === 'session' ? task.epoch : null;
  if (record(task, command, caller) && finish(model, task, epoch, principal)) return true;
  task.records = before.records;
  task.head = before.head;
  for (const each of task.authors) if (!before.authors.has(each)) task.authors.delete(each);
  return false;
}

function operate(task: ModelTask, { action }: Of<'operate-task'>): boolean {
  if (action === 'unblock') {
    if (task.phase !== 'BLOCKED' || task.cancelled) return false;
    move(task, task.blockedFrom, task.role);
  } else if (action === 'reinstate') reinstate(task);
  else if (action === 'cancel') {
    if (task.phase === 'COMPLETED') return false;
    if (!task.cancelled) move(task, 'BLOCKED', task.role);
    task.cancelled = true;
  } else if (task.phase !== 'COMPLETED') {
    if (task.phase === 'BLOCKED') return false;
    move(task, 'COMPLETED', null);
  }
  return true;
}

const ARROWS: Partial<Record<Phase, Phase>> = {
  DRAFT: 'IMPLEMENTATION',
  IMPLEMENTATION: 'CI_PENDING',
  CI_PENDING: 'READY_FOR_REVIEW',
  REVIEW: 'READY_FOR_MERGE',
  READY_FOR_MERGE: 'COMPLETED',
};

function exit(model: Model, { signal, violations, committed }: Of<'exit-session'>, caller: Caller): boolean {
  const session = caller.kind === 'session' ? model.sessions.get(caller.sessionId) : undefined;
  const said = `${signal.phase_completed} ${signal.exit_reason} ${signal.notes ?? ''}`;
  if (session?.exit === said) return true;
  const task = model.tasks.get(session?.task ?? '');
  const live = task?.live;
  if (session === undefined || task === undefined || !live || session.epoch !== task.epoch) return false;
  if (signal.phase_completed !== task.phase) return false;
  const there = {
    exit: true,
    result: live.result !== null,
    handoff: live.handoff !== null,
    thought_record: task.records.includes(task.epoch),
  };
  const claims = signal.exit_reason === 'completed';
  const wanted = whereTo(task, live.handoff, true)?.phase;
  const isGated = wanted === 'CI_PENDING' && task.phase !== wanted && (model.rules.ciGate || model.rules.mergeGate);
  const owed = new Set([...live.requires, ...(committed || isGated ? ['thought_record'] : [])]);
  if (claims && Object.entries(there).some(([what, isThere]) => owed.has(what) && !isThere)) return false;
  const succeeds = claims && violations.length === 0 && (live.result ?? 'completed') === 'completed';
  const to = whereTo(task, succeeds || live.handoff?.isError === true ? live.handoff : null, succeeds);
  if (to !== null && isApproval(task.phase, to.phase) && !(isTurn(task) && mayJudge(task, live.principal)))
    return false;
  const handsOn = succeeds && live.handoff !== null && to?.phase === 'COMPLETED';
  if (handsOn && task.phase === 'READY_FOR_MERGE' && model.rules.mergeGate) {
    // A commit that was first recorded after the review has not been reviewed.
    if (task.records.length === 0 || !task.head) return false;
    session.exit = said;
    task.live = null;
    task.merging = true;
    return true;
  }
  if (to !== null && !isOpen(model, task, to.phase, task.epoch)) return false;
  session.exit = said;
  if (to?.phase === 'READY_FOR_MERGE') task.approval = { by: live.principal, head: task.head };
  if (to === null) task.live = null;
  else move(task, to.phase, to.role);
  return true;
}

/** The phase that an exit leads to; null if the task stays unchanged. */
function whereTo(
  task: ModelTask,
  handoff: Live['handoff'],
  succeeds: boolean,
): { phase: Phase; role: string | null } | null {
  const isDone = task.phase === 'COMPLETED';
  if (handoff !== null)
    return handoff.phase === null || (isDone && handoff.phase !== 'COMPLETED')
      ? null
      : { phase: handoff.phase, role: handoff.next };
  if (succeeds) return { phase: ARROWS[task.phase] ?? task.phase, role: null };
  return isDone ? null : { phase: 'BLOCKED', role: task.role };
}

function send(
  model: Model,
  task: ModelTask,
  { phase, nextRole: next, senderRole, to }: Of<'send-handoff'>,
  caller: Caller,
): boolean {
  const leaves = task.phase === 'COMPLETED' && phase !== null && phase !== 'COMPLETED' && phase !== 'BLOCKED';
  if (leaves) return false;
  if (caller.kind === 'session') {
    if (task.live === null || task.live.role === null || task.live.role !== senderRole) return false;
    const isVerdict = phase !== null && isApproval(task.phase, phase) && passesGates(model, task, phase);
    if (isVerdict && !mayJudge(task, task.live.principal)) return false;
    task.live.handoff = { phase, next, isError: to === 'orchestrator' };
    return true;
  }
  const turn = task.live?.role ?? task.role;
  if (task.phase === 'BLOCKED' || (turn !== null && turn !== senderRole)) return false;
  if (phase === null || (task.phase === 'COMPLETED' && phase === 'BLOCKED')) return true;
  if (!isOpen(model, task, phase, null)) return false;
  const isGated = phase === 'CI_PENDING' && task.phase !== phase && (model.rules.ciGate || model.rules.mergeGate);
  if (isGated && !task.head && task.records.length === 0) return false;
  if (isApproval(task.phase, phase) && !mayJudge(task, principalOf(caller, null))) return false;
  move(task, phase, next);
  return true;
}
