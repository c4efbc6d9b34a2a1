import { describe, expect, it } from 'vitest';
import type { Judge } from '../protocol/handoff/judge.ts';
import type { Caller } from '../state/caller.ts';
import * as runs from '../state/runs/say.cases.ts';
import * as say from '../state/say.cases.ts';
import * as flow from '../state/workflow/say.cases.ts';
import { diffCommand } from './merge.ts';
import { WorkflowPlay } from './workflow.cases.ts';

const MAIN = 'c'.repeat(40);
const SEPARATED: Judge = { stream: true, shell: true, unseparated: 'ask' };

/** A workflow in review by an agent that Baton started with this record. */
class ReviewPlay extends WorkflowPlay {
  readonly agentId: string;
  readonly reviewer: Caller & { kind: 'session' };

  constructor(judge?: Judge, run = 'claude') {
    super({ unseparated: 'accept', maxAgents: 5 });
    this.toReview();
    Object.assign(this.rules, { unseparated: 'ask' });
    const plan = { kind: 'agent', agent: { ...runs.agentPlan({ name: 'reviewer', role: 'reviewer' }), run } } as const;
    this.say(runs.configure([{ name: 'reviewers', roles: ['reviewer'], workflow: true, concurrency: 1, plan }]));
    const { sessionId, epoch } = this.task.claim ?? { sessionId: '', epoch: 0 };
    this.agentId = this.agent().id;
    this.say(flow.prepare(this.id, epoch, MAIN));
    const process = { supervisor: 'supervisor', process: 'process' };
    const record = judge === undefined ? {} : { judge };
    this.say({ kind: 'report-started', command: { agentId: this.agentId, start: 1, ...process, ...record } });
    this.reviewer = say.session(sessionId, this.id, epoch);
  }

  get matched(): Caller & { kind: 'session' } {
    return { ...this.reviewer, matched: this.agentId };
  }

  approval(): Parameters<typeof say.handoff>[0] {
    return {
      taskId: this.id,
      from: 'reviewer-agent',
      senderRole: 'reviewer',
      to: 'validator-agent',
      phase: 'READY_FOR_MERGE',
      nextRole: 'validator',
    };
  }

  approve(caller: Caller): this {
    return this.say(say.result(), caller).say(say.handoff(this.approval()), caller).say(this.exit(), caller);
  }
}

describe('the approval of a separated judge', () => {
  it('counts alone if its supervisor matched it', () => {
    const play = new ReviewPlay(SEPARATED);
    play.approve(play.matched);
    expect(play.stands()).toEqual(['READY_FOR_MERGE', 'validator']);
    expect(play.openDecisions()).toEqual([]);
    expect(play.entries.map(({ type }) => type)).not.toContain('VerdictUnproven');
  });

  it('is refused without the attestation of the supervisor, and opens no decision', () => {
    const play = new ReviewPlay(SEPARATED);
    for (const caller of [play.reviewer, { ...play.reviewer, matched: 'another' }]) {
      expect(play.refuse(say.handoff(play.approval()), caller)).toMatchObject({
        code: 'unmatched-call',
        message: 'Use the tool `handoff_send`',
      });
      expect(play.refuse(play.exit(), caller).message).toBe('Use the tool `exit_signal`');
      expect(play.refuse(say.result(), caller).message).toBe('Use the tool `result_submit`');
      expect(play.refuse(runs.signal('escalate', 'merge it'), caller).message).toBe('Use the tool `agent_signal`');
    }
    expect(play.openDecisions()).toEqual([]);
    expect(play.stands()).toEqual(['REVIEW', 'reviewer']);
  });
});

describe('an approval that cannot be proven', () => {
  it.each([
    ['a client without a matched stream', { ...SEPARATED, stream: false, shell: false }, 'cannot prove who sent'],
    ['a plain command', undefined, 'cannot prove who sent'],
  ] as const)('moves nothing before a person confirms it: %s', (_, judge, reason) => {
    const play = new ReviewPlay(judge);
    play.approve(play.reviewer);
    expect(play.stands()).toEqual(['REVIEW', 'reviewer']);
    expect(play.task.flow.approval).toBe(null);
    expect(play.decision().context).toContain(reason);
    expect(play.decision().context).toContain('review.unseparated');
    expect(play.openDecisions()).toHaveLength(1);
    expect(play.refuse(say.claim(play.id, 's99', { role: 'reviewer' })).code).toBe('held');
    play.resolve(1);
    expect(play.stands()).toEqual(['READY_FOR_MERGE', 'validator']);
    expect(play.task.flow.approval).toMatchObject({ principal: 'agent:reviewer', unproven: 'confirmed' });
    play.checkReplay();
  });

  it('names the sandbox if the client made the call itself and its shell is not separate', () => {
    const play = new ReviewPlay({ ...SEPARATED, shell: false });
    play.approve(play.matched);
    expect(play.decision().context).toContain('no sandbox separates its client');
  });

  it('shows the whole change of the task, and recommends no answer', () => {
    const play = new ReviewPlay();
    play.approve(play.reviewer);
    const { context, options } = play.decision();
    expect(context).toContain(`See the change: ${diffCommand(MAIN, say.SHA)}`);
    expect(options.filter(({ recommended }) => recommended)).toEqual([]);
  });

  it('is dropped if the person has the work judged again, and sent back with a note', () => {
    const again = new ReviewPlay();
    again.approve(again.reviewer);
    again.resolve(3);
    expect(again.types()).toContain('HandoffDropped');
    expect(again.task).toMatchObject({ phase: 'REVIEW', flow: { approval: null, held: null } });
    const back = new ReviewPlay();
    back.approve(back.reviewer);
    back.order({ kind: 'resolve-decision', command: { id: back.decision().id, option: 2, message: 'test it' } });
    expect(back.stands()).toEqual(['IMPLEMENTATION', 'fixer']);
  });

  it('counts and is marked if the configuration at the start of the process accepts it', () => {
    const play = new ReviewPlay({ stream: false, shell: false, unseparated: 'accept' });
    play.approve(play.reviewer);
    expect(play.stands()).toEqual(['READY_FOR_MERGE', 'validator']);
    expect(play.task.flow.approval).toMatchObject({ unproven: 'accepted' });
    expect(play.newest('VerdictUnproven')).toMatchObject({ because: 'client', held: null });
    play.checkReplay();
  });

  it('is no rejection: work that is sent back needs no confirmation', () => {
    const play = new ReviewPlay();
    const rejected = { ...play.approval(), to: 'fixer-agent', phase: 'IMPLEMENTATION', nextRole: 'fixer' } as const;
    play.say(say.result(), play.reviewer).say(say.handoff(rejected), play.reviewer).say(play.exit(), play.reviewer);
    expect(play.stands()).toEqual(['IMPLEMENTATION', 'fixer']);
    expect(play.openDecisions()).toEqual([]);
  });
});

it('trusts a built-in role', () => {
  const play = new ReviewPlay(undefined, 'builtin:reviewer');
  play.approve(play.reviewer);
  expect(play.stands()).toEqual(['READY_FOR_MERGE', 'validator']);
});
