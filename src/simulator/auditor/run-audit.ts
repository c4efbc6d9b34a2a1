import type { EffectAudit } from './effect-audit.ts';
import { type AuditedEntry, numberOf, partOf, textOf, wordOf } from './entry.ts';

export interface Question {
  readonly id: string;
  readonly seq: number;
  readonly taskId: string;
  readonly agentId: string;
  readonly pipelineId: string;
  readonly source: string;
  readonly title: string;
  state: 'open' | 'answered' | 'over';
  /** The time from which a pending answer is in effect. */
  effectiveAt: string;
}

interface Run {
  readonly id: string;
  readonly taskId: string;
  readonly session: string;
  start: number;
  process: 'wanted' | 'running' | 'gone';
  parked: string;
  isOver: boolean;
  isKilled: boolean;
  /** A person talks with the agent, or is about to. */
  isAttached: boolean;
}

type Report = (invariant: 'decision' | 'mover' | 'effect' | 'liveness', text: string) => void;

/** Decisions and agents, as the entries tell. */
export class RunAudit {
  readonly questions = new Map<string, Question>();
  readonly runs = new Map<string, Run>();
  /** Processes that have ended, by agent and number. */
  readonly gone = new Set<string>();
  /** Sessions whose claim a pipeline holds, which goes on after an agent of it. */
  readonly #ofPipelines = new Set<string>();
  /** The newest term of a caretaker. */
  #term = 0;
  /** A clock that jumps back makes an answer look early. */
  doClocksJump = false;
  readonly #report: Report;

  constructor(report: Report) {
    this.#report = report;
  }

  read(entry: AuditedEntry): void {
    if (entry.type.startsWith('Decision')) this.#readDecision(entry);
    else if (entry.type.startsWith('Agent')) this.#readAgent(entry);
    else if (entry.type === 'PipelineStarted') this.#ofPipelines.add(wordOf(partOf(entry, 'task'), 'session_id'));
    else if (entry.type === 'CaretakerChanged') this.#term = numberOf(entry, 'term');
  }

  taskOf({ taskId, agentId }: Question): string {
    return taskId === '' ? (this.runs.get(agentId)?.taskId ?? '') : taskId;
  }

  openAbout(taskId: string): Question | undefined {
    for (const each of this.questions.values()) {
      if (each.state === 'over') continue;
      if (this.taskOf(each) === taskId) return each;
    }
    return undefined;
  }

  get hasOpen(): boolean {
    for (const each of this.questions.values()) if (each.state !== 'over') return true;
    return false;
  }

  #readDecision(entry: AuditedEntry): void {
    const id = textOf(entry, 'decision_id');
    const known = this.questions.get(id);
    if (entry.type === 'DecisionOpened') {
      if (known !== undefined) this.#report('decision', `decision ${id} is opened twice`);
      this.questions.set(id, {
        id,
        seq: entry.seq,
        taskId: textOf(entry, 'task_id'),
        agentId: textOf(entry, 'agent_id'),
        pipelineId: textOf(entry, 'pipeline_id'),
        source: textOf(entry, 'source'),
        title: textOf(entry, 'title'),
        state: 'open',
        effectiveAt: '',
      });
      return;
    }
    if (known === undefined || known.state === 'over')
      return this.#report('decision', `${entry.type}: decision ${id} is not open`);
    if (entry.type === 'DecisionAnswered') {
      if (known.state === 'answered') this.#report('decision', `decision ${id} has two answers`);
      known.state = 'answered';
      known.effectiveAt = textOf(entry, 'effective_at');
    } else if (entry.type === 'DecisionAnswerWithdrawn') known.state = 'open';
    else if (entry.type === 'DecisionResolved' || entry.type === 'DecisionWithdrawn') {
      const isEarly = known.state === 'answered' && entry.type === 'DecisionResolved' && known.effectiveAt > entry.at;
      if (isEarly && !this.doClocksJump) this.#report('decision', `the answer to ${id} takes effect too early`);
      if (entry.type === 'DecisionResolved' && known.state === 'open' && !entry.actor.startsWith('operator:'))
        this.#report('decision', `nobody answered decision ${id}`);
      known.state = 'over';
    }
  }

  #readAgent(entry: AuditedEntry): void {
    const id = textOf(entry, 'agent_id');
    if (entry.type === 'AgentRequested') {
      const task = partOf(entry, 'task');
      const about = { taskId: wordOf(task, 'task_id'), session: wordOf(task, 'session_id') };
      this.runs.set(id, {
        id,
        ...about,
        start: 1,
        process: 'wanted',
        parked: '',
        isOver: false,
        isKilled: false,
        isAttached: false,
      });
      return;
    }
    const run = this.runs.get(id);
    if (run === undefined) return;
    switch (entry.type) {
      case 'AgentResumeRequested':
        if (run.process !== 'gone') this.#report('effect', `agent ${id} gets a second process`);
        run.start = numberOf(entry, 'start');
        run.process = 'wanted';
        return;
      case 'AgentStarted':
        run.process = 'running';
        return;
      case 'AgentStartFailed':
      case 'AgentExited':
        run.process = 'gone';
        return;
      case 'AgentParked':
        run.parked = textOf(entry, 'decision_id');
        return;
      case 'AgentUnparked':
        run.parked = '';
        return;
      case 'AgentAttachRequested':
        run.isAttached = true;
        return;
      case 'AgentDetached':
        run.isAttached = false;
        return;
      case 'AgentKillRequested':
        run.isKilled = true;
        return;
      case 'AgentEnded':
        if (run.isOver) this.#report('effect', `agent ${id} ends twice`);
        run.isOver = true;
        return;
      default:
    }
  }

  /** What a caretaker did in an older term changes nothing. */
  actedAs(term: number): void {
    if (term < this.#term)
      this.#report('effect', `an outcome of the caretaker of term ${term} is recorded in term ${this.#term}`);
  }

  /** Whether runs worked under a claim, and all of them are over. */
  isOver(session: string): boolean {
    const runs = [...this.runs.values()].filter((run) => run.session === session);
    return runs.length > 0 && runs.every(({ isOver }) => isOver) && !this.#ofPipelines.has(session);
  }

  /** When nothing happens any more: no run waits for a process that has ended. */
  checkEnded(): void {
    for (const { id, start, process, isOver } of this.runs.values())
      if (!isOver && process === 'running' && this.gone.has(`${id}:${start}`))
        this.#report('liveness', `agent ${id} waits for its process, which is gone`);
  }

  /** Every agent whose run is not over has something that makes it go on. */
  checkMovers(effects: EffectAudit): void {
    for (const { id, process, parked, isOver, isKilled } of this.runs.values()) {
      if (isOver) continue;
      if (parked !== '' && this.questions.get(parked)?.state === 'over' && !effects.isOwedAbout(id))
        this.#report('mover', `agent ${id} waits for a decision that is over`);
      if (process === 'gone' && parked === '' && !isKilled && !effects.isOwedAbout(id))
        this.#report('mover', `agent ${id} is gone, and nothing will ever happen`);
    }
  }
}
