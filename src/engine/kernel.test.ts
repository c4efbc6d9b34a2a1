import { describe, expect, it } from 'vitest';
import { decide } from '../state/decide.ts';
import type { Event } from '../state/event.ts';
import { trackReadyTasks } from '../state/tasks/ready.ts';
import * as runs from '../state/runs/say.cases.ts';
import { create, operator, session, system } from '../state/say.cases.ts';
import { emptyState } from '../state/state.ts';
import { advance, apply, rehearse, type Step } from './kernel.ts';
import type { EngineContext } from './context.ts';

const RULES = { ciGate: false, mergeGate: false };

function newWorld(): EngineContext {
  const state = emptyState();
  let ids = 0;
  const newId = (): string => `x${(ids += 1)}`;
  return {
    state,
    newId,
    at: '2026-01-01T00:00:00.000Z',
    ready: trackReadyTasks(state, RULES),
    rules: RULES,
    here: undefined,
  };
}

const start = runs.startPipeline(runs.pipelinePlan([runs.shellStep('build')]));

describe('apply', () => {
  it('returns what was decided and what follows from it, each with its cause, and has folded both in', () => {
    const world = newWorld();
    const applied = apply(world, start, operator);
    expect(applied).toMatchObject({ ok: true, answer: { id: 'p1' } });
    const steps = applied.ok ? applied.steps : [];
    expect(steps.map(({ recorded, cause }) => [recorded.seq, recorded.actor, recorded.type, cause?.seq])).toEqual([
      [1, 'operator:ann', 'PipelineStarted', undefined],
      [2, 'system:engine', 'StepStarted', 1],
      [3, 'system:engine', 'CommandRequested', 2],
    ]);
    expect(world.state.seq).toBe(3);
    expect([...world.state.effects.values()].map(({ type }) => type)).toEqual(['CommandRequested']);
  });

  it('changes nothing if the command is refused', () => {
    const world = newWorld();
    const forbidden = apply(world, start, session());
    expect(forbidden).toMatchObject({ ok: false, refusal: { code: 'forbidden' } });
    expect(apply(world, create('A', { title: '' }), operator)).toMatchObject({ refusal: { code: 'empty-title' } });
    expect(world.state).toEqual(emptyState());
  });

  it('keeps the list of ready tasks up to date', () => {
    const world = newWorld();
    apply(world, create('A'), operator);
    expect(world.ready.first(world.state, 9).map(({ id }) => id)).toEqual(['A']);
  });
});

describe('advance', () => {
  const decided = (): readonly Event[] => {
    const outcome = decide(emptyState(), start, operator, RULES, undefined);
    return outcome.ok ? outcome.events : [];
  };

  it('keeps the idempotency key and its answer in the first entry only', () => {
    const settles = { key: 'k', answer: 7 };
    const steps = advance(newWorld(), decided(), { actor: 'operator:ann', settles });
    expect(steps.map(({ recorded }) => recorded.settles)).toEqual([settles, undefined, undefined]);
  });

  it('leaves the steps so far to the caller if a rule throws', () => {
    const newId = (): string => {
      throw new Error('no ids');
    };
    const steps: Step[] = [];
    const world = { ...newWorld(), newId };
    expect(() => advance(world, decided(), { actor: 'operator:ann' }, steps)).toThrow('no ids');
    expect(steps.map(({ event }) => event.type)).toEqual(['PipelineStarted', 'StepStarted']);
  });
});

describe('rehearse', () => {
  it('returns the entries that apply would give, and leaves the state as it is', () => {
    const world = newWorld();
    apply(world, create('A'), operator);
    const before = structuredClone(world.state);
    const commands = [create('B'), start];
    const rehearsed = rehearse(world, commands, operator);
    expect(world.state).toEqual(before);
    const real = newWorld();
    apply(real, create('A'), operator);
    const applied = commands.flatMap((command) => {
      const each = apply(real, command, operator);
      return each.ok ? each.steps : [];
    });
    expect(rehearsed.ok && rehearsed.steps).toEqual(applied);
    expect(rehearsed.ok && rehearsed.answer).toEqual(real.state);
  });

  it('stops at the first command that is refused', () => {
    const rehearsed = rehearse(newWorld(), [create('A'), create('A'), start], system);
    expect(rehearsed).toMatchObject({ ok: false, refusal: { code: 'task-exists' } });
  });
});
