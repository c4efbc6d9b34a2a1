import type { Phase } from '../../protocol/phase.ts';
import type { Command } from '../../state/decide.ts';
import type { Task } from '../../state/tasks/task.ts';

/** The role that each role hands its work to, with the phase that the handoff asks for. */
const EDGES: Readonly<Record<string, { readonly to: string; readonly phase: Phase; readonly next: string }>> = {
  'issue-manager': { to: 'prep-agent', phase: 'DRAFT', next: 'prep' },
  prep: { to: 'implementer-agent', phase: 'IMPLEMENTATION', next: 'implementer' },
  implementer: { to: 'reviewer-agent', phase: 'CI_PENDING', next: 'reviewer' },
  fixer: { to: 'reviewer-agent', phase: 'CI_PENDING', next: 'reviewer' },
  reviewer: { to: 'validator-agent', phase: 'READY_FOR_MERGE', next: 'validator' },
  validator: { to: 'closer-agent', phase: 'COMPLETED', next: 'closer' },
};

const senderOf = (role: string): string => (role === 'issue-manager' ? role : `${role}-agent`);

/** The handoff with which a role passes its work on. */
export function passOn(id: string, task: Task, role: string): Command {
  const edge = EDGES[role];
  const about = { handoffId: id, taskId: task.id, from: senderOf(role), senderRole: role };
  if (edge === undefined)
    return {
      kind: 'send-handoff',
      command: { ...about, to: null, phase: 'COMPLETED', nextRole: null, xml: '<workflow-complete/>' },
    };
  const xml =
    role === 'validator'
      ? inXml(role, edge.to, task, VALIDATED)
      : inXml(role, edge.to, task, `<summary>${id}</summary>`);
  return { kind: 'send-handoff', command: { ...about, to: edge.to, phase: edge.phase, nextRole: edge.next, xml } };
}

export function sendBack(id: string, task: Task, role: string, finding: string): Command {
  const issue = `<issue location="a.ts:1" severity="critical">${finding}</issue>`;
  const words =
    role === 'validator'
      ? `<validation_status>failed</validation_status><failures><failure type="tests">${finding}</failure></failures>`
      : `<review_status>changes_requested</review_status><critical_count>1</critical_count><blocking_issues>${issue}</blocking_issues>`;
  const xml = inXml(role, 'fixer-agent', task, words);
  const about = { handoffId: id, taskId: task.id, from: senderOf(role), senderRole: role };
  return {
    kind: 'send-handoff',
    command: { ...about, to: 'fixer-agent', phase: 'IMPLEMENTATION', nextRole: 'fixer', xml },
  };
}

export function reportError(id: string, task: Task, role: string, isRecoverable: boolean): Command {
  const error = `<error><type>NetworkError</type><message>no answer</message><details></details><recoverable>${isRecoverable}</recoverable><suggested_action>wait</suggested_action></error>`;
  const xml = `<handoff><from>${senderOf(role)}</from><to>orchestrator</to><status>failure</status>${error}</handoff>`;
  const about = { handoffId: id, taskId: task.id, from: senderOf(role), senderRole: role };
  return { kind: 'send-handoff', command: { ...about, to: 'orchestrator', phase: 'BLOCKED', nextRole: role, xml } };
}

const VALIDATED =
  '<validation_summary><tests>passed</tests><coverage>n/a</coverage><lint>passed</lint><type_check>passed</type_check><security>none</security></validation_summary>';

function inXml(role: string, to: string, { n }: Task, words: string): string {
  const pull = `<pr_url>https://example.org/pull/${n}</pr_url><pr_number>${n}</pr_number>`;
  return `<handoff><from>${senderOf(role)}</from><to>${to}</to><issue_number>${n}</issue_number>${pull}${words}</handoff>`;
}

export function record(recordId: string, task: Task, branch: string, sha: string, more: object = {}): Command {
  return {
    kind: 'record-thought',
    command: {
      recordId,
      record: {
        task_id: task.id,
        branch,
        commit_sha: sha,
        tests_run: ['unit'],
        summary: `Summary ${recordId}.`,
        blockers: [],
        files_changed: [],
        related_thought_records: [],
        ...more,
      },
    },
  };
}

export function result(task: Task, at: string, { status = 'completed', question }: ResultParts = {}): Command {
  const id = /^T[0-9]+$/.test(task.id) ? task.id : `T${String(task.n).padStart(3, '0')}`;
  const log = ['began', 'ended'].map((message) => ({ level: 'info' as const, message, timestamp: at }));
  const issues = question === undefined ? {} : { issues: [{ type: 'question' as const, description: question }] };
  const about = { version: '1', task_id: id, status, files_modified: [], log, completed_at: at } as const;
  return { kind: 'submit-result', command: { result: { ...about, ...issues } } };
}

interface ResultParts {
  readonly status?: 'completed' | 'failed' | 'blocked';
  readonly question?: string;
}

export function signal(
  kind: 'complete' | 'escalate' | 'continue',
  agentId: string,
  { eventId, at, message }: { readonly eventId: string; readonly at: string; readonly message?: string },
): Command {
  const said = message === undefined ? {} : { message };
  return { kind: 'signal-agent', command: { agentId, signal: kind, exitProtocol: false, eventId, at, ...said } };
}
