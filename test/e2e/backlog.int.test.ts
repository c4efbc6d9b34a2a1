import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { RunScene } from '../../src/daemon/runs.cases.ts';
import { until } from '../../src/daemon/running.cases.ts';
import { runCli } from '../run-cli.ts';

let scene: RunScene;
beforeEach(() => {
  scene = new RunScene();
});
afterEach(async () => scene.end());

const baton = async (argv: readonly string[], input = '') =>
  runCli(argv, input, { env: scene.scene.env, cwd: scene.repository });

const LIST = `- [ ] T1: Set the linter up
  The same rules as in the editor.
- [ ] T2: Use it (after: T1)
- [x] T3: Done elsewhere
- [!] T4: Waits (blocked: no key)
- [-] T5: Not wanted (cancelled: too late)
`;

it("imported tasks become workflows together, or none does; each gets its author's text", async () => {
  const manager = "grep -A3 'What is to be done, as' .baton/session/task.md > read.txt";
  scene.write(`ci.required = []\n[agents.issue-manager]\nrun = "${manager}"\n`);
  await scene.start();
  expect((await baton(['task', 'import', '-'], LIST)).code).toBe(0);
  expect((await baton(['task', 'show', 'T1'])).out).toContain('\n\n  The same rules as in the editor.\n');

  const refused = await baton(['run', 'issue', '--task', 'T1,T2,T3', '--task', 'T4,T5', '--detach']);
  expect(refused).toMatchObject({ code: 1, out: '' });
  expect(refused.err).toContain(
    'no workflow was started: 3 of 5 tasks cannot become workflows [tasks-not-started]\n  task T3 is completed.',
  );
  expect(refused.err).toContain('\n  task T4 is blocked: no key. First: baton task unblock T4 --reason "…"\n');
  expect(await scene.types()).not.toContain('WorkflowStarted');
  expect((await baton(['run', 'issue', '--task', 'T1,T2', '--plan'])).out).toMatch(
    /with task = T1,T2\nfirst: start agent issue-manager\n$/,
  );

  // The first agent exits without a signal, so a person is asked; the other workflow waits for the first one.
  const followed = await baton(['run', 'issue', '--task', 'T2', '--task', 'T1']);
  expect(followed).toMatchObject({ code: 3, err: '' });
  expect(followed.out).toMatch(/^T2: queued behind T1\n/);
  expect(followed.out).toMatch(/\nT1: {3}issue-manager: claimed by issue-manager\n(?:.*\n)*T1: waits for a person: /);
  const read = globSync(join(scene.repository, '.worktrees/*/read.txt')).map((path) => readFileSync(path, 'utf8'));
  expect(read).toEqual([expect.stringContaining('The same rules as in the editor.')]);
  expect(await scene.ask('task_get', { task_id: 'T2' })).toMatchObject({
    phase: 'DRAFT',
    claimable: false,
    claim: null,
  });
  expect((await baton(['run', 'issue', '--task', 'T1,T2'])).err).toContain('task T2 is a workflow already');
});

it('a worker makes workflows of tasks: not before the checks are decided, not more than it may, and none twice', async () => {
  const runbook = `[agents.issue-manager]\nrun = "true"\n[workers.backlog]\ntasks = ["P*"]\nrun = { workflow = "issue" }\n`;
  scene.write(runbook);
  await scene.start();
  for (const task_id of ['P1', 'A', 'P2']) await scene.ask('task_create', { task_id, title: `do ${task_id}` });
  const attention = async () =>
    (await scene.ask<{ attention: { kind: string; title: string; context: string }[] }>('status_get')).attention.filter(
      ({ kind }) => kind === 'worker',
    );
  expect(await attention()).toMatchObject([
    { title: 'Worker backlog starts no workflow', context: expect.stringContaining('does not set ci.required') },
  ]);
  const started = async () =>
    (await scene.entries()).flatMap(({ type, data }) => (type === 'WorkflowStarted' ? [data] : []));
  expect(await started()).toEqual([]);

  scene.write(`ci.required = []\n${runbook}`);
  expect((await baton(['runbook', 'adopt'])).code).toBe(0);
  await until(async () => (await scene.types()).includes('AgentExited'), 'the first role has begun');
  const first = {
    task_id: 'P1',
    mode: 'autonomous',
    worker: 'backlog',
    runbook: expect.stringMatching(/^[0-9a-f]{64}$/),
  };
  expect([await started(), await attention()]).toEqual([[first], []]);
  await scene.restart();
  expect(await started()).toEqual([first]);
  expect(await scene.ask('status_get')).toMatchObject({
    workers: expect.arrayContaining([{ name: 'backlog', concurrency: 1, busy: 1 }]),
  });

  await scene.ask('task_cancel', { task_id: 'P1', reason: 'not now' });
  expect((await started()).map(({ task_id }) => task_id)).toEqual(['P1', 'P2']);
});
