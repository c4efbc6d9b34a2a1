import { expect, it } from 'vitest';
import type { IssuePlan, RunPreview } from '../../api/operations/runs.ts';
import { renderPlan } from './show-plan.ts';

const result: RunPreview = {
  name: 'ship',
  vars: { tag: 'v1' },
  plan: {
    kind: 'pipeline',
    pipeline: 'ship',
    pipelines: {
      ship: {
        name: 'ship',
        vars: {},
        steps: [
          {
            name: 'build',
            run: { kind: 'shell', command: 'make ${var.tag}' },
            on_fail: { retries: 2, step: 'tell' },
            timeout_ms: 90_000,
            workspace: { branch: 'ship-${var.tag}' },
          },
          { name: 'review', run: { kind: 'agent', agent: 'reviewer' }, on_done: 'check' },
          { name: 'check', run: { kind: 'pipeline', pipeline: 'checks', vars: {} }, on_cancel: 'tell' },
        ],
      },
      checks: { name: 'checks', vars: {}, steps: [{ name: 'lint', run: { kind: 'shell', command: 'lint' } }] },
    },
    agents: { reviewer: { name: 'reviewer', run: 'scripted' } },
  },
  sandboxes: [{ agent: 'reviewer', summary: 'bubblewrap, network none', notes: ['no limits', 'no limits'] }],
  entries: [{ type: 'AgentRequested', data: { agent_id: 'a1', plan: { name: 'reviewer' } } }],
  effects: [
    { kind: 'prepare-workspace', branch: 'ship-v1' },
    { kind: 'start-agent', agentId: 'a1' },
  ],
};

const only = (plan: RunPreview['plan']): RunPreview => ({
  name: 'x',
  vars: {},
  sandboxes: [],
  entries: [],
  effects: [],
  plan,
});

it('shows steps, their targets, variables, and the first effects', () => {
  expect(renderPlan(result)).toBe(`pipeline ship
  build: shell make \${var.tag}  [2 retries, if it fails tell, at most 90 s, in a worktree on ship-\${var.tag}]
  review: agent reviewer (scripted; bubblewrap, network none)  [then check]
  check: pipeline checks  [if it is cancelled tell]
    pipeline checks
      lint: shell lint
sandbox: no limits
with tag = v1
first: create a worktree on ship-v1
first: start agent reviewer
`);
});

it('shows a single agent', () => {
  expect(renderPlan(only({ kind: 'agent', agent: { name: 'fixer', run: 'claude\u001B[2J' } }))).toBe(
    'agent fixer (claude\\u001b[2J)\n',
  );
});

it('stops at a pipeline that contains itself', () => {
  const step = { name: 'again', run: { kind: 'pipeline', pipeline: 'ring', vars: {} } } as const;
  const ring = { name: 'ring', vars: {}, steps: [step] };
  expect(
    renderPlan(only({ kind: 'pipeline', pipeline: 'ring', pipelines: { ring }, agents: {} })).split('\n').length,
  ).toBeLessThan(8);
});

it('shows a workflow: the agent of each role, the checks, and how and where it is merged', () => {
  const plan: IssuePlan = {
    kind: 'workflow',
    mode: 'autonomous',
    roles: [{ role: 'prep', agent: 'prep', run: 'builtin:prep' }],
    checks: [{ name: 'build', run: null }],
    checks_answer: 'checked',
    merge: { method: 'squash', into: null },
    workers: [],
    pull_requests: 'owner/name',
    lacks_gh: false,
  };
  expect(renderPlan(only(plan))).toBe(`workflow issue (autonomous)
  prep: agent prep (builtin:prep)
  check build: reported by GitHub
  merge: squash into the main branch, by pull requests at owner/name
`);
  const sandboxes = [{ agent: 'prep', summary: 'no sandbox', notes: [] }];
  expect(renderPlan({ ...only(plan), sandboxes })).toContain('\n  prep: agent prep (builtin:prep; no sandbox)\n');
  // Pull requests are requested, but `gh` or the repository is missing.
  expect(renderPlan(only({ ...plan, lacks_gh: true }))).toContain('at owner/name, but gh is not on the PATH\n');
  expect(renderPlan(only({ ...plan, pull_requests: '' }))).toContain(', but no remote is at GitHub');
  const workers = [{ name: 'backlog', takes: 'tasks P0.*, 2 at once', mode: 'semi' }];
  expect(renderPlan(only({ ...plan, workers }))).toContain(
    '\n  also started by worker backlog (semi): tasks P0.*, 2 at once\n',
  );
  expect(renderPlan(only({ ...plan, pull_requests: null }))).toContain('  merge: squash into the main branch\n');
});
