import { findReportedError } from '../../protocol/handoff/index.ts';
import type { Result } from '../../protocol/result.ts';
import type { EventOf, EventType, RecordedEvent } from '../event.ts';
import { HOW_CLAIM_ENDED } from '../event.ts';
import type { Decision } from '../runs/decision.ts';
import { excerptStart } from '../runs/excerpt.ts';
import type { Runs } from '../runs/runs.ts';
import type { Task } from '../tasks/task.ts';
import type { HandoffRef } from '../workflow/workflow-event.ts';
import { authorOf, nameHolder } from './author-of.ts';
import { describeFields, describeHandoff, describeNote, describeRecord, oneLine } from './describe-message.ts';
import { describeMeasured, describeResult } from './describe-session.ts';
import { report, reportEnd, type Report } from './report.ts';
import type { Statement } from './statement.ts';

/** The part of the state from which statements are made, before the entry is folded. */
export interface StatementSource extends Pick<Runs, 'agents' | 'pipelines' | 'decisions'> {
  readonly tasks: ReadonlyMap<string, Task>;
  readonly sessions: ReadonlyMap<
    string,
    { readonly result?: Result; readonly exit: { readonly notes?: string } | null }
  >;
}

export interface TaskStatements {
  readonly taskId: string;
  readonly statements: readonly Statement[];
}

/** Returns an entry's statement about a task; undefined if it makes none. */
export function statementsOf(source: StatementSource, recorded: RecordedEvent): TaskStatements | undefined {
  // Each row takes the data of its own type, but TypeScript can check that only for one type at a time.
  const describe = DESCRIBERS[recorded.type] as Describer<EventType> | undefined; // oxlint-disable-line typescript/no-unsafe-type-assertion
  if (describe === undefined) return undefined;
  const task = source.tasks.get(findTaskId(source, recorded) ?? '');
  if (task === undefined) return undefined;
  const reports = describe(recorded.data, { source, task, recorded });
  if (reports.length === 0) return undefined;
  const { seq, at } = recorded;
  const author = authorOf(recorded.actor, task);
  return { taskId: task.id, statements: reports.map((report) => ({ seq, at, author, ...report })) };
}

/** The task of an entry, found directly or through a decision, a pipeline or an agent. */
export function findTaskId(
  { agents, pipelines, decisions }: Pick<StatementSource, 'agents' | 'pipelines' | 'decisions'>,
  { data }: RecordedEvent,
): string | null | undefined {
  if ('task_id' in data) return data.task_id;
  if ('decision_id' in data) {
    const { taskId = null, agentId = null } = decisions.get(data.decision_id ?? '') ?? {};
    return taskId ?? agents.get(agentId ?? '')?.task?.task_id;
  }
  if ('pipeline_id' in data) return pipelines.get(data.pipeline_id ?? '')?.task?.task_id;
  return 'agent_id' in data ? agents.get(data.agent_id)?.task?.task_id : undefined;
}

interface Circumstances {
  readonly source: StatementSource;
  readonly task: Task;
  readonly recorded: RecordedEvent;
}

type Describer<T extends EventType> = (data: EventOf<T>['data'], around: Circumstances) => readonly Report[];

/** Every type of entry with text of an agent, a person or a gate that the next reader of a task needs. */
const DESCRIBERS: { readonly [T in EventType]?: Describer<T> } = {
  TaskProgressed: ({ notes, progress }, { recorded: { actor } }) => {
    const title = progress === null ? 'Task update' : `Task update, ${progress} %`;
    return notes === null ? [] : [report(isPerson(actor) ? 'people' : 'progress', title, notes)];
  },
  ThoughtRecorded: ({ record_id, record }) => [
    {
      ...report('record', `Record at commit ${record.commit_sha.slice(0, 12)}`, describeRecord(record)),
      ref: record_id,
    },
  ],
  TaskAssigned: ({ reason }) =>
    reason === undefined ? [] : [report('people', 'The assignment was taken back', reason)],
  TaskReinstated: ({ reason, by }, { recorded: { actor } }) => {
    // A worker without a claim is recorded as an operator; `by` names it.
    const section = by === undefined && isPerson(actor) ? 'people' : 'ending';
    const author = by === undefined ? {} : { author: by };
    return [{ ...report(section, 'The task was reinstated', reason), ...author }];
  },
  WritebackWaived: ({ reason }) => [report('people', 'The thought record was waived', reason)],
  ConstraintWaived: ({ constraint, reason }) => [report('people', `The constraint ${constraint} was waived`, reason)],
  NoteAdded: (note) => [report('people', 'Note', describeNote(note))],
  SelfApproved: ({ reason, head }) => [report('people', `Approved by its author at ${head.slice(0, 12)}`, reason)],
  PhaseMoved: ({ cause, reason, to }, { recorded: { actor } }) =>
    isPerson(actor) && PERSONAL_MOVES.has(cause) ? [report('people', `Moved to ${to} (${cause})`, reason)] : [],
  AgentSessionCompleted: ({ exit_reason, claimed_exit_reason, notes, pr_url, evidence_bundle_ref }) => {
    const claimed = claimed_exit_reason === undefined ? '' : `, reported as ${claimed_exit_reason}`;
    const text = describeFields(Object.entries({ notes, pr_url, evidence_bundle_ref }));
    return text === '' ? [] : [report('ending', `Exit signal: ${exit_reason}${claimed}`, text)];
  },
  EvidenceRecorded: ({ head_sha, blob, commands, ...words }) => {
    const run = commands.map(({ run, exit_code }) => `${run} (exit code ${exit_code})`);
    const { failed_approaches, decisions, next_step } = words;
    const fields = { next_step, failed_approaches, decisions, commands: run, head_sha, bundle: blob };
    return [report('tried', `Evidence at ${head_sha.slice(0, 12)}`, describeFields(Object.entries(fields)))];
  },
  ClaimCompleted: describeClaimEnd,
  ClaimBlocked: describeClaimEnd,
  ClaimFailed: describeClaimEnd,
  ClaimReleased: describeClaimEnd,
  ClaimExpired: describeClaimEnd,
  ClaimRevoked: describeClaimEnd,
  ResultSubmitted: ({ result }) => describeResult(result),
  SessionMeasured: describeMeasured,
  HandoffDelivered: describeDelivered,
  HandoffDropped: (handoff) => [
    {
      ...report(
        'handoff',
        `Not delivered, to ${handoff.to ?? 'workflow-complete'}: ${handoff.reason}`,
        describeHandoff(handoff),
      ),
      ref: handoff.handoff_id,
    },
  ],
  CheckFinished: ({ name, outcome, exit_code, output, head }) =>
    outcome === 'failed'
      ? [
          reportEnd(
            'check',
            `Check ${oneLine(name)} failed at ${head.slice(0, 12)}${exit_code === null ? '' : `, exit code ${exit_code}`}`,
            output ?? '',
          ),
        ]
      : [],
  MergeFinished: ({ outcome, reason, files, output }) =>
    outcome === 'merged'
      ? []
      : [
          reportEnd(
            'check',
            `Merge: ${outcome}`,
            describeFields(Object.entries({ reason, files: files.join(', '), output })),
          ),
        ],
  PullRequestFailed: ({ reason }) => [report('check', 'The pull request could not be opened or updated', reason)],
  DecisionResolved: ({ decision_id, action, message, option, hand_to, by }, { source, task }) => {
    const decision = source.decisions.get(decision_id);
    // An agent may have written the question, so it is quoted and cannot be mistaken for the answer.
    const asked =
      decision === undefined || isCheckpoint(decision, task)
        ? ''
        : `Question: ${decision.title}: ${JSON.stringify(questionOf(decision.context))}`;
    const chosen = decision?.options[option - 1]?.label ?? action;
    const text = message === null ? asked : `${message}\n${asked}`;
    return [
      {
        ...report(
          'people',
          `Decision: ${oneLine(chosen)} (${action}${hand_to === undefined ? '' : ` to ${hand_to.name}`})`,
          text,
        ),
        ref: decision_id,
        ...(by === undefined ? {} : { author: by }),
      },
    ];
  },
  AgentSignalled: ({ kind, message }) =>
    message === null ? [] : [report(kind === 'escalate' ? 'question' : 'progress', `Signal: ${kind}`, message)],
  AgentPrompted: ({ prompt }) => [report('question', 'The agent asked for permission', prompt)],
  MessageRequested: ({ text }, { recorded: { actor } }) =>
    isPerson(actor) ? [report('people', 'Message to the running agent', text)] : [],
  AgentResumeRequested: ({ message }, { recorded: { actor } }) =>
    isPerson(actor) && message !== null ? [report('people', 'The agent was resumed', message)] : [],
  AgentKillRequested: ({ reason }, { recorded: { actor } }) =>
    isPerson(actor) ? [report('people', 'The agent was stopped', reason)] : [],
  PipelineCancelRequested: ({ reason }, { recorded: { actor } }) =>
    isPerson(actor) ? [report('people', 'The pipeline was cancelled', reason)] : [],
};

/** A checkpoint asks only whether to continue, so its options express everything. */
function isCheckpoint({ id, source, options }: Decision, { flow: { held } }: Task): boolean {
  return source === 'review' && held?.decisionId === id && options[0]?.action === 'approve';
}

/** The last line, since the lines before it repeat the task's title. */
function questionOf(context: string): string {
  return excerptStart(context.trim().split('\n').at(-1) ?? '', 200);
}

/** Moves whose reason a person wrote and no other entry contains. */
const PERSONAL_MOVES: ReadonlySet<string> = new Set(['unblocked', 'cancelled', 'imported']);

function isPerson(actor: string): boolean {
  return actor.startsWith('operator:');
}

function describeClaimEnd(
  { session_id, reason }: { readonly session_id: string; readonly reason: string | null },
  { source, task, recorded }: Circumstances,
): readonly Report[] {
  const how = HOW_CLAIM_ENDED.get(recorded.type) ?? 'ended';
  const { claim } = task;
  const whose = claim?.sessionId === session_id ? ` of ${nameHolder(claim)}` : '';
  // The session's exit signal, or the update that ended it, has its own statement.
  const isKnown = reason === task.notes || reason === source.sessions.get(session_id)?.exit?.notes;
  const text = isKnown ? '' : (reason ?? '');
  return [report('ending', `Claim ${claim?.epoch ?? ''}${whose}: ${how}`, text)];
}

function describeDelivered(handoff: HandoffRef, { source }: Circumstances): readonly Report[] {
  const { from, to, handoff_id: ref } = handoff;
  // This handoff repeats the output of failed checks, which have their own statements.
  if (from === 'ci-gate') return [];
  const text = describeHandoff(handoff);
  const error = findReportedError(handoff);
  if (error !== undefined) {
    const recovery = error.recoverable ? 'recoverable' : 'not recoverable';
    return [{ ...report('error', `Error handoff from ${from}, ${recovery}`, text), ref }];
  }
  const title = `From ${from} to ${to ?? 'workflow-complete'}`;
  const sent = { ...report(to === 'fixer-agent' ? 'finding' : 'handoff', title, text), ref };
  const person = from === 'operator' ? findSender(source, handoff) : undefined;
  return [person === undefined ? sent : { ...sent, author: person }];
}

/** The sender, if the engine delivers the handoff of a person who sent work back. */
function findSender({ decisions }: StatementSource, { task_id }: HandoffRef): string | undefined {
  const senders = [...decisions.values()].flatMap(({ taskId, result }) =>
    taskId === task_id && result?.kind === 'resolved' && result.action === 'send_back' ? result.by : [],
  );
  return senders.at(-1);
}
