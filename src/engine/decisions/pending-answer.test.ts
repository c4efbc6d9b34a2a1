import { describe, expect, it } from 'vitest';
import { decide } from '../../state/decide.ts';
import { buildPacket } from '../../state/packet/packet.ts';
import { renderPacket } from '../../state/packet/render-packet.ts';
import type { Decision } from '../../state/runs/decision.ts';
import * as runs from '../../state/runs/say.cases.ts';
import { operate, operator, system } from '../../state/say.cases.ts';
import { taskOutlook } from '../../state/timeline/task-outlook.ts';
import { MAIN, seeMain } from '../../state/workflow/say.cases.ts';
import { addMs } from '../context.ts';
import { Play } from '../play.cases.ts';
import { WorkflowPlay } from '../workflow.cases.ts';

const BY = 'operator:ann';

/** A workflow that asks a person before its first stage. */
function asked(): WorkflowPlay {
  return new WorkflowPlay({}, 'supervised');
}

/** The person answers, and the answer takes effect after 5 s. */
function answer<P extends Play>(play: P, option = 1, message?: string): P {
  play.order(runs.answer(play.decision().id, option, addMs(play.at, 5000), message));
  return play;
}

/** What the daemon does when the answer takes effect. */
function takeEffect<P extends Play>(play: P): P {
  const { id, answer: pending } = play.decision();
  play.wait(5000).say(runs.applyAnswer(id, pending?.seq ?? 0));
  return play;
}

function optionOf({ options }: Decision, action: string): number {
  return options.findIndex((option) => option.action === action) + 1;
}

describe('an answer with a delay', () => {
  it('changes nothing until it takes effect, and every view shows it', () => {
    const play = asked();
    const stood = play.stands();
    answer(play, 1, 'Go on');
    expect(play.types()).toEqual(['DecisionAnswered']);
    expect(play.stands()).toEqual(stood);
    expect(play.decision()).toMatchObject({
      result: null,
      answer: { option: 1, action: 'approve', by: BY, message: 'Go on', effectiveAt: addMs(play.at, 5000) },
    });
    expect(taskOutlook(play.state, play.task)).toMatchObject({ state: 'going', reason: 'an answer takes effect soon' });
    expect(play.the('DecisionAnswered').effective_at).toBe(addMs(play.at, 5000));
  });

  it("then has the same effect as an answer without a delay, in the person's name", () => {
    const play = takeEffect(answer(asked(), 1, 'Go on'));
    const atOnce = asked();
    atOnce.order(runs.resolve(atOnce.decision().id, 1, 'Go on'));
    expect(play.types()).toEqual(atOnce.types());
    expect(play.stands()).toEqual(atOnce.stands());
    expect(play.decision().result).toMatchObject({ kind: 'resolved', option: 1, by: BY, message: 'Go on' });
    expect(play.decision()).not.toHaveProperty('answer');
    const packet = buildPacket(play.state, play.task);
    expect(renderPacket(packet).text).toContain(`${BY}: Decision: Start writing the issue (approve)`);
    play.checkReplay();
  });

  it('takes effect once, however often the daemon reports it', () => {
    const play = answer(asked());
    const { id, answer: pending } = play.decision();
    const apply = runs.applyAnswer(id, pending?.seq ?? 0);
    play.wait(5000).say(apply).say(apply);
    expect(play.types()).toEqual([]);
    expect(play.count('DecisionResolved')).toBe(1);
  });

  it('is the only one: another answer is refused, even one without a delay', () => {
    const play = answer(asked());
    const { id } = play.decision();
    const others = [runs.answer(id, 2, play.at), runs.answer(id, 1, play.at, 'a note'), runs.resolve(id, 1)];
    for (const other of others) {
      expect(play.refuse(other)).toEqual({
        code: 'answer-pending',
        message: `decision ${id} was answered by ${BY} at ${play.at}: 1 (Start writing the issue); it takes effect at ${addMs(play.at, 5000)}`,
        hint: `Withdraw that answer first: baton decision undo ${id} --answer ${play.decision().answer?.seq}`,
      });
    }
  });

  it('may be repeated: the repetition returns the time of the first one', () => {
    const play = answer(asked());
    const effectiveAt = addMs(play.at, 5000);
    play.wait(2000).order(runs.answer(play.decision().id, 1, addMs(play.at, 5000)));
    expect(play.types()).toEqual([]);
    expect(play.answer).toMatchObject({ option: 1, action: 'approve', effectiveAt });
  });

  it('is checked like any other', () => {
    const play = asked();
    const { id } = play.decision();
    expect(play.refuse(runs.answer(id, 9, play.at)).code).toBe('no-such-option');
    expect(play.refuse(runs.answer(id, optionOf(play.decision(), 'hand_over'), play.at)).code).toBe('no-agent-named');
  });

  it('also prevents other commands from answering', () => {
    const play = new Play().order(runs.startPipeline());
    const { id } = play.say(runs.started(play.agent().id)).agent();
    play.say(runs.report({ kind: 'stop' }, id), runs.supervisor(id));
    answer(play);
    for (const command of [runs.send(id, 'Go on'), runs.resume('p1', 'Go on'), runs.retry('p1')])
      expect(play.refuse(command).code).toBe('answer-pending');
  });
});

describe('an answer that is withdrawn before it takes effect', () => {
  it('leaves the decision open, as it was', () => {
    const play = asked();
    const before = play.decision();
    answer(play).order(runs.undo(before.id));
    expect(play.types()).toEqual(['DecisionAnswerWithdrawn']);
    expect(play.answer).toEqual({ id: before.id, option: 1, action: 'approve' });
    expect(play.decision()).toEqual(before);
    expect(play.owed('DecisionAnswered')).toEqual([]);
    expect(taskOutlook(play.state, play.task).state).toBe('waiting');
    play.checkReplay();
  });

  it('does not take effect, also if another answer was given since', () => {
    const play = answer(asked());
    const { id, answer: first } = play.decision();
    play.order(runs.undo(id));
    answer(play, 2).say(runs.applyAnswer(id, first?.seq ?? 0));
    expect(play.types()).toEqual([]);
    expect(takeEffect(play).decision().result).toMatchObject({ kind: 'resolved', option: 2 });
  });

  it('can be named: a late click does not withdraw a newer answer, even one with the same time', () => {
    const play = answer(asked());
    const { id, answer: first } = play.decision();
    const late = runs.undo(id, first?.seq);
    play.order(runs.undo(id));
    answer(play, 2);
    expect(play.decision().answer?.effectiveAt).toBe(first?.effectiveAt);
    expect(play.refuse(late).code).toBe('answer-pending');
    play.order(runs.undo(id, play.decision().answer?.seq));
    expect(play.types()).toEqual(['DecisionAnswerWithdrawn']);
  });

  it('must be named by another person, who may not have seen it', () => {
    const play = answer(asked());
    const { id, answer: given } = play.decision();
    const other = { kind: 'operator', name: 'grace' } as const;
    expect(play.refuse(runs.undo(id), other)).toMatchObject({
      code: 'answer-pending',
      hint: `Withdraw that answer first: baton decision undo ${id} --answer ${given?.seq}`,
    });
    play.say(runs.undo(id, given?.seq), other);
    expect(play.types()).toEqual(['DecisionAnswerWithdrawn']);
  });

  it('cannot be withdrawn any more when it is in effect: the refusal names the effect', () => {
    const play = takeEffect(answer(asked()));
    const { id } = play.decision();
    expect(play.refuse(runs.undo(id))).toMatchObject({
      code: 'already-effective',
      message: `the answer of ${BY} took effect at ${play.at}: 1 (Start writing the issue)`,
    });
  });

  it('must exist', () => {
    const play = asked();
    expect(play.refuse(runs.undo(play.decision().id)).code).toBe('no-pending-answer');
    expect(play.refuse(runs.undo('unknown')).code).toBe('no-such-decision');
  });
});

describe('an answer that is no longer possible', () => {
  it('lapses with its decision, which shows that', () => {
    const play = answer(asked());
    const { id } = play.decision();
    play.order(operate('cancel', 'not needed', play.id));
    expect(play.decision(id)).toMatchObject({
      result: { kind: 'withdrawn' },
      lapsed: { option: 1, by: BY, reason: expect.stringContaining('the task was cancelled') },
    });
    expect(play.owed('DecisionAnswered')).toEqual([]);
    expect(play.refuse(runs.undo(id)).code).toBe('decision-withdrawn');
  });

  it('lapses if the question changes, and people are asked again', () => {
    const play = new Play().say(seeMain(MAIN, { by: null })).order(runs.startAgent());
    play.say(runs.started('a1'));
    const move = (to: string, old: string): Play =>
      play.wait(1000).say(seeMain(to.repeat(40), { seenAt: play.at, by: { old, onUpstream: false } }));
    move('a', MAIN);
    const { id } = play.decision();
    answer(play, optionOf(play.decision(), 'approve'));
    move('b', 'a'.repeat(40));
    expect(play.types()).toEqual(['MainMoved', 'DecisionWithdrawn', 'DecisionOpened', 'NotificationRequested']);
    expect(play.newest('NotificationRequested')).toMatchObject({
      kind: 'attention',
      message: `The answer 2 (Keep the commits) of ${BY} did not take effect: the question has changed since`,
    });
    expect(play.decision(id)).toMatchObject({ result: { kind: 'withdrawn' }, lapsed: { option: 2, by: BY } });
    expect(play.owed('DecisionAnswered')).toEqual([]);
    expect(play.decision()).not.toHaveProperty('answer');
    expect(answer(play).decision().answer).toMatchObject({ option: 1 });
  });

  it('lapses if the named agent may no longer do the work', () => {
    const play = asked();
    const { id } = play.decision();
    const handTo = runs.agentPlan({ name: 'ada', role: 'issue-manager' });
    const option = optionOf(play.decision(), 'hand_over');
    const command = { id, option, handTo, effectiveAt: addMs(play.at, 5000) };
    play.order({ kind: 'resolve-decision', command });
    const tasks = new Map([[play.id, { ...play.task, nextRole: 'reviewer' }]]);
    const apply = runs.applyAnswer(id, play.decision().answer?.seq ?? 0);
    const reason = 'agent ada plays issue-manager, but the next role is reviewer';
    expect(decide({ ...play.state, tasks }, apply, system, play.rules, undefined)).toMatchObject({
      ok: true,
      events: [{ type: 'DecisionAnswerWithdrawn', data: { decision_id: id, reason } }],
    });
  });
});

describe('several answers at once', () => {
  /** Two agents that wait for a person. */
  function twoAsked(): { readonly play: Play; readonly ids: readonly [string, string] } {
    const play = new Play().order(runs.startAgent()).order(runs.startAgent(runs.agentPlan(), 'a2'));
    const [first, second] = ['a1', 'a2'].map((id) => {
      play.say(runs.started(id)).say(runs.report({ kind: 'stop' }, id), runs.supervisor(id));
      return play.decision().id;
    });
    return { play, ids: [first ?? '', second ?? ''] };
  }

  const answers = (play: Play, ...given: readonly { readonly id: string; readonly option: number }[]) =>
    ({ kind: 'answer-decisions', command: { answers: given, effectiveAt: addMs(play.at, 5000) } }) as const;

  it('are recorded in one commit', () => {
    const { play, ids } = twoAsked();
    play.order(answers(play, { id: ids[0], option: 1 }, { id: ids[1], option: 2 }));
    expect(play.types()).toEqual(['DecisionAnswered', 'DecisionAnswered']);
    expect(play.answer).toMatchObject([{ id: ids[0] }, { id: ids[1] }]);
    for (const id of ids) play.say(runs.applyAnswer(id, play.decision(id).answer?.seq ?? 0), system);
    expect(ids.map((id) => play.decision(id).result)).toMatchObject([{ option: 1 }, { option: 2 }]);
  });

  it('are all refused if one is, and the refusal names it', () => {
    const { play, ids } = twoAsked();
    expect(play.refuse(answers(play, { id: ids[0], option: 1 }, { id: ids[1], option: 9 }), operator)).toMatchObject({
      code: 'no-such-option',
      message: `decision ${ids[1]} has no option 9 (answer 2 of 2, to decision ${ids[1]}; none was recorded)`,
    });
    expect(play.refuse(answers(play, { id: ids[0], option: 1 }, { id: ids[0], option: 2 }))).toMatchObject({
      code: 'answer-pending',
      message: `decision ${ids[0]} is answered twice in one request`,
    });
  });
});
