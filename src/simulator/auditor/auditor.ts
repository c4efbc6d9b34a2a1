import { DoneAudit } from './done-audit.ts';
import { EffectAudit } from './effect-audit.ts';
import { type AuditedEntry, numberOf, partOf, partsOf, textOf, wordOf } from './entry.ts';
import type { AuditSettings, OwingHost, TrueGit } from './facts.ts';
import { FamilyAudit } from './family-audit.ts';
import type { Invariant } from './invariants.ts';
import { NumberAudit } from './number-audit.ts';
import { RunAudit } from './run-audit.ts';
import { type AuditedTask, followTask, newTask } from './task-audit.ts';
import { VerdictAudit } from './verdict-audit.ts';

export interface Violation {
  readonly invariant: Invariant;
  readonly text: string;
  /** The number of entries at the time. */
  readonly seq: number;
}

/**
 * Checks every invariant with its own bookkeeping, from the entries and from what really happened. It imports no code
 * of the kernel, so that a mistake there cannot hide here.
 */
export class Auditor {
  violation: Violation | undefined;
  readonly #without: ReadonlySet<string>;
  readonly #tasks = new Map<string, AuditedTask>();
  readonly #numbers = new NumberAudit((invariant, text) => this.report(invariant, text));
  readonly #effects = new EffectAudit((invariant, text) => this.report(invariant, text));
  readonly #runs = new RunAudit((invariant, text) => this.report(invariant, text));
  readonly #done = new DoneAudit((invariant, text) => this.report(invariant, text));
  readonly #verdicts = new VerdictAudit((invariant, text) => this.report(invariant, text));
  readonly #families = new FamilyAudit((invariant, text) => this.report(invariant, text));
  readonly #settledKeys = new Set<string>();
  readonly #kept = new Set<string>();
  readonly #spawned = new Set<string>();
  readonly #notes = new Map<string, string[]>();
  readonly #usedBy = new Map<string, number>();
  #raises = 0;
  #free = 0;
  /** A person has refused more budget, so work may wait for the next day. */
  #isSpendingOver = false;
  #git: TrueGit | undefined;
  #seq = 0;
  /** The newest message to an agent. */
  #told = '';
  #settings = { required: [] as readonly string[], taskTokens: Infinity, largestRequest: 0 };
  readonly #hosts = { removed: 0, draining: 0 };

  constructor(without: ReadonlySet<string> = new Set()) {
    this.#without = without;
  }

  watch(git: TrueGit, settings: AuditSettings): void {
    this.#git = git;
    this.#done.watch(git, settings.required);
    this.#settings = { ...settings, largestRequest: 0 };
    this.#families.limits = settings.tasks;
    this.#effects.doClocksJump = settings.doClocksJump;
    this.#runs.doClocksJump = settings.doClocksJump;
    this.#verdicts.judges = settings.judges;
  }

  report(invariant: Invariant, text: string): void {
    if (!this.#without.has(invariant)) this.violation ??= { invariant, text, seq: this.#seq };
  }

  read(commit: readonly AuditedEntry[]): void {
    for (const entry of commit) this.#readOne(entry, commit);
    if (this.violation !== undefined) return;
    this.#runs.checkMovers(this.#effects);
    for (const task of this.#tasks.values()) this.#checkMover(task);
  }

  #readOne(entry: AuditedEntry, commit: readonly AuditedEntry[]): void {
    const { seq, type, cause, actor } = entry;
    if (seq !== this.#seq + 1) this.report('cause', `entry ${seq} follows entry ${this.#seq}`);
    this.#seq = seq;
    if (cause !== null && cause >= seq) this.report('cause', `entry ${seq} names a later cause`);
    if (actor === 'system:engine' && cause === null && !BEGINNINGS.has(type))
      this.report('cause', `entry ${seq} ${type} has no cause`);
    this.#numbers.read(entry);
    this.#readMessage(entry);
    if (type === 'MessageRequested') this.#told = textOf(entry, 'text');
    if (type === 'ResultSubmitted') this.#readQuestions(entry, commit);
    this.#effects.read(entry);
    this.#runs.read(entry);
    this.#verdicts.read(entry);
    if (type === 'SessionUsed') this.#readUse(entry);
    if (type === 'BudgetRaised') this.#raises = Math.max(this.#raises, numberOf(entry, 'raises'));
    if (type === 'HostRemoved') this.#hosts.removed += 1;
    if (type === 'HostDrained') this.#hosts.draining += entry.data['draining'] === true ? 1 : -1;
    if (type === 'DecisionResolved') this.#readAnswer(entry);
    const id = textOf(entry, 'task_id');
    if (type === 'TaskCreated') {
      if (this.#tasks.has(id)) this.report('claim', `${id} is created twice`);
      this.#tasks.set(id, newTask(entry));
      this.#families.created(entry);
    }
    const task = this.#tasks.get(id);
    if (task === undefined) return;
    if (type === 'PhaseMoved') this.#done.checkMove(task, entry, commit);
    if (type === 'SessionPrepared') this.#checkBase(task, entry);
    if (type === 'BranchMoved') this.#checkKept(task, entry);
    if (type === 'TaskClaimed') this.#checkFree(task);
    followTask(task, entry, (invariant, text) => this.report(invariant, text));
    if (PERSONAL.has(type) && actor.startsWith('operator:')) task.personAt = seq;
  }

  /** A keyed message is recorded once, however often it is sent. */
  #readMessage(entry: AuditedEntry): void {
    const key = wordOf(partOf(entry, 'settles'), 'key');
    if (key === '') return;
    if (this.#settledKeys.has(key)) this.report('message', `message ${key} is recorded twice`);
    this.#settledKeys.add(key);
  }

  /** A question in a result reaches a person at once. */
  #readQuestions(entry: AuditedEntry, commit: readonly AuditedEntry[]): void {
    const issues = partsOf(partOf(entry, 'result')['issues']);
    const asked = commit.filter(({ type }) => type === 'DecisionOpened').map((each) => textOf(each, 'context'));
    for (const issue of issues) {
      const text = wordOf(issue, 'description');
      if (wordOf(issue, 'type') === 'question' && !asked.some((context) => context.includes(text)))
        this.report('decision', `the question ${text} of a result reaches nobody`);
    }
  }

  /** An answer is about the task's present state only if the question was asked in it. */
  #readAnswer(entry: AuditedEntry): void {
    const asked = this.#runs.questions.get(textOf(entry, 'decision_id'));
    const task = this.#tasks.get(asked === undefined ? '' : this.#runs.taskOf(asked));
    if (asked?.source === 'budget' && textOf(entry, 'action') !== 'approve') this.#isSpendingOver = true;
    if (asked === undefined || task === undefined || asked.source === 'reconcile') return;
    if (asked.seq > task.movedAt) task.personAt = entry.seq;
  }

  #readUse(entry: AuditedEntry): void {
    const agent = textOf(entry, 'agent_id');
    const before = this.#usedBy.get(agent) ?? 0;
    const now = numberOf(entry, 'input_tokens') + numberOf(entry, 'output_tokens');
    this.#usedBy.set(agent, now);
    const { taskId = '', isAttached = false } = this.#runs.runs.get(agent) ?? {};
    // While a person has the conversation, nothing limits it.
    if (isAttached) this.#free += now - before;
    if (taskId === '') return;
    let used = 0;
    const root = this.#families.rootOf(taskId);
    for (const [id, tokens] of this.#usedBy)
      if (this.#families.rootOf(this.#runs.runs.get(id)?.taskId ?? '') === root) used += tokens;
    const { taskTokens, largestRequest } = this.#settings;
    const limit = taskTokens * (1 + this.#raises) + largestRequest + this.#free;
    if (used > limit) this.report('budget', `${root} used ${used} tokens, more than ${limit}`);
  }

  /** A task is claimed only if nothing else has it: a person, a merge, or the tasks that it waits for. */
  #checkFree({ id, phase, isHeld, after }: AuditedTask): void {
    const isMerging = [...this.#effects.owed.values()].some(
      ({ type, about }) => type === 'MergeRequested' && about.includes(id),
    );
    const waits = phase !== 'COMPLETED' && after.some((before) => this.#tasks.get(before)?.phase !== 'COMPLETED');
    if (isHeld || isMerging || waits) this.report('claim', `${id} is claimed, and waits for something else`);
  }

  /** A session begins at the recorded head, at later commits of the branch, or at what was pushed. */
  #checkBase(task: AuditedTask, entry: AuditedEntry): void {
    const base = textOf(entry, 'base');
    const { measured: head, pushed, phase } = task;
    // Merged work is on main, where the branch is not needed any more.
    if (this.#git === undefined || phase === 'COMPLETED' || head === '' || base === head || base === pushed) return;
    if (!this.#git.isAncestor(head, base))
      this.report('base', `${task.id}: a session begins at ${base}, not at ${head}`);
  }

  /** A branch that moves keeps the work of the last session, unless its host is lost. */
  #checkKept({ id, hasExpired, ofSession }: AuditedTask, entry: AuditedEntry): void {
    const [old, now] = [textOf(entry, 'old'), textOf(entry, 'new')];
    if (old === '' || old !== ofSession || hasExpired || this.#hosts.removed > 0 || this.#git === undefined) return;
    if (!this.#git.isAncestor(old, now)) this.report('base', `${id}: the branch moves to ${now}, which lacks ${old}`);
  }

  /** Who moves the task next: a claim, an effect, a question, or anybody who claims it. */
  #checkMover(task: AuditedTask): void {
    const { id, phase, live } = task;
    if (live !== null && this.#runs.isOver(live.session))
      return this.report('mover', `${id} is claimed, and the run of session ${live.session} is over`);
    if (live !== null || task.isCancelled) return;
    if (phase === 'COMPLETED' && !(task.isHeld && !this.#hasQuestion(id))) return;
    if (this.#effects.isOwedAbout(id) || this.#hasQuestion(id)) return;
    if (task.isHeld) return this.report('mover', `${id} is held, and no question about it is open`);
    if (phase === 'BLOCKED' && task.isWorkflow && task.personAt < task.movedAt && !task.isByPerson)
      return this.report('mover', `${id} is blocked, and nobody is asked`);
    if (phase === 'CI_PENDING' && task.isWorkflow)
      this.report('mover', `${id} waits for checks, and none are on their way`);
  }

  /** A pull request's checks may never come: the task has moved on, or a person publishes their own branch. */
  #isNotChecked(id: string): boolean {
    const task = this.#tasks.get(id);
    return task === undefined || task.phase !== 'CI_PENDING' || task.preparedEpoch === -1;
  }

  #hasQuestion(taskId: string): boolean {
    return this.#runs.openAbout(taskId) !== undefined;
  }

  /** After healing, when nothing changes any more: whatever is left must wait for a person. */
  endOfRound(isMainHeld: boolean, hosts: readonly OwingHost[] = []): void {
    this.#runs.checkEnded();
    for (const { name, effects } of hosts) this.#effects.checkHost(name, effects);
    for (const key of this.#kept) this.report('message', `the kept message ${key} was never delivered`);
    for (const { key, about, isElsewhere, due, purpose } of this.#effects.owed.values())
      // A merge waits for answers about its task and the main branch, and a start for one about a budget.
      if (/^(merge|start|message) /.test(key) && (isMainHeld || this.#runs.hasOpen)) continue;
      else if (isElsewhere && about.every((id) => this.#isNotChecked(id))) continue;
      else if (due === null || !['stall', 'day', 'budget'].includes(purpose))
        this.report('liveness', `${key} is still owed`);
    if (this.#runs.hasOpen || this.#isSpendingOver) return;
    for (const task of this.#tasks.values()) this.#checkEnded(task);
  }

  #checkEnded(task: AuditedTask): void {
    const { id, phase, live, nextRole, isWorkflow, takenBy } = task;
    if (live !== null) return this.report('liveness', `${id} is claimed, and nothing happens`);
    const isOpen = phase !== 'COMPLETED' && phase !== 'BLOCKED';
    const waits = task.after.some((before) => this.#tasks.get(before)?.phase !== 'COMPLETED');
    if (!isWorkflow || nextRole === '' || takenBy !== '' || waits || !isOpen) return;
    // An author must not review: if all reviewers are authors, a person claims the task by hand.
    if (['reviewer', 'validator'].includes(nextRole) || this.#hosts.removed + this.#hosts.draining > 0) return;
    this.report('liveness', `${id} waits for the role ${nextRole}, and no worker takes it`);
  }

  // What really happened.

  answered(key: string): void {
    this.#kept.delete(key);
  }

  kept(key: string): void {
    this.#kept.add(key);
  }

  actedAs(term: number): void {
    this.#runs.actedAs(term);
  }

  ended(agentId: string, start: number): void {
    this.#runs.gone.add(`${agentId}:${start}`);
  }

  /** Code of the branch approves in the name of a session. */
  forged(sessionId: string): void {
    this.#verdicts.forged.add(sessionId);
  }

  used(tokens: number): void {
    this.#settings.largestRequest = Math.max(this.#settings.largestRequest, tokens);
  }

  checked(name: string, tree: Readonly<Record<string, string>>, passed: boolean): void {
    if (passed) this.#done.passed(name, tree);
  }

  spawned(agentId: string, start: number): void {
    const key = `${agentId}:${start}`;
    if (this.#spawned.has(key)) this.report('effect', `process ${key} is started twice`);
    this.#spawned.add(key);
  }

  noted(taskId: string, text: string): void {
    // The supervisor passes the message to the running agent at once.
    if (this.#told.includes(text)) return;
    this.#notes.set(taskId, [...(this.#notes.get(taskId) ?? []), text].slice(-3));
  }

  /** The packet of a session contains what people noted since the session before. */
  packet(taskId: string, text: string): void {
    const missing = (this.#notes.get(taskId) ?? []).find((note) => !text.includes(note));
    this.#notes.delete(taskId);
    if (missing !== undefined) this.report('packet', `the packet of ${taskId} lacks the note ${missing}`);
  }
}

/** Entries of the engine that no entry causes: work that a host finds after another one has recorded something. */
const BEGINNINGS: ReadonlySet<string> = new Set([
  'TaskClaimed', 'AgentRequested', 'PipelineStarted', 'WorkflowStarted', 'PhaseMoved', 'DecisionOpened', 'BudgetReached',
  'NotificationRequested', 'StepStarted', 'TimerSet',
]); // prettier-ignore

/** Entries with which a person acts on a task. */
const PERSONAL: ReadonlySet<string> = new Set(['PhaseMoved', 'TaskAssigned', 'ClaimRevoked', 'WritebackWaived']);
