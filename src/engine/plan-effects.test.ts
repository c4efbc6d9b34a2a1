import { describe, expect, it } from 'vitest';
import type { Plan } from '../protocol/run-plan.ts';
import * as runs from '../state/runs/say.cases.ts';
import { planEffects } from './plan-effects.ts';

const CONTEXT = { rules: { ciGate: false, mergeGate: false }, at: '2026-01-01T00:00:00.000Z' };

function planned(plan: Extract<Plan, { kind: 'pipeline' }>, vars: Record<string, string> = {}): unknown {
  const command = { id: 'p1', name: 'main', plan, vars };
  const outcome = planEffects({ kind: 'start-pipeline', command }, CONTEXT);
  return outcome.ok
    ? outcome.answer.map(({ effect, pipeline, step, agent }) => [effect.kind, pipeline, step, agent])
    : outcome.refusal.code;
}

describe('a plan', () => {
  it('shows what would happen, in order, if all went well', () => {
    const inside = [{ name: 'inner', vars: {}, steps: [runs.shellStep('deep')] }];
    const steps = [
      runs.agentStep('code', { workspace: { branch: 'feature/x' }, timeout_ms: 1000 }),
      runs.shellStep('test', { on_fail: { step: 'code', retries: 9 }, on_done: 'nest' }),
      runs.shellStep('never'),
      { name: 'nest', run: { kind: 'pipeline', pipeline: 'inner', vars: {} } } as const,
    ];
    expect(planned(runs.pipelinePlan(steps, { inside, notify: true }))).toEqual([
      ['prepare-workspace', 'main', 'code', null],
      ['wait', 'main', 'code', null],
      ['start-agent', 'main', 'code', 'coder'],
      ['run-command', 'main', 'test', null],
      ['run-command', 'inner', 'deep', null],
      ['notify', null, null, null],
    ]);
  });

  it('of a standalone agent is the agent, and word of its end', () => {
    const outcome = planEffects(
      { kind: 'start-agent', command: { id: 'a1', plan: runs.agentPlan(), vars: {} } },
      CONTEXT,
    );
    expect(outcome.ok && outcome.answer.map(({ effect }) => effect.kind)).toEqual(['start-agent', 'notify']);
  });

  it('that cannot be started says why', () => {
    expect(planned(runs.pipelinePlan([], { vars: { x: null } }))).toBe('missing-variable');
  });

  it('that goes round comes to an end', () => {
    const round = [runs.shellStep('a'), runs.shellStep('b', { on_done: 'a' })];
    expect(planned(runs.pipelinePlan(round))).toHaveLength(200);
  });
});
