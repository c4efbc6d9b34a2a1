import assert from 'node:assert/strict';
import type { Caller } from '../state/caller.ts';
import type { Command } from '../state/decide.ts';
import type { EventOf, EventType, RecordedEvent } from '../state/event.ts';
import type { EntryLevels } from '../state/fleet/entry-levels.ts';
import type { Refusal } from '../state/outcome.ts';
import { trackReadyTasks, type ReadyTasks } from '../state/tasks/ready.ts';
import type { Rules } from '../state/rules.ts';
import { agentStatus, type AgentRun, type AgentStatus } from '../state/runs/agent-run.ts';
import type { Decision } from '../state/runs/decision.ts';
import { type Effect, type EffectType, isStartEffect, isStopEffect, processNumber } from '../state/runs/effect.ts';
import { pipelineStatus, type PipelineRun, type PipelineStatus } from '../state/runs/pipeline-run.ts';
import { operator, system } from '../state/say.cases.ts';
import { emptyState, evolve, type State } from '../state/state.ts';
import { findInBudgets } from './budget-faults.cases.ts';
import { findFault, findUnmoved, ledgerReader } from './faults.cases.ts';
import type { EngineContext } from './context.ts';
import { lookForWork } from './dispatch.ts';
import { advance, apply, type Applied } from './kernel.ts';

/**
 * A project without a daemon. Applies commands with the kernel one after the other, and checks the state after each.
 */
export class Play {
  readonly state: State = emptyState();
  readonly entries: RecordedEvent[] = [];
  readonly rules: Rules;
  /** The entries of the last command. */
  last: readonly RecordedEvent[] = [];
  answer: unknown;
  /** The host that decides; undefined on SQLite. */
  here: string | undefined;
  levels: EntryLevels | undefined;
  readonly #ready: ReadyTasks;
  readonly #findInLedger = ledgerReader();
  #nowMs = Date.parse('2026-01-01T00:00:00.000Z');
  #ids = 0;

  constructor(rules: Partial<Rules> = {}) {
    // Who proves an approval is the subject of its own tests.
    this.rules = { ciGate: false, mergeGate: false, unseparated: 'accept', ...rules };
    this.#ready = trackReadyTasks(this.state, this.rules);
  }

  get at(): string {
    return new Date(this.#nowMs).toISOString();
  }

  /** Makes ids unique. */
  get serial(): string {
    return `${this.here ?? ''}${this.entries.length}`;
  }

  /** Advances the clock. */
  wait(ms: number): this {
    this.#nowMs += ms;
    return this;
  }

  /** Makes this host decide the following commands. */
  on(host: string): this {
    this.here = host;
    return this;
  }

  /** Applies a command that must succeed. */
  say(command: Command, caller: Caller = system): this {
    const outcome = this.attempt(command, caller);
    if (!outcome.ok) throw new Error(`${command.kind} by ${caller.kind}: ${outcome.refusal.message}`);
    return this;
  }

  order(command: Command): this {
    return this.say(command, operator);
  }

  /** Applies a command that must be refused without any change. */
  refuse(command: Command, caller: Caller = operator): Refusal {
    const before = structuredClone(this.state);
    const outcome = this.attempt(command, caller);
    assert.deepEqual(this.state, before, 'a refusal changes nothing');
    if (outcome.ok) throw new Error(`${command.kind} was not refused`);
    assert.notEqual(outcome.refusal.hint, '', 'a refusal says what to do next');
    return outcome.refusal;
  }

  attempt(command: Command, caller: Caller): Applied<unknown> {
    const world = { ...this.#inputs(), ...(this.levels === undefined ? {} : { levels: this.levels }) };
    return this.#took(apply(world, command, caller));
  }

  /** Looks for work, as a host does after another one recorded an entry. */
  look(): this {
    const world = this.#inputs();
    const steps = advance(world, lookForWork(world), { actor: 'system:engine' });
    this.#took({ ok: true, answer: null, steps });
    return this;
  }

  /** Folds entries that another host recorded. */
  receive(entries: readonly RecordedEvent[]): void {
    for (const entry of entries) {
      evolve(this.state, entry);
      this.#ready.note(this.state, entry);
      this.entries.push(entry);
      this.#nowMs = Math.max(this.#nowMs, Date.parse(entry.at));
    }
    this.#check(entries);
  }

  #inputs(): EngineContext {
    const newId = (): string => `${this.here ?? ''}x${(this.#ids += 1)}`;
    return { state: this.state, newId, at: this.at, ready: this.#ready, rules: this.rules, here: this.here };
  }

  #took(applied: Applied<unknown>): Applied<unknown> {
    this.last = applied.ok ? applied.steps.map(({ recorded }) => recorded) : [];
    if (!applied.ok) return applied;
    this.answer = applied.answer;
    this.entries.push(...this.last);
    this.#check(this.last);
    return applied;
  }

  #check(added: readonly RecordedEvent[]): void {
    const fault =
      findFault(this.state) ??
      findUnmoved(this.state, this.rules) ??
      findInBudgets(this.state, this.rules, this.at) ??
      this.#findInLedger(added);
    if (fault !== undefined) throw new Error(`${fault}\n${this.story()}`);
  }

  /** The state that another daemon would fold from the ledger. */
  replayed(): State {
    const stored = JSON.parse(JSON.stringify(this.entries)) as RecordedEvent[]; // oxlint-disable-line typescript/no-unsafe-type-assertion
    return stored.reduce(evolve, emptyState());
  }

  checkReplay(): this {
    assert.deepEqual(this.replayed(), this.state);
    return this;
  }

  types(): EventType[] {
    return this.last.map(({ type }) => type);
  }

  /** The data of the newest entry of a type. */
  newest<T extends EventType>(type: T): EventOf<T>['data'] {
    const found = this.entries.findLast((entry) => entry.type === type);
    if (found === undefined) throw new Error(`there is no ${type}\n${this.story()}`);
    return found.data as EventOf<T>['data']; // oxlint-disable-line typescript/no-unsafe-type-assertion
  }

  count(type: EventType): number {
    return this.entries.filter((entry) => entry.type === type).length;
  }

  agent(id = this.newest('AgentRequested').agent_id): AgentRun {
    return required(this.state.agents.get(id), `agent ${id}`);
  }

  pipeline(id = 'p1'): PipelineRun {
    return required(this.state.pipelines.get(id), `pipeline ${id}`);
  }

  decision(id = this.newest('DecisionOpened').decision_id): Decision {
    return required(this.state.decisions.get(id), `decision ${id}`);
  }

  /** The data of the owed effects of this type. */
  owed<T extends EffectType>(type: T): EventOf<T>['data'][] {
    const owed = [...this.state.effects.values()].filter((effect) => effect.type === type);
    return owed.map(({ data }) => data as EventOf<T>['data']); // oxlint-disable-line typescript/no-unsafe-type-assertion
  }

  /** The data of the only owed effect of this type. */
  the<T extends EffectType>(type: T): EventOf<T>['data'] {
    return requireOnly(this.owed(type), type);
  }

  /** The processes that wait to be started. */
  starts(): ProcessRef[] {
    return [...this.state.effects.values()].filter(isStartEffect).map(processOf);
  }

  theStart(): ProcessRef {
    return requireOnly(this.starts(), 'start of a process');
  }

  /** The processes that wait to be stopped so that the run continues in another one. */
  stops(): ProcessRef[] {
    return [...this.state.effects.values()].filter(isStopEffect).map(processOf);
  }

  theStop(): ProcessRef {
    return requireOnly(this.stops(), 'stop of a process');
  }

  /** The newest run, its task and its effects, described for assertions. */
  seen(): Seen {
    const agent = this.agent();
    const run = this.state.pipelines.get(agent.owner?.pipelineId ?? '');
    const task = this.state.tasks.get(agent.task?.task_id ?? '');
    const asked = this.state.decisions.get(agent.parked ?? '');
    const isOpen = asked !== undefined && asked.result === null;
    return {
      agent: agentStatus(agent),
      reason: agent.reason,
      asked: isOpen ? `${asked.source}: ${this.newest('AgentParked').reason}` : null,
      pipeline: run === undefined ? null : pipelineStatus(run),
      task: task === undefined ? null : task.claim !== null ? 'held' : `${task.phase}: ${task.blocked?.reason ?? ''}`,
      owed: [...this.state.effects.values()].map(inWords),
    };
  }

  story(): string {
    return this.entries
      .map(({ seq, actor, type, data }) => `${seq} ${actor} ${type} ${JSON.stringify(data)}`)
      .join('\n');
  }
}

interface ProcessRef {
  readonly agent_id: string;
  readonly start: number;
}

function processOf(effect: Parameters<typeof processNumber>[0]): ProcessRef {
  return { agent_id: effect.data.agent_id, start: processNumber(effect) };
}

function requireOnly<T>([only, ...others]: readonly T[], what: string): T {
  assert.deepEqual(others, []);
  return required(only, `${what} that is owed`);
}

function required<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`there is no ${what}`);
  return value;
}

export interface Seen {
  readonly agent: AgentStatus;
  readonly reason: string | null;
  readonly asked: string | null;
  readonly pipeline: PipelineStatus | null;
  readonly task: string | null;
  readonly owed: readonly string[];
}

function inWords(effect: Effect): string {
  const { type, data } = effect;
  switch (type) {
    case 'AgentRequested':
    case 'AgentResumeRequested':
      return `start ${processNumber(effect)}`;
    case 'MessageRequested':
      return `send: ${data.text}`;
    case 'AgentKillRequested':
      return `kill: ${data.reason}`;
    case 'AgentAttachRequested':
    case 'AgentRestartRequested':
      return `stop ${processNumber(effect)}`;
    case 'CommandRequested':
      return `run: ${data.command}`;
    case 'WorkspaceRequested':
      return `workspace: ${data.branch}`;
    case 'ChecksRequested':
      return `checks: ${data.checks.flatMap(({ name, run }) => (run === undefined ? [] : [name])).join(', ')} of ${data.head}`;
    case 'MergeRequested':
      return `merge: ${data.head} by ${data.method}`;
    case 'PullRequestRequested':
      return `publish: ${data.head} on ${data.branch}`;
    case 'PullRequestCloseRequested':
      return `close: #${data.number}`;
    case 'GithubIssueCloseRequested':
      return `close issue: #${data.number}`;
    case 'PlaceClearRequested':
      return `clear: ${data.branch}`;
    case 'PullRequestPublished':
      return `watch: ${data.watch.join(', ')} of ${data.head}`;
    case 'PhaseMoved':
      return `seal: ${effect.seq}`;
    case 'TimerSet':
      return `wait: ${data.purpose.kind} ${data.due}`;
    case 'DecisionAnswered':
      return `answer: ${data.option} at ${data.effective_at}`;
    case 'NotificationRequested':
      return `${data.kind}: ${data.title}: ${data.message}`;
  }
}
