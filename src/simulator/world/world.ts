import type { WorkerPlan } from '../../protocol/run-plan.ts';
import type { Rules } from '../../state/rules.ts';
import type { Auditor } from '../auditor/auditor.ts';
import type { Habit, Scenario } from '../scenario.ts';
import { Chain } from './chain.ts';
import { Git } from './git.ts';
import type { Activity, Actors, AgentProcess, HandClaim, Host, World } from './parts.ts';
import { Random } from './random.ts';
import { Timetable } from './timetable.ts';

export interface WorldParts {
  readonly workers: readonly WorkerPlan[];
  readonly rules: Rules;
  readonly auditor: Auditor;
  readonly actors: Actors;
}

/** What really happened, whatever anyone reports: git, processes, the shared store, clocks and the network. */
export class SimWorld implements World {
  readonly scenario: Scenario;
  readonly workers: readonly WorkerPlan[];
  readonly rules: Rules;
  readonly auditor: Auditor;
  readonly actors: Actors;
  readonly random: Random;
  readonly timetable = new Timetable();
  readonly git: Git;
  readonly chain: Chain;
  readonly madeUnder = new Map<string, { readonly task_id: string; readonly epoch: number }>();
  readonly hosts: Host[] = [];
  readonly processes = new Map<string, AgentProcess>();
  readonly leases = new Map<string, { readonly epoch: number; readonly untilMs: number }>();
  readonly handClaims: HandClaim[] = [];
  care = { host: '', term: 0, untilMs: 0 };
  isRemoteAway = false;
  isHealed = false;
  readonly #habits: readonly Habit[];
  #started = 0;
  #ids = 0;

  constructor(scenario: Scenario, { workers, rules, auditor, actors }: WorldParts) {
    this.scenario = scenario;
    this.workers = workers;
    this.rules = rules;
    this.actors = actors;
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

  nextHabit(): Habit | undefined {
    const n = this.#started;
    this.#started += 1;
    return this.isHealed ? undefined : this.#habits.find(({ process }) => process === n);
  }

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
