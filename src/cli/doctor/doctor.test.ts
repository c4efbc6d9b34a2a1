import { expect, it } from 'vitest';
import { findClient } from '../../agents/capabilities/clients.ts';
import { checkRunbook } from '../../runbook/check/check-runbook.ts';
import type { Runbook } from '../../runbook/runbook.ts';
import type { Finding } from '../../sandbox/doctor.ts';
import { describeClient, diagnoseClients, findUncounted } from './clients.ts';
import { describeBroken, findUnusable, renderFindings } from './doctor.ts';

const FOUND: readonly Finding[] = [
  { name: 'auto', ok: true, isMinor: true, detail: 'sandbox = "auto" is bubblewrap here', fix: null },
  { name: 'bubblewrap', ok: true, isMinor: true, detail: 'bubblewrap 0.8.0', fix: null },
  { name: 'container', ok: false, isMinor: true, detail: 'podman fails: \u001B[2J', fix: 'See: podman info' },
];

function unusable(text: string): readonly Finding[] {
  return findUnusable(runbookOf(text), FOUND);
}

function runbookOf(text: string): Runbook {
  const checked = checkRunbook([{ path: 'baton.toml', text }]);
  if (!checked.ok) throw new Error(checked.problems[0].message);
  return checked.value;
}

it('prints a line for each finding, with the fix below it', () => {
  expect(renderFindings(FOUND)).toBe(`ok       auto        sandbox = "auto" is bubblewrap here
ok       bubblewrap  bubblewrap 0.8.0
warning  container   podman fails: \\u001b[2J
                     fix: See: podman info
`);
});

it('finds a mode that the runbook names and that does not work', () => {
  expect(unusable('sandbox = "bubblewrap"')).toEqual([]);
  const [only, more] = unusable('[agents.a]\nrun = "./a"\nsandbox = "container"');
  expect([only?.isMinor, more]).toEqual([false, undefined]);
  expect(only?.detail).toBe('the runbook asks for container, which does not work here: a cannot start');
});

it('finds a client that an agent names and that is not here', async () => {
  const agents =
    '[agents.a]\nrun = "codex"\nprompt = "x"\n[agents.b]\nrun = "./tool"\n[agents.c]\nrun = "builtin:prep"';
  const found = await diagnoseClients(runbookOf(agents), FOUND, { PATH: '' });
  expect(found.map(({ name, ok, isMinor, detail }) => [name, ok, isMinor, detail])).toEqual([
    ['codex', false, false, 'codex is not on the PATH: a cannot start'],
  ]);
});

it.each([
  ['runs in an image', 'sandbox = "container"'],
  ['has a PATH of its own', 'env = { PATH = "/opt/bin" }'],
])('looks for no program of an agent that %s', async (_, line) => {
  const runbook = runbookOf(`[agents.a]\nrun = "codex"\nprompt = "x"\n${line}`);
  expect(await diagnoseClients(runbook, FOUND, { PATH: '' })).toEqual([]);
});

it('takes an untested version for no fault', () => {
  const codex = findClient('codex');
  if (codex === undefined) throw new Error('no codex');
  const version = { kind: 'found', version: '99.0.0', is: 'newer' } as const;
  expect(describeClient({ ...codex, version }, ['a'])).toEqual({
    name: 'codex',
    ok: true,
    isMinor: true,
    detail: `Codex: 99.0.0, not tested: newer than the tested versions (${codex.tested.join(' to ')})`,
    fix: null,
  });
});

it('warns of a budget that does not count an agent', () => {
  const budget = 'budget = { tokens = 1000 }';
  const runbook = runbookOf(`
limits.day_budget = { cost = "$5" }
limits.task_budget = { time = "5h" }
[agents.tool]
run = "./tool"
${budget}
[agents.coder]
run = "codex"
prompt = "x"
${budget}
[agents.cline]
run = "cline"
prompt = "x"
`);
  expect(findUncounted(runbook).map(({ isMinor, detail }) => [isMinor, detail])).toEqual([
    [true, 'agents.tool.budget does not count the tokens and cost of tool: the client reports none'],
    [true, 'limits.day_budget does not count the tokens and cost of cline: the client reports none'],
  ]);
});

it('reports the first error of a runbook', () => {
  const checked = checkRunbook([{ path: 'baton.toml', text: '[agents.a]\nrun = "builtin:x"\n[agents.b]' }]);
  const finding = checked.ok ? undefined : describeBroken(checked.problems);
  expect([finding?.isMinor, finding?.detail]).toEqual([false, 'baton.toml: there is no built-in role x (and 1 more)']);
});
