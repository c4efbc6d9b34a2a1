import { type AuditedEntry, numberOf, partOf, partsOf, textOf, wordOf } from './entry.ts';

interface Owed {
  readonly key: string;
  readonly seq: number;
  readonly type: string;
  /** The agent, pipeline or task that waits for it. */
  readonly about: readonly string[];
  readonly due: string | null;
  readonly purpose: string;
  /** Checks of which some are the pull request's. */
  readonly isElsewhere: boolean;
}

type Report = (invariant: 'effect' | 'decision' | 'cause' | 'liveness', text: string) => void;

/** The effects that entries request, and how often each is settled. */
export class EffectAudit {
  readonly owed = new Map<string, Owed>();
  readonly #requested = new Set<string>();
  readonly #settled = new Set<string>();
  /** A clock that jumps back makes a timer look early. */
  doClocksJump = false;
  readonly #report: Report;

  constructor(report: Report) {
    this.#report = report;
  }

  read(entry: AuditedEntry): void {
    const request = requestOf(entry);
    if (request !== undefined) {
      if (this.#requested.has(request.key)) this.#report('effect', `${request.key} is requested twice`);
      this.#requested.add(request.key);
      this.owed.set(request.key, request);
    }
    this.#dropMoot(entry);
    const key = settledBy(entry);
    if (key === undefined) return;
    if (!this.#requested.has(key)) this.#report('cause', `${entry.type}: ${key} was never requested`);
    else if (this.#settled.has(key)) this.#report('effect', `${key} is settled twice`);
    const due = this.owed.get(key)?.due;
    if (entry.type === 'TimerFired' && due && due > entry.at && !this.doClocksJump)
      this.#report('cause', `${key} fired before it was due`);
    this.#settled.add(key);
    this.owed.delete(key);
  }

  /** A host owes nothing that is over: it would run it again after its next start. */
  checkHost(host: string, effects: readonly Pick<AuditedEntry, 'seq' | 'type' | 'data'>[]): void {
    for (const effect of effects) {
      const request = requestOf({ ...effect, at: '', actor: '', cause: null });
      if (request !== undefined && !this.owed.has(request.key))
        this.#report('liveness', `${host} still owes ${request.key}, which is over`);
    }
  }

  /** Requests that an entry about something larger ends: a run, a step, a newer request. */
  #dropMoot(entry: AuditedEntry): void {
    const id = (field: string): string => textOf(entry, field);
    const drop = (fits: (owed: Owed) => boolean): void => {
      for (const owed of this.owed.values()) if (fits(owed)) this.owed.delete(owed.key);
    };
    const { type } = entry;
    if (type === 'ChecksFinished') this.owed.delete(`checks ${id('checks_id')}`);
    if (type === 'ChecksRequested')
      drop((owed) => owed.type === type && owed.about.includes(id('task_id')) && owed.seq < entry.seq);
    if (type === 'MergeHeld') this.owed.delete(`merge ${id('merge_id')}`);
    if (type === 'PullRequestPublished' || type === 'PullRequestFailed') this.owed.delete(`pull ${id('pull_id')}`);
    if (type === 'PullRequestRequested' || type === 'PullRequestCloseRequested')
      drop(
        (owed) => owed.type === 'PullRequestRequested' && owed.about.includes(id('task_id')) && owed.seq < entry.seq,
      );
    if (
      type === 'WorkspacePrepared' ||
      type === 'WorkspaceFailed' ||
      type === 'StepFinished' ||
      type === 'PipelineFinished'
    )
      drop((owed) => owed.type === 'WorkspaceRequested' && owed.about.includes(id('pipeline_id')));
    if (['DecisionResolved', 'DecisionWithdrawn', 'DecisionAnswerWithdrawn'].includes(type))
      drop((owed) => owed.key.startsWith(`answer ${id('decision_id')} `));
    if (type === 'AgentEnded') drop((owed) => owed.type === 'MessageRequested' && owed.about.includes(id('agent_id')));
    if (type === 'AgentKillRequested' || type === 'AgentExited')
      drop((owed) => owed.key.startsWith(`start ${id('agent_id')} `));
  }

  isOwedAbout(id: string): boolean {
    for (const { about } of this.owed.values()) if (about.includes(id)) return true;
    return false;
  }
}

function requestOf(entry: AuditedEntry): Owed | undefined {
  const { type, seq } = entry;
  const purpose = partOf(entry, 'purpose');
  const subject = partOf(entry, 'subject');
  const named = (...fields: string[]): string[] =>
    fields.map((field) => textOf(entry, field)).filter((id) => id !== '');
  const owed = (key: string, about: readonly string[], due: string | null = null): Owed => {
    const isElsewhere = partsOf(entry.data['checks']).some((check) => wordOf(check, 'run') === '');
    return {
      key,
      seq,
      type,
      about,
      due,
      purpose: wordOf(purpose, 'kind'),
      isElsewhere: isElsewhere && type === 'ChecksRequested',
    };
  };
  switch (type) {
    case 'CommandRequested':
      return owed(`command ${textOf(entry, 'command_id')}`, [
        wordOf(subject, 'agent_id'),
        wordOf(subject, 'pipeline_id'),
      ]);
    case 'TimerSet':
      return owed(
        `timer ${textOf(entry, 'timer_id')}`,
        ['agent_id', 'pipeline_id', 'task_id'].map((field) => wordOf(purpose, field)),
        textOf(entry, 'due'),
      );
    case 'MessageRequested':
      return owed(`message ${textOf(entry, 'message_id')}`, named('agent_id'));
    case 'DecisionAnswered':
      return owed(`answer ${textOf(entry, 'decision_id')} ${seq}`, []);
    case 'NotificationRequested':
      return owed(`notification ${textOf(entry, 'notification_id')}`, []);
    case 'WorkspaceRequested':
      return owed(`workspace ${textOf(entry, 'pipeline_id')} ${textOf(entry, 'step')} ${seq}`, named('pipeline_id'));
    case 'ChecksRequested':
      return owed(`checks ${textOf(entry, 'checks_id')}`, named('task_id'));
    case 'MergeRequested':
      return owed(`merge ${textOf(entry, 'merge_id')}`, named('task_id'));
    case 'PullRequestRequested':
      return owed(`pull ${textOf(entry, 'pull_id')}`, named('task_id'));
    case 'AgentRequested':
      return owed(`start ${textOf(entry, 'agent_id')} 1`, named('agent_id'));
    case 'AgentResumeRequested':
      return owed(`start ${textOf(entry, 'agent_id')} ${numberOf(entry, 'start')}`, named('agent_id'));
    default:
      return undefined;
  }
}

function settledBy(entry: AuditedEntry): string | undefined {
  switch (entry.type) {
    case 'CommandFinished':
    case 'CommandCancelled':
      return `command ${textOf(entry, 'command_id')}`;
    case 'TimerFired':
    case 'TimerCancelled':
      return `timer ${textOf(entry, 'timer_id')}`;
    case 'MessageDelivered':
      return `message ${textOf(entry, 'message_id')}`;
    case 'NotificationSent':
      return `notification ${textOf(entry, 'notification_id')}`;
    case 'MergeFinished':
      return `merge ${textOf(entry, 'merge_id')}`;
    case 'AgentStarted':
    case 'AgentStartFailed':
      return `start ${textOf(entry, 'agent_id')} ${numberOf(entry, 'start')}`;
    default:
      return undefined;
  }
}
