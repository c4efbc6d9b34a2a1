import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPERATION_HANDLERS } from '../src/daemon/dispatch.ts';
import { inLongLane, someOf } from './lanes.ts';

/**
 * The worked examples of CONTRIBUTING.md: each is applied to a separate copy of the tree and run once. The types are
 * checked with all four applied, because that takes as long as with one.
 */
const root = join(import.meta.dirname, '..');
const examples = readExamples(readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8'));

let tree: string;
beforeAll(() => {
  tree = mkdtempSync(join(tmpdir(), 'baton-contributing-'));
  for (const path of trackedFiles()) {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    cpSync(join(root, path), join(tree, path));
  }
  symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));
});
afterAll(() => rmSync(tree, { recursive: true }));

/** A module for each example that runs in the copy and prints JSON, and its expected output. */
const PROBES: Readonly<Record<string, readonly [string, unknown]>> = {
  'A new entry type': [
    `import { renderEntriesPage } from './scripts/render-entries.ts';
     import { Play } from './src/engine/play.cases.ts';
     import { toRecordedEvent } from './src/state/recorded-event.ts';
     import { create } from './src/state/say.cases.ts';
     const play = new Play().order(create('A'));
     play.order({ kind: 'update-task', command: { task_id: 'A', status: 'blocked', notes: 'no key' } });
     play.order({ kind: 'operate-task', command: { id: 'A', action: 'unblock', reason: 'here is the key' } });
     const entry = { v: 1, project: 'p', prev: '', cause: null, seq: 7, at: '', actor: 'system:x', type: 'TaskNoted' };
     let refused = false;
     try { toRecordedEvent({ ...entry, data: { task_id: 'A', notes: 7 } }); } catch { refused = true; }
     const isListed = renderEntriesPage().includes('| \`TaskNoted\` | \`task_id\`, \`notes\` |');
     print({ types: play.types(), notes: play.state.tasks.get('A').notes, refused, isListed });`,
    { types: ['TaskNoted', 'PhaseMoved'], notes: 'here is the key', refused: true, isListed: true },
  ],
  'A new operation': [
    `import { renderOperations } from './scripts/render-operations.ts';
     import { OPERATIONS } from './src/api/operations/registry.ts';
     import { OPERATION_HANDLERS } from './src/daemon/dispatch.ts';
     import { Play } from './src/engine/play.cases.ts';
     import { create } from './src/state/say.cases.ts';
     const { state } = new Play().order(create('A')).order(create('B', { after: ['A'] }));
     const project = { commandLoop: { read: async (look) => ({ ok: true, answer: look({ state }) }) } };
     const call = (input) => OPERATION_HANDLERS.task_dependants({ project, input, caller: { kind: 'operator' } });
     print({
       access: OPERATIONS.get('task_dependants').access,
       answer: await call({ task_id: 'A' }),
       unknown: (await call({ task_id: 'X' })).error.code,
       wrong: (await call({ task_id: 7 })).error.code,
       isListed: renderOperations().includes('## task_dependants'),
     });`,
    {
      access: ['operator', 'worker', 'session', 'agent'],
      answer: { ok: true, result: { task_ids: ['B'] } },
      unknown: 'no-such-task',
      wrong: 'bad-request',
      isListed: true,
    },
  ],
  'A new lifecycle handler': [
    `import { readFileSync } from 'node:fs';
     import { Play } from './src/engine/play.cases.ts';
     import { parseRunbook } from './src/runbook/check/check-runbook.ts';
     import { report, startAgent, started, supervisor } from './src/state/runs/say.cases.ts';
     const written = (value) => parseRunbook('[agents.coder]\\nrun = "./x"\\non_silent = ' + value, 'runbook.toml');
     const plan = written('{ action = "nudge", message = "Go on." }').value.agents.get('coder');
     const play = new Play().order(startAgent(plan)).say(started('a1'));
     const silent = { kind: 'silent', start: 1, what: 'turn', for_ms: 600_000, tool: null };
     play.say(report(silent, 'a1'), supervisor('a1'));
     print({
       plan: plan.on_silent,
       types: play.types(),
       text: play.newest('MessageRequested').text,
       refused: written('"wait"').problems[0].message,
       isDescribed: readFileSync('docs/runbooks.md', 'utf8').includes('| \`on_silent\` |'),
     });`,
    {
      plan: { action: 'nudge', message: 'Go on.' },
      types: ['AgentSilent', 'HandlerTried', 'MessageRequested'],
      text: 'Go on.',
      refused: 'Invalid agents.coder.on_silent: wait (expected: nudge, fail, escalate, gate)',
      isDescribed: true,
    },
  ],
  'A new agent client': [
    `import { clientVariables, prepareAgent } from './src/agents/prepare-agent.ts';
     import { readUserSetup } from './src/agents/user-setup.ts';
     import { parseRunbook } from './src/runbook/check/check-runbook.ts';
     import { STREAMS } from './src/streams/reader.ts';
     const programs = { supervisor: '/s', stopHook: '/h', scripted: '/x', builtin: '/y', baton: '/b' };
     const where = { agentId: 'a1', start: 2, stateDir: '/state', cwd: '/p', projectDir: '/p', programs };
     const resumed = { ...where, prompt: 'Go on.', isResume: true, conversation: 'c1' };
     const { launch } = prepareAgent({ name: 'coder', run: 'acme', model: 'large' }, resumed);
     print({
       argv: launch.argv,
       reads: STREAMS[launch.output].readLine('{"type":"system","subtype":"init","session_id":"c1","model":"m"}', 0)[0],
       variables: clientVariables({ run: 'acme' }, {}, undefined),
       folder: readUserSetup('acme', { HOME: '/nowhere' }).folder,
       refused: parseRunbook('[agents.coder]\\nrun = "acme"', 'runbook.toml').problems[0].message,
     });`,
    {
      argv: ['acme', '--json', '--settings', expect.stringMatching('^/state/'), '--model', 'large', '--resume', 'c1'],
      reads: { kind: 'conversation', id: 'c1' },
      variables: ['ACME_*'],
      folder: '/nowhere/.acme',
      refused: 'agent coder runs acme and has no prompt',
    },
  ],
};

describe('the worked examples of CONTRIBUTING.md', () => {
  it('adds an operation that has no handler yet', () => {
    expect(Object.keys(OPERATION_HANDLERS)).toContain('task_get');
    expect(Object.keys(OPERATION_HANDLERS)).not.toContain('task_dependants');
  });

  it('are the four that it promises', () => {
    expect([...examples.keys()]).toEqual(Object.keys(PROBES));
  });

  it.each(someOf(Object.entries(PROBES), 1))('%s takes at most three files, and works', (name, [program, printed]) => {
    const diff = examples.get(name) ?? '';
    expect(new Set(diff.match(/^\+\+\+ .*$/gm)).size).toBeLessThanOrEqual(3);
    expect(runOrFail(program), 'it works without the example').not.toEqual(printed);
    apply(diff);
    try {
      expect(run(program)).toEqual(printed);
    } finally {
      apply(diff, '--reverse');
    }
  });

  // Takes ten seconds of CPU time.
  inLongLane(() =>
    it('compile, all four together with every test', { timeout: 120_000 }, () => {
      for (const diff of examples.values()) apply(diff);
      expect(typeErrors()).toBe('');
    }),
  );
});

function readExamples(page: string): ReadonlyMap<string, string> {
  const [, section = ''] = page.split('\n## Worked examples\n');
  return new Map(
    section
      .split('\n### ')
      .slice(1)
      .map((text) => {
        const diffs = [...text.matchAll(/^```diff\n(.*?)^```$/gms)].map(([, diff = '']) => diff);
        return [text.split('\n', 1)[0] ?? '', diffs.join('')] as const;
      }),
  );
}

function trackedFiles(): readonly string[] {
  const folders = ['src', 'test', 'scripts', 'bench', 'docs', 'runbooks', '*.json', '*.config.ts'];
  const listed = execFileSync(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...folders],
    {
      cwd: root,
      encoding: 'utf8',
    },
  );
  return listed.split('\0').filter((path) => path !== '' && !path.startsWith('test/fixtures/'));
}

function apply(diff: string, ...options: readonly string[]): void {
  execFileSync('git', ['apply', ...options, '-'], { cwd: tree, input: diff, stdio: 'pipe' });
}

function run(program: string): unknown {
  const print = 'function print(value) { console.log(JSON.stringify(value)); }';
  const options = ['--input-type=module', '--eval', `${program}\n${print}`];
  return JSON.parse(execFileSync(process.execPath, options, { cwd: tree, encoding: 'utf8', stdio: 'pipe' }));
}

function runOrFail(program: string): unknown {
  try {
    return run(program);
  } catch {
    return 'failed';
  }
}

function typeErrors(): string {
  try {
    return execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', '.'], { cwd: tree, encoding: 'utf8' });
  } catch (error) {
    return String(Object(error).stdout);
  }
}
