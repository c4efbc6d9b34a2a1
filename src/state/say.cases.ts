import type { Constraint } from '../protocol/agent-session-completed.ts';
import type { ExitReason, Phase } from '../protocol/phase.ts';
import type { Result } from '../protocol/result.ts';
import type { TaskUpdate } from '../protocol/task-update.ts';
import type { ThoughtRecord } from '../protocol/thought-record.ts';
import type { Caller } from './caller.ts';
import type { Command } from './decide.ts';
import { event, type Event, type EventOf, type Events } from './event.ts';
import type { ClaimTask, MoveReason } from './tasks/claim-task.ts';
import type { CreateTask } from './tasks/create-task.ts';
import { createTask } from './tasks/evolve-task.ts';
import type { ExitSession } from './tasks/exit-session.ts';
import type { OperateTask } from './tasks/operate-task.ts';
import type { SendHandoff } from './tasks/send-handoff.ts';
import type { HeldHandoff, Task } from './tasks/task.ts';

/** Short forms of commands and callers for tests. */
export const operator: Caller = { kind: 'operator', name: 'ann' };
export const PAGE_KEY = 'page-3-0a1b2c3d';
/** The same person, through a page. */
export const ofPage: Caller = { ...operator, via: PAGE_KEY };
export const addPageKey: Command = {
  kind: 'add-page-key',
  command: { key_id: PAGE_KEY, name: 'page-3', public_key: 'AAAA', origin: 'http://127.0.0.1:20001' },
};
export const worker: Caller = { kind: 'worker', name: 'bob' };
export const system: Caller = { kind: 'system', name: 'clock' };
/** A session; by default `s1`, that of the first claim on A. */
export function session(sessionId = 's1', taskId = 'A', epoch = 1): Caller & { kind: 'session' } {
  return { kind: 'session', sessionId, taskId, epoch };
}

export function create(id = 'A', more: Partial<CreateTask> = {}): Command {
  return { kind: 'create-task', command: { id, title: `do ${id}`, ...more } };
}

export function depend(id: string, after: string): Command {
  return { kind: 'add-dependency', command: { id, after } };
}

export function claim(id = 'A', sessionId = 's1', more: Partial<ClaimTask> = {}): Command {
  return { kind: 'claim-task', command: { id, sessionId, holder: `holder of ${sessionId}`, ...more } };
}

export function release(id = 'A', more: { epoch?: number; reason?: string } = {}): Command {
  return { kind: 'release-claim', command: { id, ...more } };
}

export function expire(id = 'A', epoch = 1): Command {
  return { kind: 'expire-claim', command: { id, epoch } };
}

export function update(status: TaskUpdate['status'], more: Partial<TaskUpdate> = {}): Command {
  return { kind: 'update-task', command: { task_id: 'A', status, ...more } };
}

export const SHA = 'abc123def456789abcdef456789abcdef456789a';

export function thought(more: Partial<ThoughtRecord> = {}): ThoughtRecord {
  return {
    task_id: 'A',
    branch: 'feature/a',
    commit_sha: SHA,
    tests_run: ['npm test'],
    summary: 'Done.',
    blockers: [],
    files_changed: ['a.ts'],
    related_thought_records: [],
    ...more,
  };
}

export function record(more: Partial<ThoughtRecord> = {}, epoch?: number): Command {
  const command = { recordId: 'r1', record: thought(more), ...(epoch === undefined ? {} : { epoch }) };
  return { kind: 'record-thought', command };
}

export function complete(more: Partial<ThoughtRecord> = {}, epoch?: number): Command {
  const command = { recordId: 'r1', record: thought(more), ...(epoch === undefined ? {} : { epoch }) };
  return { kind: 'complete-task', command };
}

export function operate(action: OperateTask['action'], reason = 'because', id = 'A'): Command {
  return { kind: 'operate-task', command: { id, action, reason } };
}

export function waive(constraint: Constraint, id = 'A', reason = 'a large rename'): Command {
  return { kind: 'waive-constraint', command: { id, constraint, reason } };
}

export function moveRules(...ids: readonly string[]): Command {
  return { kind: 'move-task-rules', command: { ids } };
}

export function note(text: string, more: Partial<Omit<Events['NoteAdded'], 'text'>> = {}): Command {
  return { kind: 'note-task', command: { task_id: 'A', text, ...more } };
}

export function exit(
  phase_completed: Phase = 'IMPLEMENTATION',
  exit_reason: ExitReason = 'completed',
  more: Partial<Omit<ExitSession, 'signal'>> & { notes?: string } = {},
): Command {
  const { notes, ...rest } = more;
  const said = notes === undefined ? {} : { notes };
  const signal = { protocol: 'apm2_agent_exit', version: '1.0.0', phase_completed, exit_reason, ...said };
  const command = { signal, eventId: 'e1', at: '2026-01-01T00:00:00.000Z', committed: false, violations: [], ...rest };
  return { kind: 'exit-session', command };
}

export function result(status: Result['status'] = 'completed', task_id = 'T001'): Command {
  const at = '2026-01-01T00:00:00Z';
  const log = [
    { level: 'info', message: 'began', timestamp: at },
    { level: 'info', message: 'ended', timestamp: at },
  ] as const;
  const command = { result: { version: '1', task_id, status, files_modified: [], log, completed_at: at } };
  return { kind: 'submit-result', command };
}

export function handoff(more: Partial<SendHandoff> = {}): Command {
  const command: SendHandoff = {
    handoffId: 'h1',
    taskId: 'A',
    from: 'implementer-agent',
    to: 'reviewer-agent',
    senderRole: 'implementer',
    phase: 'CI_PENDING',
    nextRole: 'reviewer',
    xml: '<handoff/>',
    ...more,
  };
  return { kind: 'send-handoff', command };
}

/** A handoff in the form that entries contain. */
export function heldHandoff(more: Partial<HeldHandoff> = {}): HeldHandoff {
  return {
    handoff_id: 'h1',
    task_id: 'A',
    from: 'implementer-agent',
    to: 'reviewer-agent',
    phase: 'CI_PENDING',
    next_role: 'reviewer',
    xml: '<handoff/>',
    ...more,
  };
}

export function startAudit(auditId = 'a1', taskId: string | null = 'A'): Command {
  return { kind: 'start-audit', command: { auditId, taskId } };
}

export function measure(sessionId: string, violations: readonly string[] = []): Command {
  const measured = { base: SHA, head: SHA, commits: 0, file_count: 0, files: [], new_dependencies: [], broken: [] };
  return { kind: 'measure-session', command: { sessionId, measured, violations } };
}

export const seal: Command = { kind: 'seal', command: null };

export function moved(
  from: Phase,
  to: Phase,
  { cause, reason }: MoveReason,
  next_role: string | null = null,
): EventOf<'PhaseMoved'> {
  return event('PhaseMoved', { task_id: 'A', from, to, next_role, cause, reason });
}

type ClaimEnd = 'ClaimCompleted' | 'ClaimBlocked' | 'ClaimFailed' | 'ClaimReleased' | 'ClaimExpired' | 'ClaimRevoked';

export function ended(type: ClaimEnd, reason: string | null = null, epoch = 1): Event {
  return event(type, { task_id: 'A', epoch, session_id: `s${epoch}`, reason });
}

/** Used if a task is missing, so that a test fails with a difference instead of an exception. */
export const emptyTask: Task = createTask(
  {
    type: 'TaskCreated',
    seq: 0,
    at: '',
    data: {
      task_id: '',
      n: 0,
      title: 'no such task',
      after: [],
      priority: 0,
      phase: 'DRAFT',
      next_role: null,
      prompt_file: null,
      epic_id: null,
      prd_id: null,
    },
  },
  { author: { actor: 'operator:ann', session: null }, origin: null },
);
