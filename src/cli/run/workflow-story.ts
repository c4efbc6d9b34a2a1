import { oneLine } from '../one-line.ts';
import { printable } from '../text.ts';
import { fieldsIn, findText, textIn, type Fields } from './read-fields.ts';
import type { RunProgress } from './story.ts';

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
    if (type === 'AgentRequested' && textIn(fieldsIn(data['task'])['task_id']) === this.#taskId)
      this.#agents.set(textIn(data['agent_id']), textIn(fieldsIn(data['plan'])['name']));
    const agent = this.#agents.get(textIn(data['agent_id'] ?? ''));
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
      this.#standing = { kind: 'waiting', decisionId: textIn(data['decision_id']) };
    else if (type === 'DecisionResolved' || type === 'DecisionWithdrawn' || type === 'TaskFreed')
      this.#standing = { kind: 'running' };
  }
}

type WorkflowSentence = (data: Fields, agent: string) => string | undefined;

const WORKFLOW_SENTENCES: Readonly<Record<string, WorkflowSentence>> = {
  TaskCreated: ({ task_id, title }) => `${textIn(task_id)} ${textIn(title)}`,
  TaskClaimed: ({ role, holder }) => `  ${role === null ? '' : `${textIn(role)}: `}${textIn(holder)} has it`,
  AgentStop: (_, agent) => `    ${agent}: tried to stop without signaling completion`,
  AgentEnded: ({ outcome, reason }, agent) =>
    outcome === 'done' ? undefined : `    ${agent}: ${endOf(textIn(outcome), findText(reason))}`,
  SessionMeasured: ({ commits, file_count }) =>
    Number(commits) === 0 ? undefined : `    measured: ${counted(commits, 'commit')}, ${counted(file_count, 'file')}`,
  ThoughtRecorded: ({ record }) => `    record${workflowReason(fieldsIn(record)['summary'])}`,
  HandoffDelivered: ({ from, to }) => `  handoff: ${textIn(from)} → ${to === null ? 'workflow-complete' : textIn(to)}`,
  PhaseMoved: ({ from, to, reason }) => (from === to ? undefined : `${textIn(to)}${workflowReason(reason)}`),
  CheckFinished: ({ name, outcome }) => `  check ${textIn(name)}: ${textIn(outcome)}`,
  PullRequestPublished: ({ number, url, how }) => `  pull request #${textIn(number)} ${textIn(how)}: ${textIn(url)}`,
  PullRequestFailed: ({ reason }) => `  no pull request${workflowReason(reason)}`,
  PullRequestClosed: ({ number, outcome }) => `  pull request #${textIn(number)}: ${textIn(outcome)}`,
  MergeRequested: ({ method, branch }) => `  merging ${textIn(branch)} (${textIn(method)})`,
  MergeFinished: ({ outcome, merge_sha, reason }) =>
    `  merge: ${textIn(outcome)}${merge_sha === null ? workflowReason(reason) : ` as ${textIn(merge_sha).slice(0, 12)}`}`,
  DecisionOpened: ({ title }) => `waits for a person${workflowReason(title)}`,
};

/** Some reasons begin with the outcome: `cancelled: not now`. */
function endOf(outcome: string, reason: string | null): string {
  return reason?.startsWith(`${outcome}: `) === true
    ? workflowReason(reason).slice(2)
    : `${outcome}${workflowReason(reason)}`;
}

function counted(count: unknown, noun: string): string {
  return `${textIn(count)} ${noun}${Number(count) === 1 ? '' : 's'}`;
}

function workflowReason(reason: unknown): string {
  const text = findText(reason);
  return text === null || text === '' ? '' : `: ${text.length > 200 ? `${text.slice(0, 200)}…` : text}`;
}
