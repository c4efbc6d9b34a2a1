import { describe, expect, it } from 'vitest';
import { buildPacket } from '../../state/packet/packet.ts';
import { renderPacket } from '../../state/packet/render-packet.ts';
import type { DecisionAction } from '../../state/runs/decision.ts';
import * as runs from '../../state/runs/say.cases.ts';
import { taskOutlook } from '../../state/timeline/task-outlook.ts';
import * as say from '../../state/say.cases.ts';
import * as flow from '../../state/workflow/say.cases.ts';
import { Play } from '../play.cases.ts';
import { WorkflowPlay } from '../workflow.cases.ts';

const NOTE = 'Use the parser that we have';

describe('a person who is asked at a checkpoint', () => {
  it('sees what each answer does', () => {
    const play = new WorkflowPlay({}, 'supervised');
    expect(labels(play)).toEqual([
      'Start writing the issue',
      'Block the task',
      'Hand to another agent',
      'Take over yourself',
      'Cancel the task',
    ]);
    play.resolve(1).turn('issue-manager');
    expect(labels(play)).toEqual([
      'Accept the issue',
      'Block the task',
      'Send back with a note',
      'Hand to another agent',
      'Take over yourself',
      'Cancel the task',
    ]);
  });

  it('sends an issue back to the issue-manager, which reads the note', () => {
    const play = new WorkflowPlay({}, 'supervised').resolve(1).turn('issue-manager');
    choose(play, 'send_back', NOTE);
    expect(play.stands()).toEqual(['DRAFT', 'issue-manager']);
    expect(play.openDecisions()).toEqual([]);
    expect(packetOf(play)).toContain(NOTE);
  });

  it.each(['READY_FOR_REVIEW', 'READY_FOR_MERGE'] as const)(
    'sends work in %s back to the fixer, as a finding',
    (phase) => {
      const play = semiUntil(phase);
      const { rounds } = play.task.flow;
      choose(play, 'send_back', NOTE);
      expect(play.stands()).toEqual(['IMPLEMENTATION', 'fixer']);
      expect(play.task.flow).toMatchObject({ rounds: rounds + 1, approval: null, findings: { [`person ${NOTE}`]: 1 } });
      expect(play.newest('HandoffDelivered')).toMatchObject({ from: 'operator', to: 'fixer-agent' });
      // The person has just decided, so there is no second question.
      expect(play.openDecisions()).toEqual([]);
    },
  );

  it('does not send work back without a note', () => {
    const play = semiUntil('READY_FOR_REVIEW');
    for (const message of [undefined, '', '  \n'])
      expect(play.refuse(answer(play, 'send_back', message)).code).toBe('no-note');
  });

  it('may send work back more often than a reviewer', () => {
    const play = semiUntil('READY_FOR_REVIEW', { reviewRounds: 1 });
    for (let round = 1; round <= 3; round += 1) {
      choose(play, 'send_back', `${NOTE} ${round}`);
      expect(play.openDecisions()).toEqual([]);
      play.turn('fixer', { head: `${round}`.repeat(40) }).check();
      expect(play.task.phase).toBe('READY_FOR_REVIEW');
    }
  });

  it('leaves a note for the next session with every answer', () => {
    for (const action of ['approve', 'deny', 'hand_over', 'take_over'] as const) {
      const play = semiUntil('READY_FOR_REVIEW');
      choose(play, action, NOTE);
      expect(packetOf(play)).toContain(NOTE);
    }
  });

  it('is not asked any more if the task is completed in the meantime', () => {
    const play = semiUntil('READY_FOR_MERGE');
    const late = answer(play, 'send_back', NOTE);
    play.order(say.operate('waive', 'merged by hand', play.id)).checkReplay();
    expect(play.openDecisions()).toEqual([]);
    expect(play.task.flow.held).toBeNull();
    expect(play.refuse(late).code).toBe('decision-withdrawn');
    expect(play.task.phase).toBe('COMPLETED');
  });

  it('cancels the task', () => {
    const play = semiUntil('READY_FOR_REVIEW');
    choose(play, 'cancel', 'not now');
    expect(play.task.blocked).toMatchObject({ isCancelled: true });
  });
});

describe('a task that a person gave to an agent', () => {
  it('is claimed for that agent by the worker of the role', () => {
    const play = withReviewers('READY_FOR_REVIEW');
    choose(play, 'hand_over', NOTE, { name: 'second', run: 'scripted', prompt: 'look', role: 'reviewer' });
    expect(play.task.claim).toMatchObject({ holder: 'second', principal: 'agent:second', role: 'reviewer' });
    expect(play.newest('AgentRequested').plan).toMatchObject({ name: 'second' });
    // A named agent owes the same messages as the worker's own agent.
    expect(play.task.claim?.requires).toEqual(['handoff', 'exit', 'result']);
    expect(play.task.flow.assigned).toBeNull();
  });

  it('needs a named agent of the next role that is not an author', () => {
    const play = semiUntil('READY_FOR_REVIEW');
    const plan = { run: 'scripted', prompt: 'look' };
    expect(play.refuse(answer(play, 'hand_over')).code).toBe('no-agent-named');
    expect(play.refuse(answer(play, 'approve', NOTE, { ...plan, name: 'second' })).code).toBe('no-hand-over');
    expect(play.refuse(answer(play, 'hand_over', NOTE, { ...plan, name: 'fixer', role: 'fixer' })).code).toBe(
      'wrong-role',
    );
    expect(play.refuse(answer(play, 'hand_over', NOTE, { ...plan, name: 'implementer' })).code).toBe(
      'separation-of-duties',
    );
  });
});

describe('a task that a person took over', () => {
  it('is claimed by no worker, and by no other caller', () => {
    const play = withReviewers('READY_FOR_REVIEW');
    choose(play, 'take_over', NOTE);
    expect(play.task.claim).toBeNull();
    expect(play.task.flow.assigned).toEqual({ person: 'operator:ann' });
    expect(play.state.timelines.get(play.id)?.spans.at(-1)).toMatchObject({ activity: 'waiting', role: 'reviewer' });
    expect(taskOutlook(play.state, play.task)).toMatchObject({
      state: 'waiting',
      reason: 'operator:ann took the task over',
    });
    expect(play.refuse(say.claim(play.id, 's9', { role: 'reviewer' }), say.worker).code).toBe('assigned');
    play.say(say.claim(play.id, 's9', { role: 'reviewer' }), say.operator);
    expect(play.task.flow.assigned).toBeNull();
    expect(taskOutlook(play.state, play.task)).toMatchObject({ state: 'going' });
  });

  it('goes back to the workers if an operator withdraws the assignment', () => {
    const play = withReviewers('READY_FOR_REVIEW');
    choose(play, 'take_over');
    play.order(say.release(play.id, { reason: 'ann is ill' })).checkReplay();
    expect(play.task.claim).toMatchObject({ holder: 'reviewer' });
    expect(packetOf(play)).toContain('ann is ill');
  });

  it('is free for every worker again when it moves to another role', () => {
    const play = semiUntil('READY_FOR_REVIEW');
    choose(play, 'take_over', NOTE);
    play.order(say.operate('reinstate', 'again', play.id));
    expect(play.task.flow.assigned).toBeNull();
  });
});

describe('an agent that waits for a person', () => {
  it('passes its task to another agent: the claim is released, and the new session reads the note', () => {
    const play = parked();
    choose(play, 'hand_over', NOTE, { name: 'other', run: 'scripted', prompt: 'work' });
    expect(play.agent('x1')).toMatchObject({ outcome: 'cancelled' });
    const task = play.state.tasks.get('A') ?? say.emptyTask;
    expect(task.claim).toMatchObject({ holder: 'other', epoch: 2 });
    expect(task.phase).toBe('IMPLEMENTATION');
    expect(renderPacket(buildPacket(play.state, task)).text).toContain(NOTE);
  });

  it('passes its task to another agent, and not to a worker that would make a workflow of it', () => {
    const play = parked();
    const backlog = { kind: 'workflow', workflow: 'issue', mode: 'autonomous' } as const;
    play.say(flow.seeMain('1'.repeat(40), { by: null })).say(
      runs.configure([
        { name: 'a', concurrency: 1, plan: backlog },
        { name: 'w', concurrency: 1, plan: { kind: 'agent', agent: runs.agentPlan() } },
      ]),
    );
    choose(play, 'hand_over', NOTE);
    expect(play.state.tasks.get('A')).toMatchObject({ claim: { holder: 'other' }, flow: { mode: null } });
  });

  it('leaves its task to the person', () => {
    const play = parked();
    choose(play, 'take_over', NOTE);
    const task = play.state.tasks.get('A') ?? say.emptyTask;
    expect(task).toMatchObject({
      claim: null,
      phase: 'IMPLEMENTATION',
      flow: { assigned: { person: 'operator:ann' } },
    });
  });

  it('is restarted with the note', () => {
    const play = parked();
    choose(play, 'retry', NOTE);
    expect(play.newest('AgentRequested').note).toBe(NOTE);
  });

  it('in a pipeline: the agent of the next step, or of the repeated one, gets the note', () => {
    for (const action of ['retry', 'done'] as const) {
      const plan = runs.pipelinePlan([runs.agentStep('one'), runs.agentStep('two')]);
      const play = new Play().order(runs.startPipeline(plan));
      const { agent_id: first } = play.newest('AgentRequested');
      play.say(runs.signal('escalate', first, 'stuck'), runs.agent(first));
      choose(play, action, NOTE);
      play.say(runs.exited(first), runs.supervisor(first));
      expect(play.newest('AgentRequested')).toMatchObject({ note: NOTE });
    }
  });
});

describe('a blocked task', () => {
  it('of a judging role is not handed to an author', () => {
    const play = new WorkflowPlay().toReview();
    play.say(say.exit('REVIEW', 'blocked', { eventId: 'e9', notes: 'no key' }), play.claim('reviewer'));
    const author = { name: 'implementer', run: 'scripted', prompt: 'look' };
    expect(play.refuse(answer(play, 'hand_over', NOTE, author)).code).toBe('separation-of-duties');
  });

  it('is tried again, changes hands, or is cancelled', () => {
    const blocked = (): WorkflowPlay => {
      const play = new WorkflowPlay().turn('issue-manager').turn('prep');
      const caller = play.claim('implementer');
      return play.say(say.exit('IMPLEMENTATION', 'blocked', { eventId: 'e9', notes: 'no key' }), caller);
    };
    const retried = blocked();
    choose(retried, 'retry', NOTE);
    expect(retried.stands()).toEqual(['IMPLEMENTATION', 'implementer']);
    expect(packetOf(retried)).toContain(NOTE);
    const taken = blocked();
    choose(taken, 'take_over', NOTE);
    expect(taken.stands()).toEqual(['IMPLEMENTATION', 'implementer']);
    expect(taken.task.flow.assigned).toEqual({ person: 'operator:ann' });
    const cancelled = blocked();
    choose(cancelled, 'cancel', NOTE);
    expect(cancelled.task.blocked).toMatchObject({ isCancelled: true });
  });
});

function semiUntil(phase: 'READY_FOR_REVIEW' | 'READY_FOR_MERGE', rules = {}): WorkflowPlay {
  const play = new WorkflowPlay(rules, 'semi').turn('issue-manager').turn('prep').resolve(1);
  play.turn('implementer', { head: say.SHA }).check();
  return phase === 'READY_FOR_REVIEW' ? play : play.resolve(1).turn('reviewer');
}

function withReviewers(phase: 'READY_FOR_REVIEW'): WorkflowPlay {
  const agent = runs.agentPlan({ name: 'reviewer', role: 'reviewer', requires: ['handoff'] });
  const workers = [{ name: 'reviewers', concurrency: 1, roles: ['reviewer'], plan: { kind: 'agent', agent } as const }];
  return semiUntil(phase).say(runs.configure(workers));
}

/** A worker's agent on task A that escalated. */
function parked(): Play {
  const plan = { kind: 'agent', agent: runs.agentPlan() } as const;
  const play = new Play().order(say.create()).say(runs.configure([{ name: 'w', concurrency: 1, plan }]));
  return play.say(runs.signal('escalate', undefined, 'Which parser?'), say.session('x1', 'A', 1));
}

function answer(
  play: Play,
  action: DecisionAction,
  message?: string,
  handTo?: ReturnType<typeof runs.agentPlan>,
): Parameters<Play['order']>[0] {
  const { id, options } = play.decision();
  const option = options.findIndex((each) => each.action === action) + 1;
  const more = { ...(message === undefined ? {} : { message }), ...(handTo === undefined ? {} : { handTo }) };
  return { kind: 'resolve-decision', command: { id, option, ...more } };
}

function choose(
  play: Play,
  action: DecisionAction,
  message?: string,
  handTo?: ReturnType<typeof runs.agentPlan>,
): void {
  const given = action === 'hand_over' ? (handTo ?? { name: 'other', run: 'scripted', prompt: 'work' }) : handTo;
  play.order(answer(play, action, message, given)).checkReplay();
}

function labels(play: Play): string[] {
  return play.decision().options.map(({ label }) => label);
}

function packetOf(play: WorkflowPlay): string {
  return renderPacket(buildPacket(play.state, play.task)).text;
}
