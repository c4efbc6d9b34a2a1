import { type Fields, fieldsOf, textOf } from '../../protocol/shape/read-unknown.ts';
import { oneLine, printable, shortId } from '../text.ts';

/** How a run stands after an entry: under way, over, or in need of a person. */
export type RunProgress =
  | { readonly kind: 'running' }
  | { readonly kind: 'over'; readonly outcome: string }
  | { readonly kind: 'waiting'; readonly decisionId: string };

/**
 * A run as its entries tell it, one line each. It begins with one pipeline or agent and takes in what that starts; entries about
 * anything else tell nothing.
 */
export class RunStory {
  readonly #root: string;
  /** Pipelines and agents of this run: their names, and how far they stand in. */
  readonly #cast = new Map<string, { readonly name: string; readonly indent: string }>();
  #standing: RunProgress = { kind: 'running' };

  constructor(root: string) {
    this.#root = root;
    this.#cast.set(root, { name: shortId(root), indent: '' });
  }

  get progress(): RunProgress {
    return this.#standing;
  }

  /** The line for an entry; undefined where it is about something else, or of no interest to people. */
  describe(type: string, data: Fields): string | undefined {
    this.#take(type, data);
    const id = textOf(data['pipeline_id'] ?? data['agent_id']);
    const who = this.#cast.get(id);
    if (who === undefined) return undefined;
    this.#follow(type, id, data);
    const line = RUN_SENTENCES[type]?.(data, who.name);
    if (line === undefined) return undefined;
    const indent = OF_STEPS.test(type) ? `${who.indent}  ` : who.indent;
    return `${indent}${printable(oneLine(line).replaceAll(/\s+/g, ' '))}`;
  }

  /** Whoever is started by this run belongs to it. */
  #take(type: string, data: Fields): void {
    if (type !== 'PipelineStarted' && type !== 'AgentRequested') return;
    const isAgent = type === 'AgentRequested';
    const id = textOf(data[isAgent ? 'agent_id' : 'pipeline_id']);
    const owner = this.#cast.get(textOf(fieldsOf(data[isAgent ? 'owner' : 'parent'])['pipeline_id']));
    if (owner === undefined && id !== this.#root) return;
    const name = textOf(isAgent ? fieldsOf(data['plan'])['name'] : data['name']);
    this.#cast.set(id, { name, indent: owner === undefined ? '' : `${owner.indent}    ` });
  }

  #follow(type: string, id: string, data: Fields): void {
    const isRoot = id === this.#root;
    if (isRoot && (type === 'PipelineFinished' || type === 'AgentEnded')) {
      this.#standing = { kind: 'over', outcome: textOf(data['outcome']) };
    } else if (type === 'StepWaiting' || (isRoot && type === 'AgentParked')) {
      this.#standing = { kind: 'waiting', decisionId: textOf(data['decision_id']) };
    } else if (type === 'StepResumed' || type === 'AgentUnparked') {
      this.#standing = { kind: 'running' };
    }
  }
}

/** These stand one further in than the pipeline, and what runs the step one further than they. */
const OF_STEPS = /^(?:Step|Workspace)/;

type RunSentence = (data: Fields, name: string) => string | undefined;

const RUN_SENTENCES: Readonly<Record<string, RunSentence>> = {
  PipelineStarted: ({ pipeline_id }, name) => `${name} ${shortId(textOf(pipeline_id))} started`,
  PipelineFinished: ({ outcome, reason }, name) => `${name} ${textOf(outcome)}${reasonSuffix(reason)}`,
  PipelineCancelRequested: ({ reason }, name) => `${name} is being cancelled${reasonSuffix(reason)}`,
  StepStarted: ({ step, visit }) => `${textOf(step)}: started${Number(visit) > 1 ? ` (try ${Number(visit)})` : ''}`,
  StepWaiting: ({ step, reason }) => `${textOf(step)}: waiting for a person${reasonSuffix(reason)}`,
  StepResumed: ({ step }) => `${textOf(step)}: resumed`,
  StepFinished: ({ step, outcome, reason }) => `${textOf(step)}: ${textOf(outcome)}${reasonSuffix(reason)}`,
  WorkspacePrepared: ({ branch }) => `a worktree on ${textOf(branch)} is ready`,
  WorkspaceFailed: ({ step, reason }) => `${textOf(step)}: no worktree${reasonSuffix(reason)}`,
  AgentRequested: ({ agent_id }, name) => `${name} ${shortId(textOf(agent_id))}: queued`,
  AgentStarted: ({ start }, name) => `${name}: ${Number(start) > 1 ? 'started again' : 'started'}`,
  AgentStartFailed: ({ reason }, name) => `${name}: cannot be started${reasonSuffix(reason)}`,
  AgentSignalled: ({ kind, message }, name) => `${name}: signalled ${textOf(kind)}${reasonSuffix(message)}`,
  AgentIdle: (_, name) => `${name}: idle`,
  AgentStop: (_, name) => `${name}: tried to stop without signaling completion`,
  AgentSilent: ({ what, tool }, name) =>
    what === 'tool' ? `${name}: a tool call takes too long${reasonSuffix(tool)}` : `${name}: silent in a turn`,
  AgentHeard: (_, name) => `${name}: heard again`,
  AgentRestartRequested: (_, name) => `${name}: its process is being restarted`,
  AgentPrompted: ({ prompt }, name) => `${name}: asks${reasonSuffix(prompt)}`,
  AgentErrored: ({ error, message }, name) => `${name}: ${textOf(error)}${reasonSuffix(message)}`,
  AgentExited: (data, name) => `${name}: ${exitOf(data)}`,
  AgentParked: ({ reason }, name) => `${name}: waits for a person${reasonSuffix(reason)}`,
  AgentUnparked: (_, name) => `${name}: resumed`,
  AgentAttached: ({ by }, name) => `${name}: is in the terminal of ${textOf(by)}`,
  AgentDetached: ({ by, how }, name) => `${name}: ${textOf(by)} ${LEFT[textOf(how)] ?? 'has left'}`,
  AgentEnded: ({ outcome, reason }, name) => `${name}: ${textOf(outcome)}${reasonSuffix(reason)}`,
  AgentKillRequested: ({ reason }, name) => `${name}: is being stopped${reasonSuffix(reason)}`,
  HandlerTried: ({ handler, action, attempt }, name) =>
    `${name}: ${textOf(handler)}: ${textOf(action)}${Number(attempt) > 1 ? ` (try ${Number(attempt)})` : ''}`,
};

const LEFT: Readonly<Record<string, string>> = {
  left: 'has left',
  lost: 'has gone without a word',
  absent: 'never came',
  ended: 'was interrupted by its end',
};

function reasonSuffix(reason: unknown): string {
  const text = textOf(reason);
  return text === '' ? '' : `: ${text.length > MAX_REASON ? `${text.slice(0, MAX_REASON)}…` : text}`;
}

const MAX_REASON = 300;

function exitOf({ code, signal, timed_out }: Fields): string {
  if (timed_out === true) return 'ended by its timeout';
  return signal === null || signal === undefined
    ? `exited with code ${Number(code)}`
    : `ended by signal ${textOf(signal)}`;
}

/** A workflow as its entries tell it, one line each, until it is closed or needs a person. */
export class WorkflowStory {
  readonly #taskId: string;
  readonly #agents = new Map<string, string>();
  #standing: RunProgress = { kind: 'running' };

  constructor(taskId: string) {
    this.#taskId = taskId;
  }

  get progress(): RunProgress {
    return this.#standing;
  }

  /** The line for an entry; undefined where it is about something else, or of no interest to people. */
  describe(type: string, data: Fields): string | undefined {
    if (type === 'AgentRequested' && textOf(fieldsOf(data['task'])['task_id']) === this.#taskId)
      this.#agents.set(textOf(data['agent_id']), textOf(fieldsOf(data['plan'])['name']));
    const agent = this.#agents.get(textOf(data['agent_id'] ?? ''));
    if (data['task_id'] !== this.#taskId && agent === undefined) return undefined;
    this.#follow(type, data);
    const line = WORKFLOW_SENTENCES[type]?.(data, agent ?? '');
    return line === undefined ? undefined : printable(oneLine(line).replaceAll(/(?<=\S)\s+/g, ' '));
  }

  #follow(type: string, data: Fields): void {
    if (type === 'PhaseMoved' && data['to'] === 'COMPLETED' && data['next_role'] === null)
      this.#standing = { kind: 'over', outcome: 'done' };
    else if (type === 'PhaseMoved' && data['cause'] === 'cancelled')
      this.#standing = { kind: 'over', outcome: 'cancelled' };
    else if (type === 'DecisionOpened' && data['task_id'] === this.#taskId)
      this.#standing = { kind: 'waiting', decisionId: textOf(data['decision_id']) };
    else if (type === 'DecisionResolved' || type === 'DecisionWithdrawn' || type === 'TaskFreed')
      this.#standing = { kind: 'running' };
  }
}

type WorkflowSentence = (data: Fields, agent: string) => string | undefined;

const WORKFLOW_SENTENCES: Readonly<Record<string, WorkflowSentence>> = {
  TaskCreated: ({ task_id, title }) => `${textOf(task_id)} ${textOf(title)}`,
  TaskClaimed: ({ role, holder }) => `  ${role === null ? '' : `${textOf(role)}: `}${textOf(holder)} has it`,
  AgentStop: (_, agent) => `    ${agent}: tried to stop without signaling completion`,
  AgentEnded: ({ outcome, reason }, agent) =>
    outcome === 'done' ? undefined : `    ${agent}: ${endOf(textOf(outcome), textOf(reason))}`,
  SessionMeasured: ({ commits, file_count }) =>
    Number(commits) === 0 ? undefined : `    measured: ${counted(commits, 'commit')}, ${counted(file_count, 'file')}`,
  ThoughtRecorded: ({ record }) => `    record${workflowReason(fieldsOf(record)['summary'])}`,
  HandoffDelivered: ({ from, to }) => `  handoff: ${textOf(from)} → ${to === null ? 'workflow-complete' : textOf(to)}`,
  PhaseMoved: ({ from, to, reason }) => (from === to ? undefined : `${textOf(to)}${workflowReason(reason)}`),
  CheckFinished: ({ name, outcome }) => `  check ${textOf(name)}: ${textOf(outcome)}`,
  PullRequestPublished: ({ number, url, how }) => `  pull request #${Number(number)} ${textOf(how)}: ${textOf(url)}`,
  PullRequestFailed: ({ reason }) => `  no pull request${workflowReason(reason)}`,
  PullRequestClosed: ({ number, outcome }) => `  pull request #${Number(number)}: ${textOf(outcome)}`,
  MergeRequested: ({ method, branch }) => `  merging ${textOf(branch)} (${textOf(method)})`,
  MergeFinished: ({ outcome, merge_sha, reason }) =>
    `  merge: ${textOf(outcome)}${merge_sha === null ? workflowReason(reason) : ` as ${textOf(merge_sha).slice(0, 12)}`}`,
  DecisionOpened: ({ title }) => `waits for a person${workflowReason(title)}`,
};

/** Some reasons begin with the outcome: `cancelled: not now`. */
function endOf(outcome: string, reason: string): string {
  return reason.startsWith(`${outcome}: `) ? workflowReason(reason).slice(2) : `${outcome}${workflowReason(reason)}`;
}

function counted(count: unknown, noun: string): string {
  return `${Number(count)} ${noun}${Number(count) === 1 ? '' : 's'}`;
}

function workflowReason(reason: unknown): string {
  const text = textOf(reason);
  return text === '' ? '' : `: ${text.length > 200 ? `${text.slice(0, 200)}…` : text}`;
}
