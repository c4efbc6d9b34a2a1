import type { WorkflowMode } from '../protocol/run-plan.ts';
import { Random } from './world/random.ts';

/** How an agent departs from what its instructions say. */
export const HABITS = [
  'lies about its commit',
  'approves without looking',
  'commits nothing',
  'is late',
  'is silent',
  'crashes',
  'floods',
  'commits after the end',
  'commits after the end',
  'prints its instructions',
  'plays another role',
  'commits during review',
  'reports an error',
  'gives up',
  'stops without a signal',
  'spends too much',
  'changes protected files',
  'adds a bug',
  'hits a limit',
  'asks a person',
  'prompts',
  'asks in its result',
  'runs branch code',
] as const;
export type HabitKind = (typeof HABITS)[number];

/** The n-th process that the run starts has this habit, from this step of its program on. */
export interface Habit {
  readonly process: number;
  readonly kind: HabitKind;
  readonly step: number;
}

export const FAULTS = [
  'crash',
  'crash',
  'kill machine',
  'kill machine',
  'freeze',
  'freeze',
  'cut off',
  'clock jump',
  'disk full',
  'remote away',
  'remote away',
] as const;

export interface Fault {
  readonly atMs: number;
  readonly kind: (typeof FAULTS)[number];
  readonly host: number;
  readonly forMs: number;
  /** For `crash`: how many commits the host may still make before it ends. */
  readonly commits: number;
}

export const ACTS = [
  'answer', 'answer', 'answer', 'answer late', 'contradict', 'click twice', 'answer all', 'undo', 'commit by hand',
  'rewrite main', 'note', 'cancel', 'unblock', 'reinstate', 'release', 'kill agent', 'send message', 'attach', 'detach',
  'claim by hand', 'take review', 'self-approve', 'complete', 'waive', 'waive constraint', 'move rules', 'block', 'request merge',
  'operator handoff', 'adopt', 'ask adoption', 'drop adoptions', 'decline checks', 'add page', 'revoke page',
  'write by page', 'audit', 'drain', 'undo drain', 'remove host', 'remove host', 'admit host', 'change remote', 'webhook', 'accept store',
  'new task', 'import tasks', 'run pipeline', 'cancel pipeline', 'retry pipeline', 'resume pipeline', 'acknowledge',
  'reconcile', 'report check', 'start agent', 'depend', 'record',
] as const; // prettier-ignore
type ActKind = (typeof ACTS)[number];

export interface Act {
  readonly atMs: number;
  readonly kind: ActKind;
  /** Chooses the subject among those that exist then. */
  readonly n: number;
}

export interface TaskPlan {
  readonly atMs: number;
  /** `taken`: a plain task becomes a workflow. `plain`: a worker outside of the workflow does it. */
  readonly kind: 'workflow' | 'taken' | 'plain';
  readonly waitsForPrevious: boolean;
}

interface Settings {
  readonly mode: WorkflowMode;
  readonly checks: number;
  readonly pulls: boolean;
  readonly protects: boolean;
  readonly budget: 'none' | 'task' | 'day' | 'agent' | 'cost';
  readonly stalls: boolean;
  readonly maxAgents: number;
  readonly adopts: boolean;
  readonly sandboxed: boolean;
  readonly reviewRounds: number;
  /**
   * `proven`: the supervisor matches what a judge sends with its client's output. `asked`: a person confirms each
   * approval. `accepted`: nothing is proven, as in scenarios from before.
   */
  readonly judges?: 'accepted' | 'proven' | 'asked';
  /** In a fleet: only the last host works in this role, so that work travels. */
  readonly labelled?: string | null;
}

/** Everything that a run is made of. The same scenario always gives the same entries. */
export interface Scenario {
  readonly seed: number;
  /** The seeds of the scenarios that this one is a variant of, the first one first. */
  readonly varied?: readonly number[];
  readonly hosts: number;
  readonly settings: Settings;
  readonly tasks: readonly TaskPlan[];
  readonly habits: readonly Habit[];
  readonly faults: readonly Fault[];
  readonly acts: readonly Act[];
  /** Until then faults begin and people act; afterwards everything is healed. */
  readonly untilMs: number;
}

export function createScenario(seed: number): Scenario {
  const random = new Random(seed, 'scenario');
  const hosts = random.chance(0.5) ? 1 : random.between(2, 5);
  const untilMs = random.between(120, 480) * 1000;
  // Half of the runs are calm, so that work gets far enough to be merged.
  const trouble = random.choose(0, 1, 2, 4);
  return {
    seed,
    hosts,
    settings: {
      mode: random.choose<WorkflowMode>('autonomous', 'autonomous', 'autonomous', 'semi', 'supervised'),
      checks: random.choose(0, 1, 1, 1, 2),
      pulls: random.chance(0.15),
      protects: random.chance(0.3),
      budget: random.choose<Settings['budget']>('none', 'none', 'none', 'task', 'day', 'agent', 'cost'),
      stalls: random.chance(0.15),
      maxAgents: random.choose(1, 2, 4, 8),
      adopts: random.chance(0.3),
      sandboxed: random.chance(0.6),
      reviewRounds: random.choose(1, 3),
      judges: random.choose('accepted', 'accepted', 'proven', 'asked'),
      labelled: random.choose(null, null, 'implementer', 'reviewer'),
    },
    tasks: list(random.between(1, 3), (i) => ({
      atMs: i === 0 ? 0 : random.below(untilMs / 3),
      kind: random.choose<TaskPlan['kind']>('workflow', 'workflow', 'workflow', 'taken', 'plain'),
      waitsForPrevious: random.chance(0.2),
    })),
    habits: list(random.below(2 + 4 * trouble), () => ({
      process: random.below(12),
      kind: random.pick(HABITS) ?? 'crashes',
      step: random.below(6),
    })),
    faults: list(random.below(1 + 2 * trouble), () => ({
      atMs: random.below(untilMs),
      kind: random.pick(FAULTS) ?? 'crash',
      host: random.below(hosts),
      forMs: random.choose(2_000, 20_000, 90_000, 150_000, 200_000),
      commits: random.below(6),
    })),
    acts: list(4 + random.below(4 + 8 * trouble), () => ({
      atMs: random.below(untilMs),
      kind: random.pick(ACTS) ?? 'answer',
      n: random.below(1000),
    })),
    untilMs,
  };
}

function list<T>(length: number, make: (i: number) => T): T[] {
  return Array.from({ length }, (_, i) => make(i));
}
