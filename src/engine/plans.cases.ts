import fc from 'fast-check';
import {
  AGENT_ERRORS,
  type AgentPlan,
  type BudgetPlan,
  type HandlerAction,
  type HandlerPlan,
  type PipelinePlan,
  type StepPlan,
  HANDLERS,
  WORKFLOW_MODES,
  type WorkerPlan,
} from '../protocol/run-plan.ts';
import type { PipelineRunPlan } from '../state/runs/steer-pipeline.ts';

/** Plans of every kind that a valid runbook can have; attempts and retries are finite. */
const maybe = <T>(arb: fc.Arbitrary<T>) => fc.option(arb, { nil: undefined, freq: 2 });

function handler<A extends HandlerAction>(actions: readonly A[]): fc.Arbitrary<HandlerPlan<A> | undefined> {
  return maybe(
    fc
      .record(
        {
          action: fc.constantFrom(...actions),
          attempts: maybe(fc.integer({ min: 1, max: 3 })),
          cooldown_ms: maybe(fc.constantFrom(0, 500, 5000)),
          run: fc.constant('check'),
        },
        { noNullPrototype: true },
      )
      .map((plan): HandlerPlan<A> => withoutHoles(plan)),
  );
}

/** Small enough to be exhausted in one story. */
export const budgets: fc.Arbitrary<BudgetPlan> = fc
  .record(
    {
      tokens: maybe(fc.constantFrom(5, 50)),
      cost_millicents: maybe(fc.constantFrom(10, 100)),
      time_ms: maybe(fc.constantFrom(1000, 100_000)),
    },
    { noNullPrototype: true },
  )
  .map((plan): BudgetPlan => withoutHoles(plan));

const agent = (name: string): fc.Arbitrary<AgentPlan> =>
  fc
    .record(
      {
        name: fc.constant(name),
        run: fc.constant('scripted'),
        on_stop: handler(HANDLERS.on_stop.actions),
        on_idle: handler(HANDLERS.on_idle.actions),
        on_dead: handler(HANDLERS.on_dead.actions),
        on_prompt: handler(HANDLERS.on_prompt.actions),
        on_error: maybe(handler(HANDLERS.on_error.actions).map((any) => withoutHoles({ any }))),
        max_concurrency: maybe(fc.constantFrom(1, 2)),
        requires: fc.constantFrom([], ['exit' as const], undefined),
        budget: maybe(budgets),
      },
      { noNullPrototype: true },
    )
    .map((plan): AgentPlan => withoutHoles(plan));

function step(name: string, others: readonly string[], inner: boolean): fc.Arbitrary<StepPlan> {
  const runs: fc.Arbitrary<StepPlan['run']>[] = [
    fc.constant({ kind: 'shell', command: `do ${name}` } as const),
    fc.constantFrom('coder', 'tester').map((of) => ({ kind: 'agent', agent: of }) as const),
    fc.constant({ kind: 'agent', agent: 'coder' } as const),
  ];
  if (inner) runs.push(fc.constant({ kind: 'pipeline', pipeline: 'inner', vars: {} } as const));
  const after = others.slice(others.indexOf(name) + 1);
  // A step repeats with `retries`, not by leading back to itself.
  const rest = others.filter((other) => other !== name);
  const elsewhere = rest.length === 0 ? fc.constant(undefined) : maybe(fc.constantFrom(...rest));
  return fc
    .record({
      name: fc.constant(name),
      run: fc.oneof(...runs),
      on_done: after.length === 0 ? fc.constant(undefined) : maybe(fc.constantFrom(...after)),
      on_fail: maybe(
        fc
          .record(
            {
              step: elsewhere,
              retries: maybe(fc.constantFrom(0, 1, 2)),
              cooldown_ms: maybe(fc.constantFrom(0, 1000)),
            },
            { noNullPrototype: true },
          )
          .map(withoutHoles),
      ),
      on_cancel: maybe(fc.constantFrom(...others)),
      timeout_ms: maybe(fc.constant(2000)),
      workspace: maybe(fc.constant({ branch: `feature/${name}` })),
      notify: maybe(fc.boolean()),
    })
    .map((plan): StepPlan => withoutHoles(plan));
}

function pipeline(name: string, steps: readonly string[], inner: boolean): fc.Arbitrary<PipelinePlan> {
  return fc
    .record(
      {
        name: fc.constant(name),
        vars: fc.constant({}),
        steps: fc.tuple(...steps.map((each) => step(each, steps, inner))),
        notify: fc.boolean(),
        budget: maybe(budgets),
      },
      { noNullPrototype: true },
    )
    .map((plan): PipelinePlan => withoutHoles(plan));
}

const main = fc
  .integer({ min: 1, max: 3 })
  .chain((count) => pipeline('main', ['one', 'two', 'three'].slice(0, count), true));

export const pipelinePlans: fc.Arbitrary<PipelineRunPlan> = fc
  .tuple(main, pipeline('inner', ['in'], false), agent('coder'), agent('tester'))
  .map(([root, inner, coder, tester]) => ({
    kind: 'pipeline',
    pipeline: 'main',
    pipelines: { main: root, inner },
    agents: { coder, tester },
  }));

export const agentPlans: fc.Arbitrary<AgentPlan> = agent('coder');

export const workerPlans: fc.Arbitrary<WorkerPlan> = fc
  .record(
    {
      name: fc.constant('builders'),
      concurrency: fc.constantFrom(1, 2),
      phases: maybe(fc.constant(['IMPLEMENTATION' as const])),
      plan: fc.oneof(
        pipelinePlans,
        agentPlans.map((of) => ({ kind: 'agent', agent: of }) as const),
        fc.constant({ kind: 'shell', command: 'make' } as const),
        fc.constantFrom(...WORKFLOW_MODES).map((mode) => ({ kind: 'workflow', workflow: 'issue', mode }) as const),
      ),
    },
    { noNullPrototype: true },
  )
  .map((plan): WorkerPlan => withoutHoles(plan));

export const errors = fc.constantFrom(...AGENT_ERRORS);

type Filled<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/** Removes undefined fields, which the ledger cannot store. */
function withoutHoles<T extends object>(plan: T): Filled<T> {
  return Object.fromEntries(Object.entries(plan).filter(([, value]) => value !== undefined)) as Filled<T>; // oxlint-disable-line typescript/no-unsafe-type-assertion
}
