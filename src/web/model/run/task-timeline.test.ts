import { expect, it } from 'vitest';
import { Play } from '../../../engine/play.cases.ts';
import { TO_FIXER, WorkflowPlay } from '../../../engine/workflow.cases.ts';
import * as runs from '../../../state/runs/say.cases.ts';
import { claim, create, release, session, SHA } from '../../../state/say.cases.ts';
import { changesRequested } from '../../../state/workflow/say.cases.ts';
import { viewTaskTimeline } from './task-timeline.ts';
import type { TimelineRow } from './timeline-row.ts';

const rowsOf = (play: Play, taskId = 'A'): readonly TimelineRow[] => viewTaskTimeline(play.state, { taskId }).rows;
const brief = ({ kind, group, round, outcome, to }: TimelineRow): string =>
  `${group} ${kind} ${round}: ${outcome ?? (to === null ? 'now' : '-')}`;

it('has a row for each run of the checks and each wait in the queue, stacked by stage', () => {
  const play = new WorkflowPlay().wait(1000).turn('issue-manager').wait(1000).turn('prep').wait(1000);
  play.turn('implementer', { head: SHA }).wait(1000).check().wait(1000);
  play.turn('reviewer', { ...TO_FIXER, xml: changesRequested('a hole', 'src/a.ts:3') }).wait(1000);
  play
    .turn('fixer', { head: 'b'.repeat(40) })
    .wait(2000)
    .check()
    .wait(1000);
  expect(rowsOf(play, play.id).map(brief)).toEqual([
    'issue-manager queue 1: -',
    'prep queue 1: -',
    'implementer queue 1: -',
    'ci checks 1: passed',
    'ci checks 2: passed',
    'reviewer queue 1: -',
    'reviewer queue 2: now',
    'fixer queue 1: -',
  ]);
});

it('separates the queue before a session from the work, and one attempt from the next', () => {
  const play = new Play()
    .order(create())
    .wait(1000)
    .say(claim('A', 's1', { holder: 'ada', role: 'writer' }))
    .wait(2000);
  play.say(release('A', { reason: 'too hard' }), session()).wait(3000);
  play.say(claim('A', 's2', { holder: 'bob', role: 'writer' })).wait(4000);
  const rows = rowsOf(play);
  expect(rows.map(({ label, round, outcome }) => `${label} ${round} ${outcome ?? 'now'}`)).toEqual([
    'IMPLEMENTATION 1 now',
    'IMPLEMENTATION 2 now',
    'writer · ada 1 released',
    'writer · bob 2 now',
  ]);
  expect(rows.map(({ claim: session }) => session)).toEqual([undefined, undefined, 'A:1', 'A:2']);
});

it('has the agent of a session, and a row for each agent if the claim has several', () => {
  const worker = (plan: Parameters<typeof runs.configure>[0][number]['plan']) =>
    runs.configure([{ name: 'w', concurrency: 1, plan }]);
  const one = new Play().say(worker({ kind: 'agent', agent: runs.agentPlan() })).order(create());
  const { id } = one.agent();
  one.say(runs.started(id)).wait(2000);
  expect(rowsOf(one)).toMatchObject([{ kind: 'session', agentId: id, segments: [{ activity: 'running', to: null }] }]);

  const plan = runs.pipelinePlan([runs.agentStep('code'), runs.agentStep('polish')], {
    agents: [runs.agentPlan({ on_dead: { action: 'done' } })],
  });
  const two = new Play().say(worker(plan)).order(create()).wait(1000);
  const first = two.agent().id;
  two.say(runs.started(first)).say(runs.exited(first), runs.supervisor(first)).wait(1000);
  expect(rowsOf(two).map(({ kind, label }) => `${kind} ${label}`)).toEqual([
    'session IMPLEMENTATION · w',
    'process code · coder',
    'process polish · coder',
  ]);
});

it('has the waits for a person, in the stage during which they began, with their decision', () => {
  const play = new WorkflowPlay({}, 'supervised').wait(3000);
  const { id } = play.decision();
  expect(rowsOf(play, play.id)).toMatchObject([
    { kind: 'queue', group: 'issue-manager', segments: [{ activity: 'waiting' }] },
    { kind: 'wait', group: 'issue-manager', decisionId: id, to: null, outcome: null },
  ]);
  play.order(runs.resolve(id, 1));
  const waits = rowsOf(play, play.id).filter(({ kind }) => kind === 'wait');
  expect(waits).toMatchObject([{ decisionId: id, to: play.at, outcome: 'approve' }]);
});

it('is empty for a task that does not exist', () => {
  expect(viewTaskTimeline(new Play().state, { taskId: 'none' })).toEqual({ rows: [], olderFrom: null });
});
