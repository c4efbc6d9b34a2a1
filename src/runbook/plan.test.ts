import { describe, expect, it } from 'vitest';
import { issueRolePlayers } from './library.ts';
import { planAgentRun, planRun, workerPlans } from './plan.ts';
import { runbookOf } from './render.cases.ts';

const RUNBOOK = runbookOf({
  agents: {
    builder: { run: 'claude', prompt: 'Build ${var.title}' },
    janitor: { run: 'claude', prompt: 'Tidy up for ${task.id:-anybody}' },
    unused: { run: './agent' },
  },
  pipelines: {
    build: {
      vars: { title: { required: true }, base: 'main' },
      steps: [
        { name: 'make', run: { agent: 'builder' } },
        { name: 'check', run: { pipeline: 'check', vars: { what: '${var.title}' } } },
      ],
    },
    check: { vars: ['what'], steps: [{ name: 'test', run: 'npm test -- ${var.what}' }] },
    other: { steps: [{ name: 'a', run: 'true' }] },
  },
  commands: {
    issue: { args: '<title> [base]', run: { pipeline: 'build' } },
    fix: { args: '<number>', run: { pipeline: 'build', vars: { title: 'Fix #${var.number}' } } },
    say: { args: '<text>', run: 'echo ${var.text}' },
    other: { args: '<title>', run: { agent: 'builder' } },
  },
  workers: {
    tidy: { run: { agent: 'janitor' }, phases: ['DRAFT'] },
    make: { run: { pipeline: 'build', vars: { title: '${task.title}' } }, roles: ['implementer'], concurrency: 3 },
    shell: { run: 'echo ${task.id}', tasks: ['P0.*'] },
  },
});

const wrong = (name: string, ...argv: string[]): unknown => {
  const planned = planRun(RUNBOOK, name, argv);
  return planned.ok
    ? 'planned'
    : `${planned.problems[0].code}: ${planned.problems[0].message} | ${planned.problems[0].hint}`;
};

describe('baton run NAME', () => {
  it('is a pipeline, with its variables as options and everything that can be reached from it', () => {
    const planned = planRun(RUNBOOK, 'build', ['--title', 'it']);
    expect(planned).toMatchObject({
      ok: true,
      value: { name: 'build', vars: { title: 'it', base: 'main' }, plan: { kind: 'pipeline', pipeline: 'build' } },
    });
    const plan = planned.ok && planned.value.plan.kind === 'pipeline' ? planned.value.plan : undefined;
    expect(Object.keys(plan?.pipelines ?? {})).toEqual(['build', 'check']);
    expect(Object.keys(plan?.agents ?? {})).toEqual(['builder']);
  });

  it('prefers a command to a pipeline', () => {
    expect(planRun(RUNBOOK, 'other', ['it'])).toEqual({
      ok: true,
      value: { name: 'other', vars: { title: 'it' }, plan: { kind: 'agent', agent: RUNBOOK.agents.get('builder') } },
    });
  });

  it('passes arguments to variables of the same name, and keeps defaults for omitted ones', () => {
    expect(planRun(RUNBOOK, 'issue', ['it'])).toMatchObject({
      value: { name: 'build', vars: { title: 'it', base: 'main' } },
    });
    expect(planRun(RUNBOOK, 'issue', ['it', 'next'])).toMatchObject({ value: { vars: { title: 'it', base: 'next' } } });
  });

  it('fills arguments into the variables of a pipeline, once', () => {
    expect(planRun(RUNBOOK, 'fix', ['7'])).toMatchObject({ value: { vars: { title: 'Fix #7', base: 'main' } } });
    expect(planRun(RUNBOOK, 'fix', ['${var.base}'])).toMatchObject({ value: { vars: { title: 'Fix #${var.base}' } } });
  });

  it('keeps the templates of a shell command, which are filled when it runs', () => {
    expect(planRun(RUNBOOK, 'say', ["it's"])).toEqual({
      ok: true,
      value: { name: 'say', vars: { text: "it's" }, plan: { kind: 'shell', command: 'echo ${var.text}' } },
    });
  });

  it('is an agent if nothing else has that name', () => {
    expect(planRun(RUNBOOK, 'janitor', [])).toMatchObject({
      value: { name: 'janitor', vars: {}, plan: { kind: 'agent' } },
    });
    expect(wrong('janitor', 'x')).toBe('runbook/usage: unexpected argument: x | Usage: baton run janitor');
  });

  it('reports the mistake', () => {
    expect(wrong('biuld')).toBe(
      'runbook/unknown-name: there is no command, pipeline or agent biuld | Did you mean `build`?',
    );
    expect(planRun({ ...RUNBOOK, commands: new Map() }, 'isue', ['x'])).toMatchObject({
      problems: [{ hint: 'Did you mean `issue`?' }],
    });
    expect(wrong('constructor')).toBe(
      'runbook/unknown-name: there is no command, pipeline or agent constructor | List the names: baton runbook list',
    );
    expect(wrong('build')).toBe(
      'runbook/usage: missing option: --title <title> | Usage: baton run build --title <title> [--base <base>]',
    );
    expect(wrong('issue', 'x'.repeat(60_000))).toMatch(/^runbook\/plan-too-large: the plan of build is too large/);
  });
});

describe('a standalone agent', () => {
  it('is its plan', () => {
    expect(planAgentRun(RUNBOOK, 'janitor')).toEqual({ ok: true, value: RUNBOOK.agents.get('janitor') });
  });

  it('needs no variables', () => {
    expect(planAgentRun(RUNBOOK, 'builder')).toMatchObject({
      problems: [
        {
          code: 'runbook/missing-variable',
          message: 'agent builder needs ${var.title}, which a run on its own does not have',
        },
      ],
    });
  });

  it('must exist', () => {
    expect(planAgentRun(RUNBOOK, 'janitr')).toMatchObject({
      problems: [{ code: 'runbook/unknown-agent', hint: 'Did you mean `janitor`?' }],
    });
  });
});

describe('the workers', () => {
  it('have tasks, concurrency and a plan', () => {
    expect(workerPlans(RUNBOOK)).toMatchObject([
      { name: 'tidy', phases: ['DRAFT'], concurrency: 1, plan: { kind: 'agent', agent: { name: 'janitor' } } },
      { name: 'make', roles: ['implementer'], concurrency: 3, plan: { kind: 'pipeline' } },
      { name: 'shell', tasks: ['P0.*'], concurrency: 1, plan: { kind: 'shell', command: 'echo ${task.id}' } },
    ]);
  });

  it('make workflows of tasks, in their own mode or in that of the project', () => {
    const runbook = runbookOf({
      workflow: { mode: 'semi' },
      workers: {
        all: { run: { workflow: 'issue' } },
        careful: { run: { workflow: 'issue', mode: 'supervised' }, tasks: ['P0.*'], concurrency: 2 },
      },
    });
    expect(workerPlans(runbook)).toEqual([
      { name: 'all', concurrency: 1, plan: { kind: 'workflow', workflow: 'issue', mode: 'semi' } },
      {
        name: 'careful',
        tasks: ['P0.*'],
        concurrency: 2,
        plan: { kind: 'workflow', workflow: 'issue', mode: 'supervised' },
      },
    ]);
    expect(issueRolePlayers(runbook)).toEqual(issueRolePlayers(runbookOf({})));
  });

  it('fill the variables of a pipeline from the task, as a step around it would', () => {
    const plan = workerPlans(RUNBOOK)[1]?.plan;
    expect(plan).toMatchObject({
      pipeline: 'worker:make',
      pipelines: {
        'worker:make': {
          vars: {},
          steps: [{ name: 'build', run: { kind: 'pipeline', pipeline: 'build', vars: { title: '${task.title}' } } }],
        },
        build: { name: 'build' },
        check: { name: 'check' },
      },
    });
  });
});
