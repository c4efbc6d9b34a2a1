import type { WorkerPlan } from '../../protocol/run-plan.ts';
import type { Rules } from '../../state/rules.ts';
import type { Auditor } from '../auditor/auditor.ts';
import type { Habit, Scenario } from '../scenario.ts';
import { Chain } from './chain.ts';
import { Git } from './git.ts';
import type { Host } from './host.ts';
import type { AgentProcess } from './process.ts';
import { Random } from './random.ts';
import { Timetable } from './timetable.ts';

/** A generator that yields the milliseconds until it goes on. Between two steps anything may happen. */
export type Activity = Generator<number, void, void>;

/** A claim by hand, which a person or a client works under. */
export interface HandClaim {
  readonly taskId: string;
  readonly epoch: number;
  readonly sessionId: string;
  readonly host: Host;
}

/** What really happened, whatever anyone reports: git, processes, the shared store, clocks and the network. */
export class World {
  readonly scenario: Scenario;
  readonly workers: readonly WorkerPlan[];
  readonly rules: Rules;
  readonly auditor: Auditor;
  readonly random: Random;
  readonly timetable = new Timetable();
  readonly git: Git;
  readonly chain: Chain;
  readonly hosts: Host[] = [];
  /** By agent and process number. */
  readonly processes = new Map<string, AgentProcess>();
  /** The lease rows of claims: until when, by true time, each claim lives. */
  readonly leases = new Map<string, { readonly epoch: number; readonly untilMs: number }>();
  readonly handClaims: HandClaim[] = [];
  /** The caretaker's lease row, in a fleet. */
  care = { host: '', term: 0, untilMs: 0 };
  isRemoteAway = false;
  /** From now on nothing fails, and every agent does what it should. */
  isHealed = false;
  readonly #habits: readonly Habit[];
  #started = 0;
  #ids = 0;

  constructor(scenario: Scenario, workers: readonly WorkerPlan[], rules: Rules, auditor: Auditor) {
    this.scenario = scenario;
    this.workers = workers;
    this.rules = rules;
    this.auditor = auditor;
    this.random = new Random(scenario.seed, 'world');
    this.git = new Git(scenario.seed);
    this.#habits = scenario.habits;
    this.chain = new Chain((commit, by) => {
      auditor.read(commit);
      for (const host of this.hosts) host.hearOf(by);
    });
  }

  get nowMs(): number {
    return this.timetable.nowMs;
  }

  get isFleet(): boolean {
    return this.scenario.hosts > 1;
  }

  newId(prefix: string): string {
    return `${prefix}${(this.#ids += 1)}`;
  }

  /** The habit of the next process, if it has one. */
  nextHabit(): Habit | undefined {
    const n = this.#started;
    this.#started += 1;
    return this.isHealed ? undefined : this.#habits.find(({ process }) => process === n);
  }

  /** Runs an activity step by step, for as long as `isAlive`. */
  run(activity: Activity, isAlive: () => boolean, onEnd: () => void = () => {}): void {
    const step = (): void => {
      if (!isAlive()) return;
      const { done, value } = activity.next();
      if (done === true) return onEnd();
      this.timetable.in(value, step);
    };
    step();
  }

  host(name: string): Host | undefined {
    return this.hosts.find((host) => host.name === name);
  }

  /** A host whose daemon answers; the first of them serves people. */
  upHost(n = 0): Host | undefined {
    const up = this.hosts.filter((host) => host.isUp);
    return up[n % Math.max(1, up.length)];
  }

  renew(taskId: string, epoch: number, forMs: number): void {
    const lease = this.leases.get(taskId);
    if (lease !== undefined && lease.epoch > epoch) return;
    this.leases.set(taskId, { epoch, untilMs: this.nowMs + forMs });
  }
}
