import type { AgentPlan, PipelinePlan } from '../../protocol/run-plan.ts';
import type { PipelineRunPlan } from '../../state/runs/steer-pipeline.ts';

const HANDLERS: readonly Partial<AgentPlan>[] = [
  {},
  { on_dead: { action: 'resume', attempts: 2 }, on_idle: { action: 'nudge', attempts: 2 } },
  { on_stop: { action: 'idle' }, on_idle: { action: 'gate', run: 'check' }, on_dead: { action: 'escalate' } },
  { on_error: { any: { action: 'wait' } }, on_prompt: { action: 'gate', run: 'check' }, on_dead: { action: 'fail' } },
  { on_idle: { action: 'done' }, on_dead: { action: 'done' }, budget: { tokens: 400 } },
];

export function standaloneAgent(n: number): AgentPlan {
  return { name: 'coder', run: 'scripted', prompt: 'work', ...HANDLERS[n % HANDLERS.length] };
}

/** A pipeline with a command, an agent and a pipeline inside it, in various orders. */
export function pipelinePlan(n: number): PipelineRunPlan {
  const build: PipelinePlan['steps'][number] = { name: 'build', run: { kind: 'shell', command: 'make' } };
  const code = {
    name: 'code',
    run: { kind: 'agent', agent: 'coder' },
    ...(n % 2 === 0 ? { on_fail: { retries: 1, cooldown_ms: 1000 } } : {}),
    ...(n % 5 === 0 ? { timeout_ms: 4000 } : {}),
  } as const;
  const inside = { name: 'inside', run: { kind: 'pipeline', pipeline: 'inner', vars: {} } } as const;
  const steps = n % 3 === 0 ? [build, code] : n % 3 === 1 ? [code, inside, build] : [inside, code];
  const [first, ...rest] = steps;
  const begun = first === undefined ? [] : [{ ...first, ...(n % 4 === 0 ? { workspace: { branch: 'p' } } : {}) }];
  const main: PipelinePlan = { name: 'main', vars: {}, steps: [...begun, ...rest], notify: n % 2 === 0 };
  const inner: PipelinePlan = { name: 'inner', vars: {}, steps: [{ ...build, name: 'in' }] };
  return {
    kind: 'pipeline',
    pipeline: 'main',
    pipelines: { main, inner },
    agents: { coder: standaloneAgent(n) },
  };
}
