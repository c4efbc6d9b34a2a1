import { oneLine } from '../one-line.ts';
import { printable } from '../printable.ts';
import { fieldsIn, findText, textIn, type Fields } from './read-fields.ts';
import type { Standing } from './story.ts';

/** A workflow as its entries tell it, one line each, until it is closed or needs a person. */
export class WorkflowStory {
  readonly #taskId: string;
  readonly #agents = new Map<string, string>();
  #standing: Standing = { kind: 'running' };

  constructor(taskId: string) {
    this.#taskId = taskId;
  }

  get standing(): Standing {
    return this.#standing;
  }

  /** The line for an entry; undefined where it is about something else, or of no interest to people. */
  tell(type: string, data: Fields): string | undefined {
    if (type === 'AgentRequested' && textIn(fieldsIn(data['task'])['task_id']) === this.#taskId)
      this.#agents.set(textIn(data['agent_id']), textIn(fieldsIn(data['plan'])['name']));
    const agent = this.#agents.get(textIn(data['agent_id'] ?? ''));
    if (data['task_id'] !== this.#taskId && agent === undefined) return undefined;
    this.#follow(type, data);
    const line = TELL[type]?.(data, agent ?? '');
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

type Teller = (data: Fields, agent: string) => string | undefined;

const TELL: Readonly<Record<string, Teller>> = {
  TaskCreated: ({ task_id, title }) => `${textIn(task_id)} ${textIn(title)}`,
  TaskClaimed: ({ role, holder }) => `  ${role === null ? '' : `${textIn(role)}: `}${textIn(holder)} has it`,
  AgentStop: (_, agent) => `    ${agent}: tried to stop without signaling completion`,
  AgentEnded: ({ outcome, reason }, agent) =>
    outcome === 'done' ? undefined : `    ${agent}: ${endOf(textIn(outcome), findText(reason))}`,
  SessionMeasured: ({ commits, file_count }) =>
    Number(commits) === 0 ? undefined : `    measured: ${counted(commits, 'commit')}, ${counted(file_count, 'file')}`,
  ThoughtRecorded: ({ record }) => `    record${because(fieldsIn(record)['summary'])}`,
  HandoffDelivered: ({ from, to }) => `  handoff: ${textIn(from)} → ${to === null ? 'workflow-complete' : textIn(to)}`,
  PhaseMoved: ({ from, to, reason }) => (from === to ? undefined : `${textIn(to)}${because(reason)}`),
  CheckFinished: ({ name, outcome }) => `  check ${textIn(name)}: ${textIn(outcome)}`,
  PullRequestPublished: ({ number, url, how }) => `  pull request #${textIn(number)} ${textIn(how)}: ${textIn(url)}`,
  PullRequestFailed: ({ reason }) => `  no pull request${because(reason)}`,
  PullRequestClosed: ({ number, outcome }) => `  pull request #${textIn(number)}: ${textIn(outcome)}`,
  MergeRequested: ({ method, branch }) => `  merging ${textIn(branch)} (${textIn(method)})`,
  MergeFinished: ({ outcome, merge_sha, reason }) =>
    `  merge: ${textIn(outcome)}${merge_sha === null ? because(reason) : ` as ${textIn(merge_sha).slice(0, 12)}`}`,
  DecisionOpened: ({ title }) => `waits for a person${because(title)}`,
};

/** Some reasons begin with the outcome: `cancelled: not now`. */
function endOf(outcome: string, reason: string | null): string {
  return reason?.startsWith(`${outcome}: `) === true ? because(reason).slice(2) : `${outcome}${because(reason)}`;
}

function counted(count: unknown, noun: string): string {
  return `${textIn(count)} ${noun}${Number(count) === 1 ? '' : 's'}`;
}

function because(reason: unknown): string {
  const text = findText(reason);
  return text === null || text === '' ? '' : `: ${text.length > 200 ? `${text.slice(0, 200)}…` : text}`;
}
