import { ACTS, createScenario, FAULTS, HABITS, type Scenario } from './scenario.ts';
import type { RunResult } from './simulation.ts';
import { Random } from './world/random.ts';

/** Which pairs of entry types followed each other about the same subject: how much of the behaviour runs have reached. */
export class Coverage {
  readonly pairs = new Map<string, number>();
  readonly types = new Map<string, number>();

  /** Returns how many pairs were new. */
  add({ entries }: Pick<RunResult, 'entries'>): number {
    let fresh = 0;
    const last = new Map<string, string>();
    for (const { type, data } of entries) {
      this.types.set(type, (this.types.get(type) ?? 0) + 1);
      const key = SUBJECTS.map((field) => data[field]).find((id) => typeof id === 'string') ?? '';
      const pair = `${last.get(key) ?? ''} > ${type}`;
      last.set(key, type);
      const count = this.pairs.get(pair) ?? 0;
      if (count === 0) fresh += 1;
      this.pairs.set(pair, count + 1);
    }
    return fresh;
  }
}

const SUBJECTS = ['task_id', 'agent_id', 'pipeline_id', 'decision_id', 'host'] as const;

/**
 * Chooses what to run next: mostly fresh seeds, and sometimes a variant of a run that has reached something new, with
 * one more fault, habit or act.
 */
export class Explorer {
  readonly coverage = new Coverage();
  readonly #promising: Scenario[] = [];
  readonly #random: Random;
  #seed: number;

  constructor(seed: number) {
    this.#seed = seed;
    this.#random = new Random(seed, 'explorer');
  }

  next(): Scenario {
    const seed = (this.#seed += 1) - 1;
    const base = this.#random.chance(0.3) ? this.#random.pick(this.#promising) : undefined;
    return base === undefined ? createScenario(seed) : vary(base, seed);
  }

  /** Returns the number of new pairs. */
  learn(result: RunResult): number {
    const fresh = this.coverage.add(result);
    if (fresh > 0) this.#promising.push(result.scenario);
    if (this.#promising.length > 64) this.#promising.shift();
    return fresh;
  }
}

/** The name with which a scenario can be played again alone: `7`, or `7.12.40` for a variant of a variant. */
export function nameOf({ varied = [], seed }: Scenario): string {
  return [...varied, seed].join('.');
}

export function findScenario(name: string): Scenario {
  const [first = 0, ...variants] = name.split('.').map(Number);
  return variants.reduce(vary, createScenario(first));
}

function vary(origin: Scenario, seed: number): Scenario {
  const random = new Random(seed, 'variant');
  const base = { ...origin, varied: [...(origin.varied ?? []), origin.seed] };
  const { untilMs, hosts } = base;
  switch (random.below(3)) {
    case 0: {
      const kind = random.pick(FAULTS) ?? 'crash';
      const fault = {
        kind,
        atMs: random.below(untilMs),
        host: random.below(hosts),
        forMs: 20_000,
        commits: random.below(6),
      };
      return { ...base, seed, faults: [...base.faults, fault] };
    }
    case 1: {
      const habit = { process: random.below(20), kind: random.pick(HABITS) ?? 'crashes', step: random.below(6) };
      return { ...base, seed, habits: [habit, ...base.habits] };
    }
    default: {
      const act = { kind: random.pick(ACTS) ?? 'answer', atMs: random.below(untilMs), n: random.below(1000) };
      return { ...base, seed, acts: [...base.acts, act] };
    }
  }
}
