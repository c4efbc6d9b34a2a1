import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { samples } from '../../../test/lanes.ts';
import { anyText } from '../../../test/fuzz/arbitrary-of.ts';
import { syntaxOf } from '../read/read-tree.ts';
import { runbookOf } from '../render.cases.ts';
import type { RunbookFile } from '../runbook.ts';
import { RUNBOOK_LIMITS } from '../shape/fields.ts';
import { checkRunbook } from './check-runbook.ts';

function problemsOf(...files: readonly RunbookFile[]): string[] {
  const checked = checkRunbook(files);
  return checked.ok ? [] : checked.problems.map((each) => `${each.file}:${each.line}:${each.column} ${each.message}`);
}

const toml = (text: string, path = 'baton.toml'): RunbookFile => ({ path, text });

describe('a runbook', () => {
  it('may be empty in every syntax', () => {
    for (const file of [toml(''), toml('# nothing\n'), { path: 'a.yaml', text: '' }, { path: 'a.json', text: '{}' }]) {
      expect(checkRunbook([file])).toMatchObject({ ok: true, value: { agents: new Map() } });
    }
    expect(checkRunbook([])).toMatchObject({ ok: true });
  });

  it('has defaults for omitted fields', () => {
    expect(runbookOf({})).toMatchObject({
      exitProtocol: undefined,
      project: undefined,
      store: undefined,
      ci: { required: [] },
      merge: undefined,
      notify: { desktop: true, terminal: true, webhook: undefined, on: ['attention', 'warning', 'done', 'failed'] },
      limits: { claimExpiryMs: 900_000, renewalMs: 30_000, idleMs: undefined, stallMs: {} },
    });
    expect(runbookOf({ merge: {} }).merge).toEqual({ method: 'squash', into: undefined });
  });

  it.each([
    ['500ms', 500],
    ['10s', 10_000],
    ['5m', 300_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['999999d', 86_399_913_600_000],
  ])('takes %s for %d ms', (timeout, ms) => {
    expect(runbookOf({ agents: { a: { run: 'x', timeout } } }).agents.get('a')?.timeout_ms).toBe(ms);
  });

  it.each(['', '10', 's', '1.5h', '-1s', '1 s', '0s', '1h30m', '1000000s', '5M', '01s'])(
    'refuses %j as a duration',
    (timeout) => {
      expect(() => runbookOf({ agents: { a: { run: 'x', timeout } } })).toThrow('Invalid agents.a.timeout');
    },
  );

  it.each([
    ['$2.50', 250_000],
    ['$0.1', 10_000],
    ['$0.00001', 1],
    ['$999999.99999', 99_999_999_999],
    ['$3', 300_000],
  ])('takes %s for %d thousandths of a cent', (cost, millicents) => {
    expect(runbookOf({ agents: { a: { run: 'x', budget: { cost } } } }).agents.get('a')?.budget).toEqual({
      cost_millicents: millicents,
    });
  });

  it('adds its roles to the built-in ones, and its agents and workers may have them', () => {
    const { workflow } = runbookOf({
      roles: {
        add: [{ name: 'security', agent: 'security-agent' }],
        without: [{ from: 'reviewer-agent', to: 'validator-agent' }],
        edges: [
          { from: 'reviewer-agent', to: 'security-agent', phase: 'REVIEW', elements: { findings: { kind: 'count' } } },
          { from: 'security-agent', to: 'validator-agent', phase: 'READY_FOR_MERGE' },
        ],
      },
      agents: { a: { run: './agent', role: 'security' } },
      workers: { w: { roles: ['security'], run: { agent: 'a' } } },
    });
    expect(workflow.roles.at(-1)).toEqual({ name: 'security', agent: 'security-agent' });
    expect(workflow.edges.at(-1)).toMatchObject({ from: 'security-agent', next: 'validator' });
    expect(workflow.edges.some(({ from, to }) => from === 'reviewer-agent' && to === 'validator-agent')).toBe(false);
  });

  it('treats the file of a scripted agent as a name, not a command', () => {
    const text = (run: string): RunbookFile => toml(`[agents.a]\nrun = "${run}"\n[workers.w]\nrun = { agent = "a" }\n`);
    expect(problemsOf(text("scripted tests/'${task.id}'.yaml"))).toEqual([]);
    expect(problemsOf(text("play tests/'${task.id}'.yaml"))).toEqual([
      'baton.toml:2:20 template in single quotes: ${task.id}',
    ]);
    expect(problemsOf(text('scripted ${task.idd}'))).toEqual(['baton.toml:2:17 unknown field of a task: ${task.idd}']);
  });

  it('may have loops of steps', () => {
    const steps = [
      { name: 'test', run: 'npm test', on_fail: 'fix', on_done: 'ship' },
      { name: 'fix', run: 'true', on_done: 'test' },
      { name: 'ship', run: 'true' },
    ];
    expect(runbookOf({ pipelines: { p: { steps } } }).pipelines.size).toBe(1);
  });
});

describe('several files', () => {
  const agent = toml('[agents.a]\nrun = "./agent"\n');
  const pipeline = {
    path: '.baton/runbooks/p.yaml',
    text: 'pipelines:\n  p:\n    steps:\n      - name: s\n        run: {agent: a}\n',
  };

  it('are one runbook', () => {
    const checked = checkRunbook([agent, pipeline]);
    expect(checked.ok && [...checked.value.agents.keys(), ...checked.value.pipelines.keys()]).toEqual(['a', 'p']);
  });

  it('may not define a name twice: both places are named', () => {
    const other = {
      path: '.baton/runbooks/a.json',
      text: '{\n  "agents": {\n    "b": {"run": "x"},\n    "a": {"run": "x"}\n  }\n}',
    };
    expect(problemsOf(agent, other)).toEqual([
      '.baton/runbooks/a.json:4:5 agents.a is defined twice: first at baton.toml:1:9',
    ]);
  });

  it('may not define a setting twice, but may share a section', () => {
    const first = toml('exit_protocol = true\n[limits]\nidle = "5m"\n');
    expect(problemsOf(first, toml('[limits]\nagents = 5\n', 'b.toml'))).toEqual([]);
    expect(problemsOf(first, toml('exit_protocol = true\n[limits]\nidle = "5m"\n', 'b.toml'))).toEqual([
      'b.toml:1:1 exit_protocol is defined twice: first at baton.toml:1:1',
      'b.toml:3:1 limits.idle is defined twice: first at baton.toml:3:1',
    ]);
  });

  it('may each name the schema for editors', () => {
    const text = '{"$schema": "https://example.com/runbook.json"}';
    expect(problemsOf({ path: 'a.json', text }, { path: 'b.json', text })).toEqual([]);
  });

  it('are all checked: problems come in the order of the files', () => {
    expect(problemsOf(toml('[agents.a]\nrnu = "x"\n'), { path: 'b.yaml', text: 'notify:\n  desktp: true\n' })).toEqual([
      'baton.toml:2:1 Unknown field: agents.a.rnu',
      'b.yaml:2:3 Unknown field: notify.desktp',
    ]);
  });

  it('are not blamed for another file that cannot be read', () => {
    expect(problemsOf(toml('[agents.a\nrun = "x"\n'), pipeline)).toEqual([
      'baton.toml:1:10 invalid TOML: illegal character in key',
    ]);
  });
});

describe('one mistake is one problem', () => {
  it.each([
    [
      'an agent of the wrong form is still there',
      '[agents.a]\nrun = 5\n[pipelines.p]\nsteps = [{ name = "s", run = { agent = "a" } }]\n',
      1,
    ],
    [
      'a pipeline of the wrong form may have run the agent',
      '[agents.a]\nrun = "claude"\nprompt = "${var.x}"\n[pipelines.p]\nvars = ["x"]\nsteps = [{ name = "s", run = { agent = "a" }, tmeout = "1s" }]\n',
      1,
    ],
    [
      'a step that is not there makes no other unreachable',
      '[pipelines.p]\nsteps = [{ name = "a", run = "true", on_done = "x" }, { name = "b", run = "true" }]\n',
      1,
    ],
    [
      'a circle that a failure leads out of is none',
      '[pipelines.p]\nsteps = [{ name = "a", run = "true", on_done = "a", on_fail = "b" }, { name = "b", run = "true" }]\n',
      0,
    ],
    ['two slips are two', '[agents.a]\nrun = "./agent"\non_stop = "x"\n[commands.c]\nrun = { agent = "b" }\n', 2],
  ])('%s', (_, text, count) => {
    expect(problemsOf(toml(text))).toHaveLength(count);
  });
});

describe('missing parts', () => {
  it.each([
    ['baton.toml', '[pipelines.p]\n[[pipelines.p.steps]]\nname = "a"\n', '2:1'],
    ['baton.toml', 'pipelines.p.steps = [\n  { name = "a" },\n]\n', '2:16'],
    ['a.yaml', 'pipelines:\n  p:\n    steps:\n      - name: a\n', '4:9'],
    ['a.json', '{"pipelines": {"p": {"steps": [\n  {"name": "a"}\n]}}}', '2:15'],
  ])('is said at the place of what it is missing from: %s', (path, text, place) => {
    expect(problemsOf({ path, text })).toEqual([`${path}:${place} pipelines.p.steps[0]: missing run`]);
  });
});

describe('the limits', () => {
  it('are on the size of a file, of all files, and on their number', () => {
    const large = toml(`# ${'x'.repeat(RUNBOOK_LIMITS.fileBytes)}`);
    expect(problemsOf(large)).toEqual(['baton.toml:null:null input too large: 262146 bytes > 262144 bytes maximum']);
    const files = (count: number, text: string): RunbookFile[] =>
      Array.from({ length: count }, (_, i) => toml(text, `${i}.toml`));
    expect(problemsOf(...files(5, `# ${'x'.repeat(250_000)}`))).toEqual([
      '4.toml:null:null all files together are too large: 1250010 bytes > 1048576 bytes maximum',
    ]);
    expect(problemsOf(...files(101, ''))).toEqual(['100.toml:null:null too many files: 101 > 100 maximum']);
  });

  it('are on definitions, steps and nesting', () => {
    const agents = Array.from({ length: 201 }, (_, i) => `[agents.a${i}]\nrun = "x"\n`).join('');
    expect(problemsOf(toml(agents))).toEqual(['baton.toml:1:2 Field agents must contain at most 200']);
    const steps = Array.from({ length: 201 }, (_, i) => `{ name = "s${i}", run = "x" }`).join(', ');
    expect(problemsOf(toml(`[pipelines.p]\nsteps = [${steps}]\n`))).toEqual([
      'baton.toml:2:9 Field pipelines.p.steps must contain at most 200',
    ]);
    const chain = Array.from(
      { length: 18 },
      (_, i) => `[[pipelines.p${i}.steps]]\nname = "s"\nrun = ${i === 17 ? '"true"' : `{ pipeline = "p${i + 1}" }`}\n`,
    );
    expect(problemsOf(toml(chain.join('')))[0]).toMatch(/^baton\.toml:48:20 pipelines nest deeper than 16: p0 → p1 → /);
  });

  it('apply to the total of all workers', () => {
    const workers = Array.from({ length: 20 }, (_, i) => `[workers.w${i}]\nrun = { agent = "a" }\n`).join('');
    expect(problemsOf(toml(`[agents.a]\nrun = "claude"\nprompt = "${'x'.repeat(4000)}"\n${workers}`))).toEqual([
      expect.stringMatching(
        /^baton\.toml:4:2 the plans of all workers are too large to be recorded: 8\d{4} bytes > 60000 bytes maximum$/,
      ),
    ]);
  });

  it('apply to the reported problems', () => {
    expect(problemsOf(toml(Array.from({ length: 500 }, (_, i) => `k${i} = 1\n`).join('')))).toHaveLength(100);
  });
});

describe('arbitrary input', () => {
  const files = ['a.toml', 'a.yaml', 'a.json', '-'];

  it('is accepted or refused, without an exception', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...files),
        fc.oneof(
          anyText,
          fc.string({
            unit: fc.constantFrom(
              '[',
              ']',
              '{',
              '}',
              '=',
              ':',
              '"',
              "'",
              '\n',
              ' ',
              'agents',
              'a',
              '.',
              '${',
              ',',
              '-',
            ),
          }),
        ),
        (path, text) => {
          const checked = checkRunbook([{ path, text }]);
          const said = checked.ok ? [] : checked.problems.flatMap(({ message, hint }) => [message, hint]);
          expect(said).not.toContain('');
        },
      ),
      { numRuns: samples(500) },
    );
  });

  it('accepts names of properties that every object inherits', () => {
    const names = ['constructor', 'toString', 'hasOwnProperty', 'valueOf'];
    const agents = names.map((name) => `[agents.${name}]\nrun = "./agent"\n`).join('');
    expect(problemsOf(toml(agents))).toEqual([]);
    for (const name of names) {
      expect(problemsOf(toml(`[commands.c]\nrun = { agent = "${name}" }\n`))).toEqual([
        `baton.toml:2:17 there is no agent ${name}`,
      ]);
    }
    expect(problemsOf(toml('[agents.__proto__]\nrun = "x"\n'))).toHaveLength(1);
    expect(problemsOf(toml('["__proto__"]\nrun = "x"\n'))).toHaveLength(1);
  });

  it('takes linear time', () => {
    const size = 200_000;
    const texts = [
      ...['[', '{', '"', 'a.', 'a=', '\n', '#', '- ', ': ', '${', '[[a]]\n'].map((unit) =>
        unit.repeat(size / unit.length),
      ),
      `[agents.a]\nrun = "${'${var.x} '.repeat(20_000)}"\n`,
      `[agents.a]\nrun = "x"\nprompt = "${'${'.repeat(90_000)}"\n`,
      `[commands.c]\nargs = "${'[a'.repeat(90_000)}"\nrun = "x"\n`,
      `[pipelines.p]\nvars = [${Array.from({ length: 10_000 }, (_, i) => `"v${i}"`).join(',')}]\nsteps = [{ name = "s", run = "${Array.from({ length: 8_000 }, (_, i) => `\${var.v${i}}`).join(' ')}" }]\n`,
    ];
    for (const text of texts) {
      for (const path of files) {
        const start = performance.now();
        checkRunbook([{ path, text }]);
        expect(performance.now() - start).toBeLessThan(5_000);
      }
    }
  });
});

describe('a text without a name', () => {
  it.each([
    ['{"agents": {}}', 'JSON'],
    ['\n  {}', 'JSON'],
    ['[agents.a]\n', 'TOML'],
    ['# x\n\nexit_protocol = true\n', 'TOML'],
    ['"a" . b = 1', 'TOML'],
    ['agents:\n  a:\n    run: x=y\n', 'YAML'],
    ['# x\nagents: {}\n', 'YAML'],
    ['', 'YAML'],
  ])('%j is %s', (text, syntax) => {
    expect(syntaxOf('-', text)).toBe(syntax);
  });
});
