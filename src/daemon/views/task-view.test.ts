import { describe, expect, it } from 'vitest';
import { type TaskOverview, taskViewRead } from '../../api/operations/task-view.ts';
import type { TaskDetails } from '../../api/operations/tasks.ts';
import { Play } from '../../engine/play.cases.ts';
import { TO_FIXER, WorkflowPlay } from '../../engine/workflow.cases.ts';
import { renderHandoff } from '../../protocol/handoff/index.ts';
import { defineMessage } from '../../protocol/shape/message.ts';
import { parseJsonDocument } from '../../protocol/text/json.ts';
import * as runs from '../../state/runs/say.cases.ts';
import { claim, create, operate, operator, release, session, SHA } from '../../state/say.cases.ts';
import { type Task, taskStatus } from '../../state/tasks/task.ts';
import { changesRequested } from '../../state/workflow/say.cases.ts';
import { buildTaskView, listWorkflows } from './task-view.ts';

const RESULT = defineMessage({ title: 'Task view', shape: taskViewRead.result, read: parseJsonDocument });

function viewOf(play: Play, id = 'A', showsDecisions = true): TaskOverview {
  const task = play.state.tasks.get(id);
  if (task === undefined) throw new Error(`there is no ${id}`);
  const view = buildTaskView(play.state, detailsOf(task), { at: play.at, rules: play.rules, showsDecisions });
  expect(RESULT.parse(JSON.stringify(view))).toMatchObject({ ok: true });
  return view;
}

/** The result of `task_get`, as far as these tests need it. */
function detailsOf(task: Task): TaskDetails {
  const { id, n, title, phase, nextRole: next_role, after, priority, progress, notes, endings } = task;
  const unknown = { claimable: false, claim: null, waits_for: [], decision_ids: [], latest_record: null };
  const kept = { protected_paths: [], authors: [], self_approval: null, blocked_because: task.blocked?.reason ?? null };
  const shown = { id, n, title, status: taskStatus(task), phase, next_role, after, priority, progress, notes, endings };
  return { ...shown, ...unknown, ...kept, github_issue: null, author: 'operator:ann', description: task.description };
}

const issueXml = renderHandoff({
  kind: 'handoff',
  from: 'issue-manager',
  to: 'prep-agent',
  issue_url: 'https://example.org/issues/1',
  issue_number: '1',
  issue_title: 'Read durations back',
  type: 'feature',
  priority: 'high',
  summary: 'Durations can be read back',
  requirements: ['parseDuration("1h") is 3600000', 'Other text is an error'],
});

describe('the view of a workflow', () => {
  it('has the issue, stages with times, rounds, findings and failed checks', () => {
    const play = new WorkflowPlay().turn('issue-manager', { xml: issueXml }).turn('prep').wait(4000);
    play.turn('implementer', { head: SHA }).wait(2000).check('failed');
    expect(viewOf(play, play.id)).toMatchObject({
      mode: 'autonomous',
      activity: 'queued',
      since: play.at,
      times: { queued_ms: 4000, checks_ms: 2000, waiting_ms: 0 },
      issue: {
        title: 'Read durations back',
        priority: 'high',
        requirements: ['parseDuration("1h") is 3600000', 'Other text is an error'],
      },
      rounds: 1,
      findings: [{ text: 'unit unit said so', rounds: 1 }],
      checks: { outcome: 'failed', checks: [{ name: 'unit', exit_code: 1, output: 'unit said so' }] },
      head: SHA,
      diff_command: 'baton task diff W-00001',
      log_command: null,
    });
    play
      .wait(1000)
      .turn('fixer', { head: 'b'.repeat(40) })
      .wait(1000)
      .check();
    play.wait(1000).turn('reviewer', { ...TO_FIXER, xml: changesRequested('a hole', 'src/a.ts:3') });
    const view = viewOf(play, play.id);
    expect(view.checks?.checks).toEqual([
      { name: 'unit', outcome: 'passed', exit_code: 0, output: null, sandbox: null },
    ]);
    expect(view.findings).toEqual([{ text: 'src/a.ts:3 a hole', rounds: 1 }]);
    expect(view.stages.map(({ name, status, visits }) => `${name} ${status} ${visits}`)).toEqual([
      'implementer done 1',
      'ci done 2',
      'reviewer done 1',
      'fixer now 2',
      'validator ahead 0',
      'merge ahead 0',
      'closer ahead 0',
    ]);
  });

  it('marks an approval that nobody can prove, and says how it came to count', () => {
    const play = new WorkflowPlay({ unseparated: 'accept' }).toMerge();
    expect(viewOf(play, play.id).approval).toMatchObject({ head: SHA, unproven: 'accepted' });
    const before = new WorkflowPlay().toReview();
    expect(viewOf(before, before.id).approval).toBeNull();
  });

  it('has the open decisions and the answers, for people and for its own session only', () => {
    const play = new WorkflowPlay({}, 'supervised').wait(3000);
    expect(viewOf(play, play.id)).toMatchObject({
      activity: 'waiting',
      times: { waiting_ms: 3000 },
      decisions: [{ status: 'open', source: 'review' }],
    });
    play.order(runs.resolve(play.decision().id, 1, 'go on'));
    expect(viewOf(play, play.id).decisions).toMatchObject([{ status: 'resolved', result: { message: 'go on' } }]);
    expect(viewOf(play, play.id, false).decisions).toEqual([]);
  });
});

describe('the workflows of a status', () => {
  it('are those that are not over, what waits for a person first', () => {
    const play = new WorkflowPlay().wait(1000);
    const start = (id: string, mode: 'autonomous' | 'supervised') =>
      play.order({ kind: 'start-workflow', command: { id, title: id, mode } });
    start('asked', 'supervised');
    start('queued', 'autonomous');
    start('gone', 'autonomous');
    play.order(operate('cancel', 'not now', 'gone')).order(create('plain'));
    const listed = listWorkflows(play.state, play.rules, play.at);
    expect(listed.map(({ task_id, activity }) => `${task_id} ${activity}`)).toEqual([
      'asked waiting',
      'queued queued',
      'W-00001 queued',
    ]);
    expect(listed[2]?.stages[0]).toMatchObject({ name: 'issue-manager', status: 'now', queued_ms: 1000 });
  });
});

describe('the sessions of a task', () => {
  it('are claims by hand', () => {
    const play = new Play()
      .order(create())
      .wait(1000)
      .say(claim('A', 's1', { holder: 'ada', role: 'writer' }));
    play
      .wait(5000)
      .say(release('A', { reason: 'too hard' }), session())
      .say(claim('A', 's2', { holder: 'bob' }), operator);
    expect(viewOf(play).sessions).toMatchObject([
      {
        epoch: 1,
        holder: 'ada',
        role: 'writer',
        agent_id: null,
        started_at: '2026-01-01T00:00:01.000Z',
        ended_at: '2026-01-01T00:00:06.000Z',
        how: 'released',
        reason: 'too hard',
      },
      { epoch: 2, holder: 'bob', how: null, ended_at: null },
    ]);
  });

  it('are agents, with their tokens, cost and blocks', () => {
    const plan = { kind: 'agent', agent: runs.agentPlan({ model: 'known-1', role: 'implementer' }) } as const;
    const play = new Play({ prices: [{ model: 'known-1', input: 1_000_000, output: 0, cached: 0 }] });
    play
      .say(runs.configure([{ name: 'w', concurrency: 1, plan }]))
      .order(create())
      .wait(1000);
    const { id } = play.agent();
    play
      .say(runs.started(id, 1, runs.boxed('container', { network: 'none' })))
      .say(runs.used(play.agent(), 5), runs.supervisor(id));
    play.say(runs.report({ kind: 'blocked', blocks: 2 }, id), runs.supervisor(id)).wait(9000);
    const view = viewOf(play);
    expect(view).toMatchObject({ activity: 'running', log_command: 'baton task log A' });
    expect(view.sessions).toMatchObject([
      {
        agent_id: id,
        agent: 'coder',
        role: 'implementer',
        model: 'known-1',
        sandbox: 'container, network none',
        tokens: 5,
        blocks: 2,
      },
    ]);
    expect(view.cost).toMatchObject({ input_tokens: 5, cost_millicents: 5, work_ms: 9000 });
  });
});
