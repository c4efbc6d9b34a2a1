import { expect, it } from 'vitest';
import type { AdviseSandbox } from '../../protocol/sandbox.ts';
import { checkRunbook } from '../../runbook/check/check-runbook.ts';
import { planRun } from '../../runbook/plan.ts';
import { describeIssue } from './plan-run.ts';
import { planSandboxes } from './plan-sandboxes.ts';

const TEXT = `
sandbox = "auto"
[agents.writer]
run = "claude"
prompt = "Write."
network = ["example.org"]
[agents.open]
run = "./open"
sandbox = "none"
[agents.strict]
run = "./strict"
sandbox = "container"
[pipelines.all]
steps = [
  { name = "a", run = { agent = "writer" } },
  { name = "b", run = { agent = "open" } },
  { name = "c", run = { agent = "strict" } },
]
`;

/** Bubblewrap works on this machine, and containers do not. */
const advise: AdviseSandbox = async (mode) => {
  if (mode === 'container') return { kind: null, notes: ['podman is not installed'] };
  return { kind: mode === 'auto' ? 'bubblewrap' : mode, notes: [] };
};

function read(text: string) {
  const checked = checkRunbook([{ path: 'baton.toml', text }]);
  if (!checked.ok) throw new Error(checked.problems[0].message);
  return checked.value;
}

it('shows what each agent of a pipeline would have, and that one would not start', async () => {
  const runbook = read(TEXT);
  const planned = planRun(runbook, 'all', []);
  const plan = planned.ok ? planned.value.plan : ({ kind: 'shell', command: '' } as const);
  expect(await planSandboxes(runbook, plan, advise)).toEqual([
    { agent: 'writer', summary: 'bubblewrap, network example.org', notes: [] },
    { agent: 'open', summary: 'no sandbox', notes: [] },
    { agent: 'strict', summary: 'container does not work here', notes: ['podman is not installed'] },
  ]);
});

it('covers each role of a workflow', async () => {
  const runbook = read('network = "model"');
  const plan = describeIssue(runbook, 'autonomous', { env: {}, isDeclined: false });
  const planned = await planSandboxes(runbook, plan, advise);
  expect(planned.map(({ agent, summary }) => `${agent}: ${summary}`)).toEqual([
    'issue-manager: bubblewrap, network model',
    'prep: bubblewrap, network dev',
    'implementer: bubblewrap, network model',
    'reviewer: bubblewrap, network model',
    'fixer: bubblewrap, network model',
    'validator: bubblewrap, network none',
    'closer: bubblewrap, network model',
  ]);
});
