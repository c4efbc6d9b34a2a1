import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { samples } from '../../test/lanes.ts';
import { builtInWorkers } from './built-in-workers.ts';
import { Coverage } from './coverage.ts';
import { createScenario, type Scenario } from './scenario.ts';
import { type RunResult, simulate } from './simulation.ts';
import { renderStory } from './story.ts';

const setup = { workers: builtInWorkers() };
const FIXTURES = join(import.meta.dirname, '..', '..', 'test', 'simulator', 'fixtures');
/** Fresh seeds run only in `npm run simulate`, so that a test never fails by chance. */
const SEEDS = Array.from({ length: samples(600) }, (_, i) => 1000 + i);

function expectNoViolation(result: RunResult): void {
  if (result.violation !== undefined) throw new Error(renderStory(result));
}

describe('projects with faults, late people and agents of every habit', () => {
  it('keep every invariant, and merge', () => {
    const coverage = new Coverage();
    let merges = 0;
    for (const seed of SEEDS) {
      const result = simulate(createScenario(seed), setup);
      expectNoViolation(result);
      coverage.add(result);
      merges += result.merges;
    }
    expect(merges).toBeGreaterThanOrEqual(SEEDS.length);
    // The runs prove little unless they reach most of what can happen.
    expect([...WANTED].filter((type) => !coverage.types.has(type))).toEqual([]);
  });

  it('give the same bytes for the same seed', () => {
    for (const seed of [3, 14, 15]) {
      const [one, other] = [seed, seed].map((each) => simulate(createScenario(each), setup));
      expect(one?.digest).toBe(other?.digest);
      expect(one?.entries.length).toBeGreaterThan(20);
    }
  });

  it.each(globSync('*.json', { cwd: FIXTURES }))('keep every invariant in %s, which once broke one', (name) => {
    const scenario = JSON.parse(readFileSync(join(FIXTURES, name), 'utf8')) as Scenario; // oxlint-disable-line typescript/no-unsafe-type-assertion
    const result = simulate(scenario, setup);
    expectNoViolation(result);
    expect(result.entries.length).toBeGreaterThan(0);
  });
});

const WANTED = [
  'AgentAttachRequested',
  'AgentParked',
  'AgentSilent',
  'BudgetReached',
  'CaretakerChanged',
  'ClaimRevoked',
  'ConstraintWaived',
  'DecisionAnswered',
  'DecisionWithdrawn',
  'HandoffDropped',
  'HostDrained',
  'HostRemoved',
  'MainMoved',
  'MergeFinished',
  'MergeHeld',
  'PipelineFinished',
  'PullRequestPublished',
  'RunAcknowledged',
  'RunbookAdopted',
  'TaskHeld',
  'TaskReinstated',
  'VerdictConfirmed',
  'WorkPushFailed',
  'WritebackWaived',
];
