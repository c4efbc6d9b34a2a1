import type { TaskOverview } from '../../api/operations/task-view.ts';
import { findReportedError, summarizeError } from '../../protocol/handoff/index.ts';
import { renderSandbox } from '../../protocol/sandbox.ts';
import { type Fields, fieldsOf, textOf } from '../../protocol/shape/read-unknown.ts';
import { oneLine, printable, shortId } from '../text.ts';

export type RunProgress =
  | { readonly kind: 'running' }
  | { readonly kind: 'over'; readonly outcome: string }
  | { readonly kind: 'waiting'; readonly decisionId: string };

/** Describes the entries of one pipeline or agent, and of everything that it starts, one line each. */
export class RunStory {
  readonly #root: string;
  readonly #members = new Map<string, { readonly name: string; readonly indent: string }>();
  #progress: RunProgress = { kind: 'running' };

  /** `asked`: the decision that the run waits for when the story starts. */
  constructor(root: string, asked: string | null = null) {
    this.#root = root;
    this.#members.set(root, { name: shortId(root), indent: '' });
    if (asked !== null) this.#progress = { kind: 'waiting', decisionId: asked };
  }

  /** Adds a member that started before the story. An owner must be added before its members. */
  know(id: string, name: string, ownerId: string | null): void {
    const owner = this.#members.get(ownerId ?? '');
    if (owner === undefined && id !== this.#root) return;
    this.#members.set(id, { name, indent: owner === undefined ? '' : `${owner.indent}    ` });
  }

  get progress(): RunProgress {
    return this.#progress;
  }

  /** Undefined for entries of other runs, and for those that people do not need. */
  describe(type: string, data: Fields): string | undefined {
    this.#addMember(type, data);
    const id = textOf(data['pipeline_id'] ?? data['agent_id']);
    const member = this.#members.get(id);
    if (member === undefined) return undefined;
    this.#follow(type, id, data);
    const line = RUN_SENTENCES[type]?.(data, member.name);
    if (line === undefined) return undefined;
    const indent = OF_STEPS.test(type) ? `${member.indent}  ` : member.indent;
    return `${indent}${printable(oneLine(line).replaceAll(/\s+/g, ' '))}`;
  }

  #addMember(type: string, data: Fields): void {
    if (type !== 'PipelineStarted' && type !== 'AgentRequested') return;
    const isAgent = type === 'AgentRequested';
    const id = textOf(data[isAgent ? 'agent_id' : 'pipeline_id']);
    const name = textOf(isAgent ? fieldsOf(data['plan'])['name'] : data['name']);
    this.know(id, name, textOf(fieldsOf(data[isAgent ? 'owner' : 'parent'])['pipeline_id']));
  }

  #follow(type: string, id: string, data: Fields): void {
    const isRoot = id === this.#root;
    if (isRoot && (type === 'PipelineFinished' || type === 'AgentEnded')) {
      this.#progress = { kind: 'over', outcome: textOf(data['outcome']) };
    } else if (type === 'StepWaiting' || (isRoot && type === 'AgentParked')) {
      this.#progress = { kind: 'waiting', decisionId: textOf(data['decision_id']) };
    } else if (type === 'StepResumed' || type === 'AgentUnparked') {
      this.#progress = { kind: 'running' };
    }
  }
}

/** Indented one level deeper than their pipeline. */
const OF_STEPS = /^(?:Step|Workspace)/;
/** `name` is the pipeline's or agent's name. */
type Sentences = Readonly<Record<string, (data: Fields, name: string) => string | undefined>>;

const RUN_SENTENCES: Sentences = {
  PipelineStarted: ({ pipeline_id }, name) => `${name} ${shortId(textOf(pipeline_id))} started`,
  PipelineFinished: ({ outcome, reason }, name) => `${name} ${textOf(outcome)}${reasonSuffix(reason)}`,
  PipelineCancelRequested: ({ reason }, name) => `${name} is being cancelled${reasonSuffix(reason)}`,
  StepStarted: ({ step, visit }) => `${textOf(step)}: started${Number(visit) > 1 ? ` (try ${Number(visit)})` : ''}`,
  StepWaiting: ({ step, reason }) => `${textOf(step)}: waiting for a person${reasonSuffix(reason)}`,
  StepResumed: ({ step }) => `${textOf(step)}: resumed`,
  StepFinished: ({ step, outcome, reason }) => `${textOf(step)}: ${textOf(outcome)}${reasonSuffix(reason)}`,
  WorkspacePrepared: ({ branch }) => `worktree on ${textOf(branch)} is ready`,
  WorkspaceFailed: ({ step, reason }) => `${textOf(step)}: no worktree${reasonSuffix(reason)}`,
  AgentRequested: ({ agent_id }, name) => `${name} ${shortId(textOf(agent_id))}: queued`,
  AgentStarted: ({ start, sandbox, network }, name) =>
    `${name}: ${Number(start) > 1 ? 'started again' : 'started'}${sandboxSuffix(sandbox, network)}`,
  AgentStartFailed: ({ reason }, name) => `${name}: cannot be started${reasonSuffix(reason)}`,
  AgentSignalled: ({ kind, message }, name) => `${name}: signalled ${textOf(kind)}${reasonSuffix(message)}`,
  AgentIdle: (_, name) => `${name}: idle`,
  AgentStop: (_, name) => `${name}: tried to stop without signaling completion`,
  AgentSilent: ({ what, tool }, name) =>
    what === 'tool' ? `${name}: a tool call takes too long${reasonSuffix(tool)}` : `${name}: silent in a turn`,
  AgentHeard: (_, name) => `${name}: active again`,
  AgentRestartRequested: (_, name) => `${name}: its process restarts`,
  AgentPrompted: ({ prompt }, name) => `${name}: asks${reasonSuffix(prompt)}`,
  AgentErrored: ({ error, message }, name) => `${name}: ${textOf(error)}${reasonSuffix(message)}`,
  AgentExited: (data, name) => `${name}: ${exitOf(data)}`,
  AgentParked: ({ reason }, name) => `${name}: waits for a person${reasonSuffix(reason)}`,
  AgentUnparked: (_, name) => `${name}: resumed`,
  AgentAttached: ({ by }, name) => `${name}: attached to the terminal of ${textOf(by)}`,
  AgentDetached: ({ by, how }, name) => `${name}: ${textOf(by)} ${LEFT[textOf(how)] ?? 'has left'}`,
  AgentEnded: ({ outcome, reason }, name) => `${name}: ${textOf(outcome)}${reasonSuffix(reason)}`,
  AgentKillRequested: ({ reason }, name) => `${name}: is being stopped${reasonSuffix(reason)}`,
  HandlerTried: ({ handler, action, attempt }, name) =>
    `${name}: ${textOf(handler)}: ${textOf(action)}${Number(attempt) > 1 ? ` (try ${Number(attempt)})` : ''}`,
};

const LEFT: Readonly<Record<string, string>> = {
  left: 'has left',
  lost: 'was disconnected',
  absent: 'never attached',
  ended: 'was disconnected because the agent ended',
};

function sandboxSuffix(kind: unknown, network: unknown): string {
  return typeof kind === 'string' ? ` (${renderSandbox(kind, textOf(network) || null)})` : '';
}

function reasonSuffix(reason: unknown, maxCharacters = 300): string {
  const text = textOf(reason);
  return text === '' ? '' : `: ${text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text}`;
}

function exitOf({ code, signal, timed_out }: Fields): string {
  if (timed_out === true) return 'ended by the timeout';
  return signal === null || signal === undefined
    ? `exited with code ${Number(code)}`
    : `ended by signal ${textOf(signal)}`;
}

export class WorkflowStory {
  readonly #taskId: string;
  readonly #agents = new Map<string, string>();
  /** The open decisions about the task. */
  readonly #asked = new Set<string>();
  /** Decisions whose answer is not in effect yet. */
  readonly #answered = new Set<string>();
  /** The summary of the last error that an agent reported. */
  #error = '';
  #outcome: string | undefined;

  /** `seen`: the task's state when the story started, if the task is older. */
  constructor(taskId: string, seen?: TaskOverview) {
    this.#taskId = taskId;
    if (seen === undefined) return;
    if (seen.activity === 'done' || seen.activity === 'cancelled') this.#outcome = seen.activity;
    for (const { id, result, answer } of seen.decisions)
      if (result === null) (answer === null ? this.#asked : this.#answered).add(id);
    for (const { agent_id, agent } of seen.sessions) if (agent_id !== null) this.#agents.set(agent_id, agent ?? '');
  }

  get progress(): RunProgress {
    if (this.#outcome !== undefined) return { kind: 'over', outcome: this.#outcome };
    const [decisionId] = this.#asked;
    return decisionId === undefined ? { kind: 'running' } : { kind: 'waiting', decisionId };
  }

  /** Undefined for entries of other runs, and for those that people do not need. */
  describe(type: string, data: Fields): string | undefined {
    if (type === 'AgentRequested' && textOf(fieldsOf(data['task'])['task_id']) === this.#taskId)
      this.#agents.set(textOf(data['agent_id']), textOf(fieldsOf(data['plan'])['name']));
    // An answer names only its decision.
    this.#followAnswer(type, textOf(data['decision_id']));
    const agent = this.#agents.get(textOf(data['agent_id'] ?? ''));
    if (data['task_id'] !== this.#taskId && agent === undefined) return undefined;
    this.#follow(type, data);
    const line = WORKFLOW_SENTENCES[type]?.(this.#withoutError(type, data), agent ?? '');
    return line === undefined ? undefined : printable(oneLine(line).replaceAll(/(?<=\S)\s+/g, ' '));
  }

  #followAnswer(type: string, decisionId: string): void {
    if (type === 'DecisionAnswered' && this.#asked.delete(decisionId)) this.#answered.add(decisionId);
    if (type === 'DecisionAnswerWithdrawn' && this.#answered.delete(decisionId)) this.#asked.add(decisionId);
    if (type !== 'DecisionResolved' && type !== 'DecisionWithdrawn') return;
    this.#asked.delete(decisionId);
    this.#answered.delete(decisionId);
  }

  /** Drops the error that blocks a task, because it is already shown with its handoff. */
  #withoutError(type: string, data: Fields): Fields {
    const reason = textOf(data['reason']);
    if (type !== 'PhaseMoved' || this.#error === '' || !reason.startsWith(this.#error)) return data;
    return { ...data, reason: reason.slice(this.#error.length).replace(/^; /, '') };
  }

  #follow(type: string, data: Fields): void {
    if (type === 'HandoffDelivered') this.#error = errorOf(data);
    if (type === 'PhaseMoved' && data['to'] === 'COMPLETED' && data['next_role'] === null) this.#outcome = 'done';
    else if (type === 'PhaseMoved' && data['cause'] === 'cancelled') this.#outcome = 'cancelled';
    else if (type === 'DecisionOpened' && data['task_id'] === this.#taskId)
      this.#asked.add(textOf(data['decision_id']));
  }
}

const WORKFLOW_SENTENCES: Sentences = {
  TaskCreated: ({ task_id, title }) => `${textOf(task_id)} ${textOf(title)}`,
  TaskClaimed: ({ role, holder }) => `  ${role === null ? '' : `${textOf(role)}: `}claimed by ${textOf(holder)}`,
  AgentStop: (_, agent) => `    ${agent}: tried to stop without signaling completion`,
  AgentEnded: ({ outcome, reason }, agent) =>
    outcome === 'done' ? undefined : `    ${agent}: ${endOf(textOf(outcome), textOf(reason))}`,
  SessionMeasured: ({ commits, file_count }) =>
    Number(commits) === 0 ? undefined : `    measured: ${counted(commits, 'commit')}, ${counted(file_count, 'file')}`,
  ThoughtRecorded: ({ record }) => `    record${workflowReason(fieldsOf(record)['summary'])}`,
  HandoffDelivered: (data) => {
    const { from, to } = data;
    return `  handoff: ${textOf(from)} → ${to === null ? 'workflow-complete' : textOf(to)}${reasonSuffix(errorOf(data), 600)}`;
  },
  PhaseMoved: ({ from, to, reason }) => (from === to ? undefined : `${textOf(to)}${workflowReason(reason)}`),
  CheckFinished: ({ name, outcome }) => `  check ${textOf(name)}: ${textOf(outcome)}`,
  PullRequestPublished: ({ number, url, how }) => `  pull request #${Number(number)} ${textOf(how)}: ${textOf(url)}`,
  PullRequestFailed: ({ reason }) => `  no pull request${workflowReason(reason)}`,
  PullRequestClosed: ({ number, outcome }) => `  pull request #${Number(number)}: ${textOf(outcome)}`,
  GithubIssueClosed: ({ number, outcome, reason }) =>
    `  issue #${Number(number)}: ${textOf(outcome).replace('-', ' ')}${workflowReason(reason)}`,
  MergeRequested: ({ method, branch }) => `  merging ${textOf(branch)} (${textOf(method)})`,
  MergeFinished: ({ outcome, merge_sha, reason }) =>
    `  merge: ${textOf(outcome)}${merge_sha === null ? workflowReason(reason) : ` as ${textOf(merge_sha).slice(0, 12)}`}`,
  DecisionOpened: ({ title }) => `waits for a person${workflowReason(title)}`,
};

function errorOf({ to, xml }: Fields): string {
  const error = findReportedError({ to: textOf(to), xml: textOf(xml) });
  return error === undefined ? '' : summarizeError(error);
}

/** Some reasons start with the outcome: `cancelled: not now`. */
function endOf(outcome: string, reason: string): string {
  return reason.startsWith(`${outcome}: `) ? workflowReason(reason).slice(2) : `${outcome}${workflowReason(reason)}`;
}

function counted(count: unknown, noun: string): string {
  return `${Number(count)} ${noun}${Number(count) === 1 ? '' : 's'}`;
}

function workflowReason(reason: unknown): string {
  return reasonSuffix(reason, 200);
}
