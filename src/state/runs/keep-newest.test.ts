import { describe, expect, it } from 'vitest';
import { event, type RecordedEvent } from '../event.ts';
import { given } from '../given.cases.ts';
import { operator, system } from '../say.cases.ts';
import { emptyState, evolve } from '../state.ts';
import { KEPT_OVER } from './evolve-runs.ts';
import * as runs from './say.cases.ts';

/** Runs in sequence: each is requested, ends and exits. */
function manyRuns(count: number) {
  const state = emptyState();
  const record = (what: ReturnType<typeof event>): void => {
    const recorded = {
      ...what,
      seq: state.seq + 1,
      at: '2026-01-01T00:00:00.000Z',
      actor: 'system:x',
    } as RecordedEvent; // oxlint-disable-line typescript/no-unsafe-type-assertion
    evolve(state, recorded);
  };
  const plan = runs.pipelinePlan([]);
  for (let i = 1; i <= count; i += 1) {
    const owned = { owner: null, vars: {}, task: null, worker: null, on_stop: 'signal' } as const;
    record(event('AgentRequested', { agent_id: `a${i}`, plan: runs.agentPlan(), ...owned }));
    record(
      event('PipelineStarted', {
        pipeline_id: `p${i}`,
        name: 'main',
        vars: {},
        plan,
        parent: null,
        task: null,
        worker: null,
      }),
    );
    record(
      event('DecisionOpened', {
        decision_id: `d${i}`,
        source: 'stop',
        title: '',
        context: '',
        options: [],
        agent_id: null,
        pipeline_id: null,
        task_id: null,
      }),
    );
    // The first three runs never end.
    if (i <= 3) continue;
    record(event('AgentEnded', { agent_id: `a${i}`, outcome: 'done', reason: null }));
    record(event('AgentStartFailed', { agent_id: `a${i}`, start: 1, reason: '' }));
    record(event('PipelineFinished', { pipeline_id: `p${i}`, outcome: 'done', reason: null }));
    record(event('DecisionWithdrawn', { decision_id: `d${i}`, reason: '' }));
  }
  return state;
}

describe('memory', () => {
  it('keeps what has not ended, and the newest thousand of what has', () => {
    const { agents, pipelines, decisions, effects } = manyRuns(KEPT_OVER + 500);
    for (const [map, letter] of [
      [agents, 'a'],
      [pipelines, 'p'],
      [decisions, 'd'],
    ] as const) {
      expect(map.size).toBe(KEPT_OVER + 3);
      expect([...map.keys()].slice(0, 4)).toEqual([1, 2, 3, 501].map((i) => `${letter}${i}`));
    }
    expect([...effects.keys()]).toEqual(['start:a1:1', 'start:a2:1', 'start:a3:1']);
  });

  it('uses the order of endings, not of the map', () => {
    const state = manyRuns(KEPT_OVER + 3);
    const [[, first] = []] = [...state.agents].slice(3);
    if (first === undefined) throw new Error('nothing is over');
    state.agents.delete(first.id);
    state.agents.set(first.id, first);
    evolve(state, {
      ...event('AgentEnded', { agent_id: 'a1', outcome: 'done', reason: null }),
      seq: state.seq + 1,
      at: '',
      actor: 'system:x',
    });
    evolve(state, {
      ...event('AgentStartFailed', { agent_id: 'a1', start: 1, reason: '' }),
      seq: state.seq + 1,
      at: '',
      actor: 'system:x',
    });
    expect(state.agents.has(first.id)).toBe(false);
    expect(state.agents.has('a1')).toBe(true);
  });

  it('of an agent lasts until its process has exited', () => {
    const { state } = given([
      [runs.startAgent(), operator],
      [runs.started('a1'), system],
      event('AgentEnded', { agent_id: 'a1', outcome: 'done', reason: null }),
    ]);
    expect(state.agents.get('a1')?.over).toBeNull();
  });
});
