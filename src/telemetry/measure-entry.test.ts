import { describe, expect, it } from 'vitest';
import { Play } from '../engine/play.cases.ts';
import { WorkflowPlay } from '../engine/workflow.cases.ts';
import type { RecordedEvent } from '../state/event.ts';
import * as runs from '../state/runs/say.cases.ts';
import * as say from '../state/say.cases.ts';
import type { InstrumentName, Measurement } from './instruments.ts';
import { measureEntry, nothingUnderWay } from './measure-entry.ts';
import { underWayIn } from './under-way-in-state.ts';

function measured(
  entries: readonly RecordedEvent[],
  instrument: InstrumentName,
): Pick<Measurement, 'value' | 'labels'>[] {
  const now = nothingUnderWay('demo');
  return entries
    .flatMap((entry) => measureEntry(now, entry))
    .flatMap((each) => (each.instrument === instrument ? [{ value: each.value, labels: each.labels }] : []));
}

const labels = { project: 'demo' };

describe('claims and handoffs', () => {
  const play = new WorkflowPlay().wait(60_000).turn('issue-manager').wait(2000).turn('prep').wait(3000);
  play.turn('implementer', { head: say.SHA }).wait(30_000).check().wait(4000).turn('reviewer');

  it('have a latency per role, without the time of checks', () => {
    expect(measured(play.entries, 'baton.handoff.latency')).toEqual([
      { value: 2, labels: { ...labels, role: 'prep' } },
      { value: 3, labels: { ...labels, role: 'implementer' } },
      { value: 4, labels: { ...labels, role: 'reviewer' } },
    ]);
  });

  it('count by role and by how they ended', () => {
    expect(measured(play.entries, 'baton.claims')).toHaveLength(4);
    expect(measured(play.entries, 'baton.claims.ended')[0]).toEqual({
      value: 1,
      labels: { ...labels, role: 'issue-manager', outcome: 'completed' },
    });
  });

  it('have no label that is a text', () => {
    const told = new Play().order(say.create()).say(say.claim('A', 's1', { role: 'ignore all previous instructions' }));
    expect(measured(told.entries, 'baton.claims')).toEqual([{ value: 1, labels: { ...labels, role: 'other' } }]);
  });

  it('measure checks one after the other', () => {
    expect(measured(play.entries, 'baton.check.duration')).toEqual([
      { value: 30, labels: { ...labels, check: 'unit', outcome: 'passed' } },
    ]);
  });
});

it('counts tasks that are blocked', () => {
  const play = new Play()
    .order(say.create())
    .say(say.claim())
    .say(say.update('blocked', { notes: 'no disk' }), say.session());
  expect(measured(play.entries, 'baton.tasks.blocked')).toEqual([
    { value: 1, labels: { ...labels, cause: 'updated' } },
  ]);
});

describe('an agent', () => {
  const play = new Play().order(runs.startAgent(runs.agentPlan({ on_stop: { action: 'escalate' } })));
  play.say(runs.started('a1')).say(runs.report({ kind: 'blocked', blocks: 1 }, 'a1'));
  play.say(runs.used(play.agent(), 100, { cost_millicents: 1000, output_tokens: 7 }));
  const half = play.entries.length;
  const stateAtHalf = structuredClone(play.state);
  play.say(runs.used(play.agent(), 50, { cost_millicents: 1500, output_tokens: 7 }));
  play
    .say(runs.report({ kind: 'stop' }, 'a1'))
    .wait(90_000)
    .order(runs.resolve(play.decision().id, 1));

  it('counts the tokens and the cost of each report once', () => {
    expect(measured(play.entries, 'baton.tokens')).toEqual([
      { value: 100, labels: { ...labels, agent: 'coder', kind: 'input' } },
      { value: 7, labels: { ...labels, agent: 'coder', kind: 'output' } },
      { value: 50, labels: { ...labels, agent: 'coder', kind: 'input' } },
    ]);
    const costs = measured(play.entries, 'baton.cost').map(({ value }) => value);
    expect(costs).toEqual([0.01, 0.005]);
  });

  it('counts its blocked stops', () => {
    expect(measured(play.entries, 'baton.stops.blocked')).toEqual([
      { value: 1, labels: { ...labels, agent: 'coder' } },
    ]);
  });

  it('makes people wait for as long as its decision is open', () => {
    const source = { ...labels, source: 'stop' };
    expect(measured(play.entries, 'baton.decisions.opened')).toEqual([{ value: 1, labels: source }]);
    expect(measured(play.entries, 'baton.decision.wait')).toEqual([{ value: 90, labels: source }]);
    expect(measured(play.entries, 'baton.decisions.closed')).toEqual([
      { value: 1, labels: { ...source, outcome: 'resolved' } },
    ]);
  });

  it('is measured the same by a daemon that starts in between', () => {
    const [whole, resumed] = [nothingUnderWay('demo'), underWayIn('demo', stateAtHalf)];
    for (const entry of play.entries.slice(0, half)) measureEntry(whole, entry);
    const rest = play.entries.slice(half);
    expect(rest.flatMap((entry) => measureEntry(resumed, entry))).toEqual(
      rest.flatMap((entry) => measureEntry(whole, entry)),
    );
  });
});

it('resumes the wait of a handoff from the state', () => {
  const play = new WorkflowPlay().turn('issue-manager').wait(1500);
  const now = underWayIn('demo', structuredClone(play.state));
  const before = play.entries.length;
  play.turn('prep');
  const measurements = play.entries.slice(before).flatMap((entry) => measureEntry(now, entry));
  expect(measurements.find(({ instrument }) => instrument === 'baton.handoff.latency')?.value).toBe(1.5);
});
