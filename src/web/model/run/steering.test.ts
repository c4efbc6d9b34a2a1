import { describe, expect, it } from 'vitest';
import { Play } from '../../../engine/play.cases.ts';
import { WorkflowPlay } from '../../../engine/workflow.cases.ts';
import * as runs from '../../../state/runs/say.cases.ts';
import { claim, create, operate, session, update } from '../../../state/say.cases.ts';
import { type RunRef, viewSteering } from './steering.ts';

const steps = (play: Play, kind: RunRef['kind'], id: string): string[] =>
  viewSteering(play.state, { kind, id }).steps.map(({ does, on }) => `${does} ${on.kind}`);

describe('what a person can do about an agent', () => {
  it('is to send a message, attach and stop while it runs; to answer while it asks; nothing when it is over', () => {
    const play = new Play().order(runs.startAgent()).say(runs.started('a1'));
    expect(steps(play, 'agent', 'a1')).toEqual(['message agent', 'attach agent', 'stop agent']);
    play.say(runs.signal('escalate', 'a1', 'Which port?'), runs.agent('a1'));
    expect(viewSteering(play.state, { kind: 'agent', id: 'a1' })).toMatchObject({
      steps: [{ does: 'answer' }, { does: 'attach' }, { does: 'stop' }],
      decisionIds: [play.decision().id],
    });
    play.order({ kind: 'kill-agent', command: { agentId: 'a1' } });
    play.say(runs.exited('a1'), runs.supervisor('a1'));
    expect(steps(play, 'agent', 'a1')).toEqual([]);
  });

  it('is not to attach to a command without a conversation', () => {
    const play = new Play().order(runs.startAgent(runs.agentPlan({ run: 'make' }))).say(runs.started('a1'));
    expect(steps(play, 'agent', 'a1')).toEqual(['message agent', 'stop agent']);
  });
});

describe('what a person can do about a pipeline', () => {
  it('is to cancel it while it runs, and to run it again when it has failed', () => {
    const plan = runs.pipelinePlan([runs.shellStep('build')]);
    const play = new Play().order(runs.startPipeline(plan));
    expect(steps(play, 'pipeline', 'p1')).toEqual(['cancel pipeline']);
    play.say(runs.finish(play.the('CommandRequested').command_id, 1));
    expect(steps(play, 'pipeline', 'p1')).toEqual(['run_again pipeline']);
  });

  it('is to resume, retry or cancel it while it waits', () => {
    const play = new Play().order(runs.startPipeline());
    const { id } = play.agent();
    play.say(runs.started(id)).say(runs.signal('escalate', id, 'Which port?'), runs.agent(id));
    expect(steps(play, 'pipeline', 'p1')).toEqual([
      'resume pipeline',
      'retry pipeline',
      'attach agent',
      'stop agent',
      'cancel pipeline',
    ]);
  });
});

describe('what a person can do about a task', () => {
  it('is to leave a note, to retry it while it is blocked, and to cancel it', () => {
    const play = new Play().order(create()).say(claim());
    expect(steps(play, 'task', 'A')).toEqual(['note task', 'cancel task']);
    play.say(update('blocked', { notes: 'no disk' }), session());
    expect(steps(play, 'task', 'A')).toEqual(['note task', 'unblock task', 'cancel task']);
  });

  it('is to reinstate it when it is over', () => {
    const play = new WorkflowPlay({}, 'supervised');
    expect(viewSteering(play.state, { kind: 'task', id: play.id })).toMatchObject({
      steps: [{ does: 'note' }, { does: 'cancel' }],
      decisionIds: [play.decision().id],
    });
    play.order(operate('cancel', 'not now', play.id));
    expect(viewSteering(play.state, { kind: 'task', id: play.id })).toMatchObject({
      steps: [{ does: 'reinstate' }],
      decisionIds: [],
    });
  });

  it('includes its running agents', () => {
    const plan = { kind: 'agent', agent: runs.agentPlan() } as const;
    const play = new Play().say(runs.configure([{ name: 'w', concurrency: 1, plan }])).order(create());
    play.say(runs.started(play.agent().id));
    expect(steps(play, 'task', 'A')).toEqual(['message agent', 'attach agent', 'stop agent', 'cancel task']);
  });
});
