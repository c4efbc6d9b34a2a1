import type { FailPlan, PipelinePlan, StepPlan } from '../../protocol/run-plan.ts';
import type { Runnable } from '../runbook.ts';
import { parseDuration } from '../shape/fields.ts';
import { buildBudget } from '../shape/limits-shape.ts';
import type { PipelineValue, RunnableValue } from '../shape/runbook-shape.ts';

export function buildPipeline(name: string, { vars, steps, budget, notify }: PipelineValue): PipelinePlan {
  return {
    name,
    vars: buildVariables(vars),
    steps: steps.map(buildStep),
    ...(budget === undefined ? {} : { budget: buildBudget(budget) }),
    ...(notify === undefined ? {} : { notify }),
  };
}

/** Variables with their defaults; null if required. */
export function buildVariables(vars: PipelineValue['vars']): Record<string, string | null> {
  if (vars === undefined) return {};
  const pairs = isNameList(vars) ? vars.map((name) => [name, null] as const) : Object.entries(vars);
  return Object.fromEntries(pairs.map(([name, value]) => [name, typeof value === 'string' ? value : null]));
}

function isNameList(vars: NonNullable<PipelineValue['vars']>): vars is readonly string[] {
  return Array.isArray(vars);
}

export function buildRunnable(run: RunnableValue): Runnable {
  if (typeof run === 'string') return { kind: 'shell', command: run };
  if ('agent' in run) return { kind: 'agent', agent: run.agent };
  return { kind: 'pipeline', pipeline: run.pipeline, vars: run.vars ?? {} };
}

export type StepValue = PipelineValue['steps'][number];

function buildStep({ run, on_fail, timeout, ...rest }: StepValue): StepPlan {
  return {
    ...rest,
    run: buildRunnable(run),
    ...(on_fail === undefined ? {} : { on_fail: buildFail(on_fail) }),
    ...(timeout === undefined ? {} : { timeout_ms: parseDuration(timeout) }),
  };
}

function buildFail(value: NonNullable<StepValue['on_fail']>): FailPlan {
  if (typeof value === 'string') return { step: value };
  const { cooldown, ...rest } = value;
  return { ...rest, ...(cooldown === undefined ? {} : { cooldown_ms: parseDuration(cooldown) }) };
}
