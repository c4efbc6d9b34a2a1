import { describe, expect, it, vi } from 'vitest';
import { NO_RUNBOOK, sortedWorkers } from '../daemon/rules/rulebook.ts';
import type { WorkerPlan } from '../protocol/run-plan.ts';
import { withLibrary } from '../runbook/library.ts';
import type { Rules } from '../state/rules.ts';
import * as runs from '../state/runs/say.cases.ts';
import * as say from '../state/say.cases.ts';
import { operator, system } from '../state/say.cases.ts';
import { emptyState } from '../state/state.ts';
import { type ReadyTasks, trackReadyTasks } from '../state/tasks/ready.ts';
import { coders } from './fleet/fleet.cases.ts';
import { apply } from './kernel.ts';
import { Play } from './play.cases.ts';

const BUILT_IN = sortedWorkers(withLibrary(NO_RUNBOOK));

/** A project with workers that counts how often the rules ask for ready tasks, and how many they get. */
function project(workers: readonly WorkerPlan[], more: Partial<Rules> = {}) {
  const state = emptyState();
  const rules: Rules = { ciGate: false, mergeGate: false, ...more };
  const looks = { asked: 0, seen: 0 };
  const count = <T>(found: readonly T[]): readonly T[] => {
    looks.asked += 1;
    looks.seen += found.length;
    return found;
  };
  const own = trackReadyTasks(state, rules);
  const ready: ReadyTasks = {
    ...own,
    first: (...given) => count(own.first(...given)),
    closing: (...given) => count(own.closing(...given)),
    ofGroups: (...given) => count(own.ofGroups(...given)),
  };
  let ids = 0;
  const world = { state, rules, ready, here: undefined, newId: () => `i${(ids += 1)}`, at: '2026-01-01T00:00:00.000Z' };
  apply(world, runs.configure(workers), system);
  const importTasks = (size: number) => {
    Object.assign(looks, { asked: 0, seen: 0 });
    const tasks = Array.from({ length: size }, (_, i) => ({ id: `T${i}`, title: 'a task' }));
    const applied = apply(world, { kind: 'import-tasks', command: { source: 'a list', tasks } }, operator);
    if (!applied.ok) throw new Error(applied.refusal.message);
    return { ...looks, claims: applied.steps.filter(({ event }) => event.type === 'TaskClaimed').length };
  };
  return { importTasks };
}

describe('an import of many tasks', () => {
  it.each([
    ['the built-in workers', BUILT_IN, {}],
    ['the built-in workers and limits on stalled tasks', BUILT_IN, { stallMs: { IMPLEMENTATION: 60_000 } }],
    ['workers that take any task', [...BUILT_IN, coders()], {}],
    ['workers for other tasks', [coders({ tasks: ['OTHER-*'] })], {}],
  ] as const)('looks for work as often as an import of fewer, with %s', (_, workers, rules) => {
    const [fewer, many] = [100, 400].map((size) => project(workers, rules).importTasks(size));
    expect(many?.asked).toBe(fewer?.asked);
    expect(many?.claims).toBe(fewer?.claims);
  });

  it('does not look at tasks that no role waits for', () => {
    expect(project(BUILT_IN).importTasks(400)).toEqual({ asked: expect.any(Number), seen: 0, claims: 0 });
  });

  it('fills all free places', () => {
    expect(project([coders()]).importTasks(400).claims).toBe(coders().concurrency);
  });
});

describe('the tasks of one family', () => {
  it('are held back by one look at their budget', () => {
    const looks = (size: number): number => {
      const play = new Play({ budgets: { task: { tokens: 10 } }, tasks: { number: size, depth: 1 } });
      play.order(runs.configure([coders()])).order(say.create('A'));
      const { agent_id: id } = play.newest('AgentRequested');
      play.say(runs.started(id)).say(runs.used(play.agent(id), 12), runs.supervisor(id));
      for (let i = 0; i < size; i += 1) play.say(say.create(`B${i}`), say.session(id, 'A'));
      const { accounts } = play.state;
      const get = vi.spyOn(accounts, 'get');
      play.order(runs.configure([coders({ concurrency: 8 })]));
      expect([play.count('AgentRequested'), play.count('DecisionOpened')]).toEqual([1, 1]);
      return get.mock.calls.length / size;
    };
    expect(looks(40)).toBeLessThan(2 * looks(10));
  });
});
