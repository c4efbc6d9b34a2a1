import { cpSync, globSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readRunbookFiles } from '../../src/runbook/read/read-runbook.ts';
import { World } from '../processes/world.ts';

/**
 * Every command and pipeline of the example runbooks, as it is typed. Those that need a client with an account are only
 * planned; all others run. An example that is missing in this table fails the test.
 */
const RUNS: Readonly<Record<string, Readonly<Record<string, readonly Typed[]>>>> = {
  'budget.toml': { 'clean-up': [{ argv: [], code: 3, steps: [] }] },
  'commands.yaml': {
    release: [
      {
        argv: ['1.2.3'],
        code: 0,
        steps: [
          ['tag', 'done', ''],
          ['announce', 'done', 'Version 1.2.3 is out'],
        ],
      },
    ],
    // The output depends on the machine's sandbox.
    ask: [
      {
        argv: ['Why?'],
        plan: expect.stringMatching(
          /^agent helper \(claude; .*\)\n[^]*with question = Why\?\nfirst: start agent helper\n$/,
        ),
      },
    ],
    hello: [
      { argv: ['Ada'], code: 0, steps: [['run', 'done', 'Hello Ada']] },
      { argv: ['Ada; id', 'Good  day', '--loud'], code: 0, steps: [['run', 'done', 'Good  day Ada; id']] },
      {
        argv: ['Ada', '--times', '2'],
        plan: [
          'shell echo ${var.greeting:-Hello} ${var.name}',
          'with name = Ada',
          'with greeting = ',
          'with loud = ',
          'with times = 2',
          'first: run echo ${var.greeting:-Hello} ${var.name}\n',
        ].join('\n'),
      },
    ],
  },
  'nested.json': {
    check: [{ argv: ['--what', 'all'], code: 0, steps: [['test', 'done', expect.stringMatching(/^tested all$/m)]] }],
    ship: [
      {
        argv: [],
        code: 0,
        steps: [
          ['test', 'done', expect.stringMatching(/^tested all$/m)],
          ['check', 'done', ''],
          ['report', 'done', 'The checks said: nothing'],
        ],
      },
    ],
  },
  'pipeline.toml': {
    build: [
      { argv: ['--title', 'a'], plan: expect.stringMatching(/^pipeline build\n {2}make: agent builder \(claude; /) },
    ],
  },
  'release.toml': { release: [{ argv: ['v1'], code: 3, steps: [['build', 'done', 'building v1']] }] },
  'workers.yaml': {
    implement: [
      { argv: ['--title', 'a'], plan: expect.stringMatching(/^pipeline implement\n {2}work: agent implementer/) },
    ],
  },
};

type Typed = { readonly argv: readonly string[] } & (
  | { readonly plan: string }
  | { readonly code: number; readonly steps: readonly (readonly [step: string, outcome: string, output: string])[] }
);

const root = join(import.meta.dirname, '../..');
const files = globSync('examples/runbooks/*.{toml,yaml,json}', { cwd: root }).filter(
  (path) => !path.includes('broken'),
);

let world: World;
beforeAll(async () => {
  world = new World();
  cpSync(join(root, 'examples'), join(world.repository, 'examples'), { recursive: true });
  const manifest = JSON.stringify({ scripts: { test: 'echo tested' } });
  world.commit(world.repository, { 'package.json': manifest }, 'examples');
  await world.startDaemon();
});
afterAll(async () => world[Symbol.asyncDispose]());

describe('the example runbooks', () => {
  it.each(files)('%s: every named entry is in the table', (file) => {
    const { checked } = readRunbookFiles(root, [file]);
    const names = checked.ok
      ? [...checked.value.commands.keys(), ...checked.value.pipelines.keys()]
      : [checked.problems[0].message];
    expect(Object.keys(RUNS[basename(file)] ?? {}).toSorted()).toEqual([...new Set(names)].toSorted());
  });

  const typed = Object.entries(RUNS).flatMap(([file, names]) =>
    Object.entries(names).flatMap(([name, cases]) => cases.map((each) => ({ file, name, ...each }))),
  );
  const planned = typed.filter((each) => 'plan' in each);
  const run = typed.filter((each) => 'code' in each);

  it.each(planned)('$file: baton run $name $argv --plan', ({ file, name, argv, plan }) => {
    useRunbook(file);
    expect(world.baton(['run', name, ...argv, '--plan'])).toEqual({ code: 0, out: plan, err: '' });
  });

  it.each(run)('$file: baton run $name $argv', ({ file, name, argv, code, steps }) => {
    useRunbook(file);
    const ran = world.baton(['run', name, ...argv, '--json']);
    expect({ code: ran.code, err: ran.err, steps: finishedSteps(ran.out) }).toEqual({ code, err: '', steps });
  });
});

function useRunbook(file: string): void {
  const folder = join(world.repository, '.baton/runbooks');
  rmSync(folder, { recursive: true, force: true });
  cpSync(join(root, 'examples/runbooks', file), join(folder, file));
  world.write(folder, { 'quiet.toml': '[notify]\ndesktop = false\nterminal = false\n' });
}

/** Each finished step and its output. */
function finishedSteps(entries: string): unknown[] {
  return entries
    .trim()
    .split('\n')
    .map((line): { type: string; data: { step: string; outcome: string; output: string | null } } => JSON.parse(line)) // oxlint-disable-line typescript/no-unsafe-return
    .filter(({ type }) => type === 'StepFinished')
    .map(({ data: { step, outcome, output } }) => [step, outcome, (output ?? '').trim()]);
}
