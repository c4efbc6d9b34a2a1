import { type Fields, fieldsOf, textOf } from '../../protocol/shape/read-unknown.ts';
import { shortId } from '../text.ts';

/** The fields of a ledger entry that the story needs. */
export interface StoryEntry {
  readonly type: string;
  readonly at: string;
  readonly data: Fields;
}

/**
 * The parts of a task's log, in the order of the ledger. The texts come from agents and people, so they must be escaped
 * before printing.
 */
export type LogPart =
  /** A session starts. Its agent's output follows until its end. `ended` is null while it works. */
  | {
      readonly kind: 'session';
      readonly agentId: string;
      readonly name: string;
      readonly role: string | null;
      readonly holder: string | null;
      readonly at: string;
      readonly run: string;
      ended: string | null;
    }
  | { readonly kind: 'session-end'; readonly agentId: string; readonly name: string; readonly ended: string }
  /** A check or merge, with the end of its output if it failed. */
  | {
      readonly kind: 'check';
      readonly name: string;
      readonly at: string;
      readonly outcome: string;
      readonly output: string;
    }
  | { readonly kind: 'note'; readonly at: string; readonly text: string; readonly needsPerson?: true };

/** Follows the entries of one task: its sessions, checks, phases and decisions. Pure. */
export class TaskLogStory {
  readonly #taskId: string;
  readonly #mark: string;
  readonly #claims = new Map<string, { readonly holder: string; readonly role: string | null; hasAgent: boolean }>();
  readonly #sessions = new Map<string, Session>();
  readonly #decisions = new Set<string>();

  constructor(taskId: string) {
    this.#taskId = taskId;
    this.#mark = JSON.stringify(taskId);
  }

  /** The sessions that have not ended. */
  get working(): readonly SessionPart[] {
    return [...this.#sessions.values()].flatMap(({ part }) => (part.ended === null ? [part] : []));
  }

  /** Whether an entry may concern the task: a quick check before it is parsed. */
  mayConcern(json: string): boolean {
    if (json.includes(this.#mark)) return true;
    for (const id of this.#sessions.keys()) if (json.includes(id)) return true;
    for (const id of this.#decisions) if (json.includes(id)) return true;
    return false;
  }

  note(entry: StoryEntry): LogPart[] {
    const { type, data } = entry;
    const session = this.#sessions.get(textOf(data['agent_id']));
    if (session !== undefined) return this.#noteAgent(entry, session);
    if (type === 'AgentRequested') return this.#beginSession(entry);
    const decision = textOf(data['decision_id']);
    if (data['task_id'] !== this.#taskId && !this.#decisions.has(decision)) return [];
    if (type === 'DecisionOpened') this.#decisions.add(decision);
    if (type === 'TaskClaimed') {
      const role = typeof data['role'] === 'string' ? data['role'] : null;
      this.#claims.set(textOf(data['session_id']), { holder: textOf(data['holder']), role, hasAgent: false });
    }
    if (type === 'CheckFinished' || type === 'MergeFinished') return checkPart(entry);
    const by = this.#claims.get(textOf(data['session_id']));
    const isByHand = by !== undefined && !by.hasAgent;
    const text = SENTENCES[type]?.(data, isByHand ? by.holder : null);
    if (text === undefined) return [];
    return [{ kind: 'note', at: entry.at, text, ...(type === 'DecisionOpened' ? { needsPerson: true } : {}) }];
  }

  #beginSession({ data, at }: StoryEntry): LogPart[] {
    const task = fieldsOf(data['task']);
    if (task['task_id'] !== this.#taskId) return [];
    const plan = fieldsOf(data['plan']);
    const claim = this.#claims.get(textOf(task['session_id']));
    if (claim !== undefined) claim.hasAgent = true;
    const agentId = textOf(data['agent_id']);
    const part: SessionPart = {
      kind: 'session',
      agentId,
      name: textOf(plan['name']),
      role: claim?.role ?? (textOf(plan['role']) || null),
      holder: claim?.holder ?? null,
      at,
      run: textOf(plan['run']),
      ended: null,
    };
    this.#sessions.set(agentId, { part, outcome: null, isGone: true });
    return [part];
  }

  /**
   * A session is over when the run has its outcome and the last process has exited: only then is its output complete.
   */
  #noteAgent({ type, data, at }: StoryEntry, session: Session): LogPart[] {
    const { part } = session;
    if (type === 'AgentStarted') session.isGone = false;
    if (type === 'AgentExited') session.isGone = true;
    if (type === 'AgentEnded') session.outcome = `${textOf(data['outcome'])}${suffix(data['reason'])}`;
    if (type === 'DecisionOpened') this.#decisions.add(textOf(data['decision_id']));
    if (part.ended === null && session.outcome !== null && session.isGone) {
      part.ended = session.outcome;
      return [{ kind: 'session-end', agentId: part.agentId, name: part.name, ended: session.outcome }];
    }
    const text = SENTENCES[type]?.(data, null);
    if (text === undefined) return [];
    return [{ kind: 'note', at, text, ...(type === 'DecisionOpened' ? { needsPerson: true } : {}) }];
  }
}

type SessionPart = Extract<LogPart, { kind: 'session' }>;

interface Session {
  readonly part: SessionPart;
  outcome: string | null;
  isGone: boolean;
}

function checkPart({ type, data, at }: StoryEntry): LogPart[] {
  const outcome = textOf(data['outcome']);
  const isGood = outcome === 'passed' || outcome === 'merged';
  const files = Array.isArray(data['files']) ? data['files'].map(textOf).filter((file) => file !== '') : [];
  const output = [textOf(data['output']), ...files.map((file) => `conflict in ${file}`)];
  if (type === 'MergeFinished') {
    const how = `${outcome}${isGood ? ` as ${textOf(data['merge_sha']).slice(0, 12)}` : suffix(data['reason'])}`;
    return [{ kind: 'check', name: 'merge', at, outcome: how, output: isGood ? '' : joined(output) }];
  }
  const code = typeof data['exit_code'] === 'number' && !isGood ? `, exit code ${data['exit_code']}` : '';
  const how = `${outcome}${code}, of ${textOf(data['head']).slice(0, 12)}`;
  return [
    { kind: 'check', name: `check ${textOf(data['name'])}`, at, outcome: how, output: isGood ? '' : joined(output) },
  ];
}

function joined(lines: readonly string[]): string {
  return lines.filter((line) => line !== '').join('\n');
}

/** `holder` is set for a manual claim. */
type Sentence = (data: Fields, holder: string | null) => string | undefined;

const claimEnded =
  (how: string): Sentence =>
  ({ reason }, holder) =>
    holder === null ? undefined : `${holder} worked by hand: ${how}${suffix(reason)}`;

const SENTENCES: Readonly<Record<string, Sentence>> = {
  PhaseMoved: ({ from, to, reason }) => (from === to ? undefined : `${textOf(from)} → ${textOf(to)}${suffix(reason)}`),
  DecisionOpened: ({ decision_id, title }) =>
    `waits for a person${suffix(title)} (baton decision show ${shortId(textOf(decision_id))})`,
  NoteAdded: ({ text, path, line }) => {
    const at = typeof line === 'number' ? `:${line}` : '';
    return `a person noted${path === undefined ? '' : ` on ${textOf(path)}${at}`}${suffix(text)}`;
  },
  DecisionAnswered: ({ action, message, effective_at }) =>
    `a person answered: ${textOf(action)}${suffix(message)}, in effect at ${textOf(effective_at)}`,
  DecisionAnswerWithdrawn: ({ reason }) =>
    reason === null ? 'the answer was withdrawn' : `the answer lapsed${suffix(reason)}`,
  DecisionResolved: ({ action, message }) => `a person decided: ${textOf(action)}${suffix(message)}`,
  DecisionWithdrawn: ({ reason }) => `the question was withdrawn${suffix(reason)}`,
  AgentAttached: ({ by }) => `${textOf(by)} has the agent in a terminal; the conversation there is not in the log`,
  ClaimCompleted: claimEnded('completed'),
  ClaimBlocked: claimEnded('blocked'),
  ClaimFailed: claimEnded('failed'),
  ClaimReleased: claimEnded('released'),
  ClaimExpired: claimEnded('expired'),
  ClaimRevoked: claimEnded('revoked'),
};

function suffix(reason: unknown): string {
  const text = textOf(reason);
  return text === '' ? '' : `: ${text}`;
}
