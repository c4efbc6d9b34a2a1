import fc from 'fast-check';
import { anyText } from '../../test/fuzz/arbitrary-of.ts';
import { PHASES } from '../protocol/phase.ts';
import { AGENT_ERRORS, HANDLERS } from '../protocol/run-plan.ts';
import { OPTIONS_OF } from './check/agents.ts';

/** Valid runbooks, as trees that a user could have written: every name in them resolves. */
const text = anyText.map((any) => any.replaceAll('${', '$').replaceAll('\0', '')).filter((any) => any !== '');
const duration = fc
  .tuple(fc.integer({ min: 1, max: 999_999 }), fc.constantFrom('ms', 's', 'm', 'h', 'd'))
  .map(([n, unit]) => `${n}${unit}`);
const maybe = <T>(fields: Record<string, fc.Arbitrary<T>>): fc.Arbitrary<object> =>
  fc.record(fields, { requiredKeys: [], noNullPrototype: true });

const OPTIONS: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  message: text,
  attempts: fc.oneof(fc.integer({ min: 1, max: 1000 }), fc.constant('forever')),
  cooldown: duration,
  run: fc.constantFrom('npm test', 'true'),
  timeout: duration,
  append: fc.boolean(),
};

function handler(actions: readonly (keyof typeof OPTIONS_OF)[]): fc.Arbitrary<unknown> {
  const forms = actions.map((action) => {
    const options = Object.fromEntries(OPTIONS_OF[action].map((name) => [name, OPTIONS[name] ?? fc.constant(true)]));
    const long = maybe(options).map((chosen) => ({ ...(action === 'gate' ? { run: 'true' } : {}), ...chosen, action }));
    return action === 'gate' ? long : fc.oneof(fc.constant(action), long);
  });
  return fc.oneof(...forms);
}

const budget = fc.record(
  {
    tokens: fc.integer({ min: 1, max: 1e9 }),
    cost: fc.constantFrom('$1', '$2.50', '$0.00001', '3.5'),
    time: duration,
  },
  { requiredKeys: ['tokens'], noNullPrototype: true },
);

const sandbox = fc.oneof(
  fc.constantFrom('auto', 'bubblewrap', 'container'),
  maybe<unknown>({
    mode: fc.constantFrom('auto', 'bubblewrap'),
    read: fc.subarray(['/opt/data', '~/.config/tool']),
    write: fc.constant(['cache']),
    nested: fc.boolean(),
    processes: fc.integer({ min: 32, max: 5000 }),
    memory: fc.constantFrom('512MB', '8GB'),
  }),
);
const policy = fc.oneof(
  fc.constantFrom('full', 'none'),
  fc.subarray(['example.com', '*.example.com', '192.0.2.7:443']),
);
const network = fc.oneof(policy, fc.constant('model'), maybe<unknown>({ policy, local: fc.subarray([80, 5432]) }));

const agent = fc
  .record(
    {
      run: fc.constantFrom('claude', 'codex', 'scripted', 'builtin:prep', './agent.sh --fast'),
      prompt: fc.oneof(text, fc.constant('Do ${task.title:-it} in ${env.HOME}')),
      role: fc.constantFrom('implementer', 'reviewer'),
      env: fc.dictionary(
        fc.stringMatching(/^[A-Z][A-Z0-9_]{0,8}$/).filter((name) => !name.startsWith('BATON_')),
        text,
        { maxKeys: 2, noNullPrototype: true },
      ),
      sandbox,
      network,
      cwd: fc.constantFrom('packages/a', '.'),
      model: text,
      on_stop: handler(HANDLERS.on_stop.actions),
      on_idle: handler(HANDLERS.on_idle.actions),
      on_dead: handler(HANDLERS.on_dead.actions),
      on_error: fc.oneof(
        handler(HANDLERS.on_error.actions),
        maybe(Object.fromEntries([...AGENT_ERRORS, 'any'].map((kind) => [kind, handler(HANDLERS.on_error.actions)]))),
      ),
      on_prompt: handler(HANDLERS.on_prompt.actions),
      max_concurrency: fc.integer({ min: 1, max: 100 }),
      budget,
      timeout: duration,
      requires: fc.subarray(['exit', 'result', 'handoff', 'thought_record']),
    },
    { requiredKeys: ['run'], noNullPrototype: true },
  )
  // The agent of a model client needs a prompt that is not empty.
  .map((fields) => (fields.run.startsWith('c') && !fields.prompt?.trim() ? { ...fields, prompt: 'Work.' } : fields));

const AGENTS = ['builder', 'reviewer', 'constructor'];
const runnable = fc.oneof(
  fc.constantFrom<unknown>('npm test', 'echo $${HOME} ${env.HOME:-/}'),
  fc.constantFrom(...AGENTS).map((name) => ({ agent: name })),
  text.map((title) => ({ pipeline: 'inner', vars: { title } })),
);

const step = fc.record(
  {
    run: runnable,
    on_fail: fc.oneof(
      fc.constant('step0'),
      maybe<unknown>({ step: fc.constant('step0'), retries: fc.integer({ min: 1, max: 100 }) }),
    ),
    on_cancel: fc.constant('step0'),
    timeout: duration,
    workspace: fc.constantFrom({ branch: 'work/${var.title}' }, { branch: 'work', base: 'main' }),
    notify: fc.boolean(),
  },
  { requiredKeys: ['run'], noNullPrototype: true },
);

const outer = fc
  .tuple(fc.array(step, { minLength: 1, maxLength: 4 }), fc.boolean(), budget)
  .map(([steps, notify, of]) => ({
    budget: of,
    vars: { title: { required: true }, base: 'main' },
    steps: steps.map((each, i) => ({ name: `step${i}`, ...each })),
    notify,
  }));

const inner = fc
  .constantFrom<unknown>(['title'], { title: '' })
  .map((vars) => ({ vars, steps: [{ name: 'only', run: 'echo ${var.title}' }] }));

export const validRunbook: fc.Arbitrary<object> = fc.record(
  {
    exit_protocol: fc.boolean(),
    sandbox,
    network: fc.oneof(network, maybe<unknown>({ policy, install: policy, checks: policy })),
    secrets: fc.constant({ OPENAI_API_KEY: { env: 'HIDDEN_KEY_OF_TEST', inject: 'header' } }),
    project: fc.constant('shop'),
    agents: fc.record(Object.fromEntries(AGENTS.map((name) => [name, agent])), { noNullPrototype: true }),
    pipelines: fc.record({ inner, outer }, { noNullPrototype: true }),
    commands: fc.constantFrom(
      {},
      {
        issue: {
          args: '<title> [body] --dry-run [--priority <n>]',
          run: { pipeline: 'outer', vars: { base: '${var.body}' } },
        },
      },
    ),
    workers: fc
      .record(
        {
          tasks: fc.constant(['P0.*', 'T042']),
          phases: fc.subarray([...PHASES], { minLength: 1 }),
          roles: fc.constant(['implementer']),
          concurrency: fc.integer({ min: 1, max: 8 }),
          run: fc.constantFrom({ agent: 'builder' }, { pipeline: 'outer', vars: { title: '${task.title}' } }),
        },
        { requiredKeys: ['run'], noNullPrototype: true },
      )
      .map((worker) => ({ worker, backlog: { run: { workflow: 'issue', mode: 'semi' }, phases: ['DRAFT'] } })),
    ci: fc.constant({
      required: [{ name: 'test', run: 'npm test', timeout: '10m', network: 'full' }, { name: 'remote' }],
    }),
    git: maybe<unknown>({ filters: fc.constant(['lfs', 'git-crypt']) }),
    merge: maybe<unknown>({ method: fc.constantFrom('squash', 'merge', 'rebase'), into: fc.constant('main') }),
    roles: fc.constant({
      add: [{ name: 'security', agent: 'security-agent' }],
      edges: [{ from: 'reviewer-agent', to: 'security-agent', phase: 'REVIEW' }],
    }),
    notify: maybe<unknown>({
      desktop: fc.boolean(),
      terminal: fc.boolean(),
      webhook: fc.constant('https://example.com/hook'),
      on: fc.subarray(['attention', 'warning', 'done', 'failed']),
    }),
    limits: maybe<unknown>({
      claim_expiry: fc.constant('30m'),
      idle: duration,
      leave: duration,
      agents: fc.integer({ min: 1, max: 100 }),
      kill_after: duration,
      log_bytes: fc.integer({ min: 1024, max: 1e6 }),
      stall: fc.oneof(duration, maybe({ REVIEW: duration, DRAFT: duration })),
      task_budget: budget,
      day_budget: budget,
    }),
    prices: fc.constant({
      'gpt-5*': { input: '$1.25', output: '$10', cached: '$0.125' },
      other: { input: '1', output: '2' },
    }),
  },
  { requiredKeys: ['agents', 'pipelines'], noNullPrototype: true },
);
