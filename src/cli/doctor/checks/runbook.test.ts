import { expect, it } from 'vitest';
import { checkRunbook } from '../../../runbook/check/check-runbook.ts';
import { problem } from '../../../protocol/shape/problem.ts';
import type { Runbook } from '../../../runbook/runbook.ts';
import { diagnoseRunbook, findFailingSandboxes, findUncounted, type RunbookFacts } from './runbook.ts';

function runbookOf(text: string): Runbook {
  const checked = checkRunbook([{ path: 'baton.toml', text }]);
  if (!checked.ok) throw new Error(checked.problems[0].message);
  return checked.value;
}

const FACTS: RunbookFacts = {
  isInRepository: true,
  files: ['baton.toml'],
  runbook: runbookOf('network = "dev"\n[agents.a]\nrun = "./a"'),
  problems: [],
  identityProblem: null,
  failingSandboxes: ['container'],
};

it('accepts a valid runbook', () => {
  expect(diagnoseRunbook(FACTS).map(({ code, detail }) => [code, detail])).toEqual([
    ['runbook.valid', 'baton.toml: valid, 1 agent'],
  ]);
});

it('passes on what to do about a file that cannot be read', () => {
  const unread = { ...problem('unreadable-file', 'cannot read baton.toml: permission denied', 'Make it readable.') };
  const found = diagnoseRunbook({ ...FACTS, runbook: undefined, problems: [{ ...unread, file: 'baton.toml' }] });
  expect(found.map(({ detail, fix }) => [detail, fix])).toEqual([
    ['cannot read baton.toml: permission denied', 'Make it readable.'],
  ]);
});

it('finds a mode that the runbook names but that does not work', () => {
  expect(findFailingSandboxes(runbookOf('sandbox = "bubblewrap"'), ['container'])).toEqual([]);
  const [only, more] = findFailingSandboxes(runbookOf('[agents.a]\nrun = "./a"\nsandbox = "container"'), ['container']);
  expect([only?.status, more]).toEqual(['problem', undefined]);
  expect(only?.detail).toBe(
    'the runbook asks for container, which does not work here, so these agents cannot start: a',
  );
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
  expect(findUncounted(runbook).map(({ status, detail }) => [status, detail])).toEqual([
    ['warning', 'agents.tool.budget does not count the tokens and cost of tool: the client reports none'],
    ['warning', 'limits.day_budget does not count the tokens and cost of cline: the client reports none'],
  ]);
});

it('reports the first error of a runbook', () => {
  const checked = checkRunbook([{ path: 'baton.toml', text: '[agents.a]\nrun = "builtin:x"\n[agents.b]' }]);
  const problems = checked.ok ? [] : checked.problems;
  const [only] = diagnoseRunbook({ ...FACTS, runbook: undefined, problems });
  expect([only?.code, only?.detail]).toEqual([
    'runbook.invalid',
    'baton.toml: there is no built-in role x (and 1 more)',
  ]);
});
