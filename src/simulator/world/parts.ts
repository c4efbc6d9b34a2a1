import type { AgentReport } from '../../protocol/agent-report.ts';
import type { WorkerPlan } from '../../protocol/run-plan.ts';
import type { Caller } from '../../state/caller.ts';
import type { Command } from '../../state/decide.ts';
import type { Event } from '../../state/event.ts';
import type { Here } from '../../state/fleet/owner.ts';
import type { Refusal } from '../../state/outcome.ts';
import type { Rules } from '../../state/rules.ts';
import type { AgentRun } from '../../state/runs/agent-run.ts';
import type { Effect } from '../../state/runs/effect.ts';
import type { State } from '../../state/state.ts';
import type { Auditor } from '../auditor/auditor.ts';
import type { Habit, Scenario } from '../scenario.ts';
import type { Chain } from './chain.ts';
import type { Git } from './git.ts';
import type { Random } from './random.ts';
import type { Timetable } from './timetable.ts';

/** A generator that yields the milliseconds until it goes on. Between two steps anything may happen. */
export type Activity = Generator<number, void, void>;

/** `away`: no answer. The command may have been recorded all the same. */
export type Reply =
  | { readonly kind: 'ok'; readonly answer: unknown }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'away' };

/** What hosts do, as programs that act on the world. */
export interface Actors {
  perform(host: Host, effect: Effect, caller: Caller): Activity;
  /** What a daemon does at intervals. */
  tick(host: Host): void;
}

/** A claim by hand, which a person or a client works under. */
export interface HandClaim {
  readonly taskId: string;
  readonly epoch: number;
  readonly sessionId: string;
  readonly host: Host;
}

/** A message that waits for the daemon. The daemon measures the session when the message arrives. */
export interface KeptCall {
  readonly make: () => Command;
  readonly caller: Caller;
  readonly key: string;
}

export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A process of an agent with its supervisor, on one machine. It outlives the daemon. */
export interface AgentProcess {
  readonly run: Pick<AgentRun, 'id' | 'task' | 'plan' | 'owner'>;
  readonly start: number;
  readonly host: Host;
  readonly habit: Habit | undefined;
  /** How the process ended; undefined while it runs. */
  readonly end: ProcessEnd | undefined;
  readonly inbox: string[];
  readonly identity: string;
  launch(program: Activity): void;
  kill(end: ProcessEnd): void;
  /** A report of the supervisor, which is not kept: a later report makes up for a lost one. */
  report(report: AgentReport): Reply;
  /** Code that the agent runs sends a command with the session's token. */
  forge(command: Command): void;
  /** Sends a command under a key. The message is kept while the daemon or the store is away. */
  say(make: () => Command, isTwice?: boolean): Reply;
}

/** A daemon on its machine. */
export interface Host {
  readonly name: string;
  readonly world: World;
  readonly state: State;
  readonly isUp: boolean;
  isFrozen: boolean;
  isCutOff: boolean;
  isDiskFull: boolean;
  /** How far the clock of the machine is off. */
  clockMs: number;
  /** How many commits the daemon makes until it crashes; undefined if no crash is planned. */
  crashAfter: number | undefined;
  crashBeforeCommit: boolean;
  /** The term of the caretaker's lease, as far as this host knows; undefined if it has none. */
  term: number | undefined;
  careUntilMs: number;
  readonly outbox: KeptCall[];
  /** The host's name in entries; undefined on SQLite. */
  readonly here: string | undefined;
  readonly hereNow: Here | undefined;
  readonly isReachable: boolean;
  /** The time of the next entry. */
  readonly at: string;
  readonly nowMs: number;
  start(): void;
  crash(): void;
  saveSnapshot(): void;
  submit(command: Command, caller: Caller, key?: string): Reply;
  /** Records entries that no command decides: those of the ledger itself. */
  record(events: readonly Event[], actor: string): boolean;
  hearOf(by: string): void;
  catchUp(): void;
  reconcile(): void;
  forget(effect: Effect): void;
}

/** What really happens, whatever anyone reports: git, processes, the shared store, clocks and the network. */
export interface World {
  readonly scenario: Scenario;
  readonly workers: readonly WorkerPlan[];
  readonly rules: Rules;
  readonly auditor: Auditor;
  readonly actors: Actors;
  readonly random: Random;
  readonly timetable: Timetable;
  readonly git: Git;
  readonly chain: Chain;
  /** The claim under which, or after which, a commit was made. */
  readonly madeUnder: Map<string, { readonly task_id: string; readonly epoch: number }>;
  readonly hosts: Host[];
  /** By agent and process number. */
  readonly processes: Map<string, AgentProcess>;
  /** The lease rows of claims: until when, by true time, each claim lives. */
  readonly leases: Map<string, { readonly epoch: number; readonly untilMs: number }>;
  readonly handClaims: HandClaim[];
  /** The caretaker's lease row, in a fleet. */
  care: { readonly host: string; readonly term: number; readonly untilMs: number };
  isRemoteAway: boolean;
  /** From now on nothing fails, and every agent does what it should. */
  isHealed: boolean;
  readonly nowMs: number;
  readonly isFleet: boolean;
  newId(prefix: string): string;
  /** The habit of the next process, if it has one. */
  nextHabit(): Habit | undefined;
  /** Runs an activity step by step, for as long as `isAlive`. */
  run(activity: Activity, isAlive: () => boolean, onEnd?: () => void): void;
  host(name: string): Host | undefined;
  /** A host whose daemon answers. */
  upHost(n?: number): Host | undefined;
  renew(taskId: string, epoch: number, forMs: number): void;
}

/** How long a claim lives without renewal. */
export const LEASE_MS = 60_000;
