import { describe, expect, it } from 'vitest';
import type { WorkerPlan } from '../protocol/run-plan.ts';
import * as runs from '../state/runs/say.cases.ts';
import * as say from '../state/say.cases.ts';
import { operator, SHA } from '../state/say.cases.ts';
import * as flow from '../state/workflow/say.cases.ts';
import { buildPacket } from '../state/packet/packet.ts';
import { renderPacket } from '../state/packet/render-packet.ts';
import { Play } from './play.cases.ts';
import { TO_FIXER, WorkflowPlay } from './workflow.cases.ts';

const OTHER = 'f'.repeat(40);
const worker = (role: string, name = role): WorkerPlan => ({
  name: `${name}s`,
  concurrency: 1,
  roles: [role],
  plan: { kind: 'agent', agent: runs.agentPlan({ name, role, requires: ['handoff', 'exit'] }) },
});

describe('the way from a request to a merge', () => {
  it('goes through every phase and gate', () => {
    const play = new WorkflowPlay();
    play.toMerge().turn('validator');
    expect(play.stands()).toEqual(['READY_FOR_MERGE', 'validator']);
    play.merge('merged', OTHER);
    expect(play.stands()).toEqual(['COMPLETED', 'closer']);
    expect(play.phases()).toEqual([
      'DRAFT → DRAFT',
      'DRAFT → IMPLEMENTATION',
      'IMPLEMENTATION → CI_PENDING',
      'CI_PENDING → READY_FOR_REVIEW',
      'READY_FOR_REVIEW → REVIEW',
      'REVIEW → READY_FOR_MERGE',
      'READY_FOR_MERGE → COMPLETED',
    ]);
    expect(play.task.flow.mergeSha).toBe(OTHER);
    expect(play.newest('HandoffDelivered').xml).toContain(`<merge_sha>${OTHER}</merge_sha>`);
    const closer = play.claim('closer');
    play.say(
      say.handoff({
        taskId: play.id,
        from: 'closer-agent',
        senderRole: 'closer',
        to: null,
        phase: 'COMPLETED',
        nextRole: null,
      }),
      closer,
    );
    play.say(play.exit(), closer);
    expect(play.stands()).toEqual(['COMPLETED', null]);
    expect(play.openDecisions()).toEqual([]);
    play.checkReplay();
  });

  it('is done by workers, each in its role; the closer runs although the task is completed', () => {
    const play = new WorkflowPlay();
    play.order(runs.configure(['issue-manager', 'prep', 'closer'].map((role) => worker(role))));
    expect(play.task.claim).toMatchObject({ role: 'issue-manager', holder: 'issue-manager' });
    play.workersTurn('issue-manager');
    expect(play.task.claim?.role).toBe('prep');
    const direct = new WorkflowPlay().toMerge().turn('validator');
    direct.order(runs.configure([worker('closer'), worker('reviewer')])).merge('merged', OTHER);
    expect(direct.task.claim).toMatchObject({ role: 'closer' });
    expect(direct.task.phase).toBe('COMPLETED');
  });

  it('is the same for an existing task', () => {
    const play = new Play({ ciGate: true, mergeGate: true }).order(say.create('A'));
    play.order(runs.configure([{ ...worker('issue-manager'), workflow: true }]));
    expect(play.starts()).toEqual([]);
    play.order({ kind: 'start-workflow', command: { tasks: ['A'], mode: 'supervised' } });
    // As for any other workflow, a person is asked before the first role starts.
    expect(play.decision().title).toContain('requested');
    play.order(runs.resolve(play.decision().id, 1));
    expect(play.state.tasks.get('A')?.claim).toMatchObject({ role: 'issue-manager' });
    play.checkReplay();
  });

  it('does not give a completed task to a worker without a role', () => {
    const play = new WorkflowPlay().toMerge().turn('validator');
    const { roles: _, ...anything } = worker('x');
    play.order(runs.configure([{ ...anything, plan: { kind: 'agent', agent: runs.agentPlan() } }]));
    play.merge('merged', OTHER);
    expect(play.task.claim).toBeNull();
  });
});

describe('only a merge that Baton recorded counts', () => {
  const merging = (): WorkflowPlay => new WorkflowPlay().toMerge().turn('validator');
  const finish = (play: WorkflowPlay, sha: string | null): ReturnType<typeof flow.finishMerge> =>
    flow.finishMerge(play.the('MergeRequested').merge_id, 'merged', sha);
  const THIRD = 'e'.repeat(40);

  it('refuses a merge whose commit is not the recorded one', () => {
    const unprepared = merging();
    expect(unprepared.refuse(finish(unprepared, OTHER), say.system).code).toBe('merge-not-prepared');
    const play = merging();
    play.say(flow.prepareMerge(play.the('MergeRequested').merge_id, OTHER));
    for (const sha of [THIRD, SHA, null])
      expect(play.refuse(finish(play, sha), say.system).code).toBe('merge-not-prepared');
    expect([play.stands(), play.owed('MergeRequested').length]).toEqual([['READY_FOR_MERGE', 'validator'], 1]);
    expect(play.say(finish(play, OTHER)).task.phase).toBe('COMPLETED');
  });

  it('accepts the newest recorded commit if the merge was repeated', () => {
    const play = merging();
    const { merge_id: mergeId } = play.the('MergeRequested');
    play.say(flow.prepareMerge(mergeId, OTHER)).say(flow.prepareMerge(mergeId, THIRD));
    expect(play.refuse(finish(play, OTHER), say.system).code).toBe('merge-not-prepared');
    expect(play.say(finish(play, THIRD)).task.flow.mergeSha).toBe(THIRD);
  });

  it('accepts a merge that moved nothing without a recorded commit', () => {
    const play = merging();
    expect(play.say(finish(play, flow.MAIN)).task).toMatchObject({ phase: 'COMPLETED', flow: { mergeSha: flow.MAIN } });
  });
});

describe('the CI gate', () => {
  const pending = (
    checks = [
      { name: 'unit', run: 'npm test' },
      { name: 'lint', run: 'npm run lint' },
    ],
  ) => new WorkflowPlay({ checks }).turn('issue-manager').turn('prep').turn('implementer', { head: SHA });

  it('requests every check on exactly the commit that the session left', () => {
    const play = pending();
    expect(play.the('ChecksRequested')).toMatchObject({ head: SHA, task_id: play.id });
    expect(play.the('ChecksRequested').checks.map(({ name }) => name)).toEqual(['unit', 'lint']);
    play.check('passed', 'unit');
    expect(play.task.phase).toBe('CI_PENDING');
    play.check('passed', 'lint');
    expect(play.stands()).toEqual(['READY_FOR_REVIEW', 'reviewer']);
    expect(play.owed('ChecksRequested')).toEqual([]);
    play.checkReplay();
  });

  it('sends a failure to the fixer, with the end of the log', () => {
    const play = pending().check('failed', 'unit');
    expect(play.stands()).toEqual(['IMPLEMENTATION', 'fixer']);
    expect(play.newest('HandoffDelivered')).toMatchObject({ from: 'ci-gate', to: 'fixer-agent' });
    expect(play.newest('HandoffDelivered').xml).toContain('<failure type="unit">unit said so</failure>');
    expect(play.owed('ChecksRequested')).toEqual([]);
    play.turn('fixer', { head: OTHER });
    expect(play.the('ChecksRequested').head).toBe(OTHER);
  });

  it('keeps the end of a failed output in the state until the next checks', () => {
    const play = pending().check('passed', 'unit').check('cancelled', 'lint');
    expect(play.task.flow.checks?.failures).toEqual({ lint: { exitCode: 1, output: 'lint said so' } });
    const { checks_id } = play.the('ChecksRequested');
    const failed = flow.finishCheck(checks_id, 'lint', 'failed');
    const output = `${'x'.repeat(5000)}\u{1F600}the end`;
    play.say({ ...failed, command: { ...failed.command, output } } as typeof failed); // oxlint-disable-line typescript/no-unsafe-type-assertion
    const kept = play.task.flow.checks?.failures?.['lint']?.output ?? '';
    expect(kept.length).toBeLessThanOrEqual(2000);
    expect(kept.endsWith('\u{1F600}the end')).toBe(true);
    play.turn('fixer', { head: OTHER }).check('passed', 'unit');
    expect(play.task.flow.checks?.failures).toBeUndefined();
  });

  it('stays if a check was cancelled, until it is run again', () => {
    const play = pending().check('passed', 'unit').check('cancelled', 'lint');
    expect(play.task.phase).toBe('CI_PENDING');
    expect(play.check('passed', 'lint').task.phase).toBe('READY_FOR_REVIEW');
  });

  it('records a repeated outcome once, and ignores outcomes of unrequested checks', () => {
    const play = pending();
    const { checks_id: checksId } = play.the('ChecksRequested');
    play.check('passed', 'unit');
    expect(play.say(flow.finishCheck(checksId, 'unit', 'failed')).types()).toEqual([]);
    expect(play.say(flow.finishCheck(checksId, 'other', 'failed')).types()).toEqual([]);
    expect(play.say(flow.finishCheck('nobody', 'unit', 'failed')).types()).toEqual([]);
    play.check('failed', 'lint');
    expect(play.say(flow.finishCheck(checksId, 'lint', 'failed')).types()).toEqual([]);
  });

  it('records checks of an outdated head without effect', () => {
    const play = pending();
    const { checks_id: checksId } = play.the('ChecksRequested');
    play.check('failed', 'unit').turn('fixer', { head: OTHER });
    expect(play.say(flow.finishCheck(checksId, 'lint', 'passed')).types()).toEqual([]);
    const moved = pending();
    moved.order(say.update('blocked', { task_id: moved.id, notes: 'enough' })).check('passed', 'unit');
    expect(moved.check('passed', 'lint').task.phase).toBe('BLOCKED');
    expect(moved.owed('ChecksRequested')).toEqual([]);
  });

  it('waits for external checks if it has no command, and blocks a task without a commit', () => {
    const others = pending([{ name: 'build' } as never]);
    expect(others.owed('ChecksRequested')).toEqual([]);
    const { checks_id } = others.newest('ChecksRequested');
    expect(others.say(flow.finishCheck(checks_id, 'build', 'passed')).types()).toContain('PhaseMoved');
    const bare = new Play({ ciGate: true, checks: [{ name: 'unit', run: 'npm test' }] });
    const reason = (): string | undefined => bare.state.tasks.get('A')?.blocked?.reason;
    bare.order(say.create('A', { phase: 'CI_PENDING' }));
    expect(reason()).toBe('there is no commit to check: no thought record names one');
    bare.order(say.operate('unblock'));
    expect(reason()).toBe('there is no commit to check: no thought record names one');
  });

  it('refuses a manual claim that leads there without a record, before anything is moved', () => {
    const bare = new WorkflowPlay().turn('issue-manager').turn('prep');
    const caller = bare.claim('implementer');
    const way = { to: 'reviewer-agent', phase: 'CI_PENDING', nextRole: 'reviewer' } as const;
    const sent = say.handoff({ taskId: bare.id, from: 'implementer-agent', senderRole: 'implementer', ...way });
    expect(bare.refuse(sent).message).toBe('cannot complete: missing thought_record');
    bare.say(sent, caller);
    expect(bare.refuse(bare.exit(), caller).message).toBe('cannot complete: missing thought_record');
    bare.say(say.record({ task_id: bare.id }), caller).say(bare.exit(), caller);
    expect(bare.the('ChecksRequested').head).toBe(SHA);
  });

  it('checks a task again that was blocked in the meantime', () => {
    const play = pending();
    play.order(say.update('blocked', { task_id: play.id, notes: 'wait' })).order(say.operate('unblock', 'go', play.id));
    expect(play.count('ChecksRequested')).toBe(2);
    expect(play.owed('ChecksRequested')).toHaveLength(1);
  });
});

describe('the merge gate', () => {
  it("keeps the validator's handoff until the merge", () => {
    const play = new WorkflowPlay().toMerge().turn('validator');
    expect(play.the('MergeRequested')).toMatchObject({
      head: SHA,
      branch: 'feature/a',
      method: 'squash',
      task_id: play.id,
    });
    expect(play.task.claim).toBeNull();
    expect(play.refuse(say.claim(play.id, 's9', { role: 'validator' })).code).toBe('merging');
    expect(play.newest('AgentSessionCompleted').next_phase).toBeNull();
    expect(
      play
        .say(flow.prepareMerge(play.the('MergeRequested').merge_id, OTHER))
        .say(flow.finishMerge(play.the('MergeRequested').merge_id, 'merged', OTHER))
        .types()
        .slice(0, 3),
    ).toEqual(['MergeFinished', 'HandoffDelivered', 'PhaseMoved']);
  });

  it.each([
    ['conflict', 'merge_conflict'],
    ['failed', 'merged_tree'],
  ] as const)('sends a merge that ends in %s to the fixer', (outcome, type) => {
    const play = new WorkflowPlay().toMerge().turn('validator').merge(outcome);
    expect(play.stands()).toEqual(['IMPLEMENTATION', 'fixer']);
    expect(play.newest('HandoffDropped')).toMatchObject({ to: 'closer-agent' });
    expect(play.newest('HandoffDelivered')).toMatchObject({ from: 'validator-agent', to: 'fixer-agent' });
    expect(play.newest('HandoffDelivered').xml).toContain(`type="${type}"`);
    expect(play.task.flow).toMatchObject({ merge: null, approval: null, rounds: 1 });
  });

  it('blocks a task that cannot be merged and opens a decision; the validator retries', () => {
    const play = new WorkflowPlay().toMerge().turn('validator').merge('refused');
    expect(play.task.blocked).toEqual({ from: 'READY_FOR_MERGE', reason: 'merge refused: refused' });
    expect(play.decision()).toMatchObject({ source: 'merge', taskId: play.id });
    play.resolve(1);
    expect(play.stands()).toEqual(['READY_FOR_MERGE', 'validator']);
    expect(play.turn('validator').the('MergeRequested').head).toBe(SHA);
  });

  it('merges no commit without a record', () => {
    const play = new Play({ mergeGate: true }).order(
      say.create('A', { phase: 'READY_FOR_MERGE', nextRole: 'validator' }),
    );
    play.say(say.claim('A', 's1', { role: 'validator' }));
    const way = { to: 'closer-agent', phase: 'COMPLETED', nextRole: 'closer' } as const;
    play.say(say.handoff({ from: 'validator-agent', senderRole: 'validator', ...way }), say.session());
    expect(play.refuse(say.exit('READY_FOR_MERGE'), say.session()).code).toBe('writeback-required');
    expect(play.refuse(flow.askMerge('A'), say.session()).code).toBe('writeback-required');
  });

  it('merges only the approved commit', () => {
    const play = new WorkflowPlay().toMerge();
    const caller = play.claim('validator');
    play.say(
      say.handoff({
        taskId: play.id,
        from: 'validator-agent',
        senderRole: 'validator',
        to: 'closer-agent',
        phase: 'COMPLETED',
        nextRole: 'closer',
      }),
      caller,
    );
    const moved = say.exit(play.task.phase, 'completed', { measured: flow.measuredAt(OTHER) });
    expect(play.refuse(moved, caller).code).toBe('approval-void');
    // A record of the new commit makes its holder an author.
    play.say(say.record({ task_id: play.id, commit_sha: OTHER }), caller);
    expect(play.refuse(play.exit(OTHER), caller).code).toBe('separation-of-duties');
    // The holder hands the task back, and it is reviewed again.
    play.say(say.handoff({ taskId: play.id, from: 'validator-agent', senderRole: 'validator', ...TO_FIXER }), caller);
    expect(play.say(play.exit(OTHER), caller).stands()).toEqual(['IMPLEMENTATION', 'fixer']);
    play.turn('fixer', { head: OTHER }).check().turn('reviewer').turn('validator', { holder: 'second' });
    expect(play.the('MergeRequested').head).toBe(OTHER);
  });

  it('can be requested manually, once, in its phase', () => {
    const play = new WorkflowPlay().toReview();
    expect(play.refuse(flow.askMerge(play.id)).code).toBe('not-mergeable');
    play.turn('reviewer').order(flow.askMerge(play.id));
    expect(play.the('MergeRequested').merge_id).toBe('m1');
    expect(play.order({ kind: 'request-merge', command: { id: play.id, mergeId: 'm2' } }).types()).toEqual([]);
    expect(play.merge('merged', OTHER).stands()).toEqual(['COMPLETED', null]);
    expect(play.refuse({ kind: 'request-merge', command: { id: 'none', mergeId: 'm3' } }).code).toBe('no-such-task');
    const held = new WorkflowPlay().toMerge();
    held.claim('validator');
    expect(held.refuse(flow.askMerge(held.id), operator).code).toBe('already-claimed');
  });

  it('is requested by the holder, whose claim ends with it', () => {
    const play = new WorkflowPlay().toMerge();
    const caller = play.claim('validator');
    expect(play.refuse(flow.askMerge(play.id), caller).message).toBe('cannot complete: missing handoff');
    play.say(
      say.handoff({
        taskId: play.id,
        from: 'validator-agent',
        senderRole: 'validator',
        to: 'closer-agent',
        phase: 'COMPLETED',
        nextRole: 'closer',
        xml: flow.validated,
      }),
      caller,
    );
    play.say(flow.askMerge(play.id), caller);
    expect(play.types()).toEqual(['MergeRequested', 'ClaimCompleted', 'VerdictUnproven']);
    expect(play.merge('merged', OTHER).stands()).toEqual(['COMPLETED', 'closer']);
    play.checkReplay();
  });

  it.each([
    ['reinstate', 'IMPLEMENTATION'],
    ['cancel', 'BLOCKED'],
  ] as const)('is cancelled if the person moves the task elsewhere: %s', (action, phase) => {
    const play = new WorkflowPlay().toMerge().turn('validator');
    const { merge_id: mergeId } = play.the('MergeRequested');
    play.order(say.operate(action, 'wrong idea', play.id));
    expect(play.types()).toEqual(expect.arrayContaining(['MergeFinished', 'HandoffDropped']));
    expect(play.owed('MergeRequested')).toEqual([]);
    // A later outcome has no effect.
    expect(play.say(flow.finishMerge(mergeId, 'merged', OTHER)).types()).toEqual([]);
    expect(play.task.phase).toBe(phase);
    expect(play.refuse(flow.askMerge(play.id)).code).toBe('not-mergeable');
    play.checkReplay();
  });
});

describe('rounds back to the fixer', () => {
  const round = (play: WorkflowPlay, text: string): WorkflowPlay =>
    play.turn('reviewer', { ...TO_FIXER, xml: flow.changesRequested(text) });
  const again = (play: WorkflowPlay, i: number): WorkflowPlay =>
    play.turn('fixer', { head: String(i).repeat(40) }).check();

  it('are three, from any role; then a person decides', () => {
    const play = new WorkflowPlay().turn('issue-manager').turn('prep').turn('implementer', { head: SHA });
    play
      .check('failed')
      .turn('fixer', { head: '1'.repeat(40) })
      .check();
    again(round(play, 'one'), 2);
    again(round(play, 'two'), 3);
    expect(play.openDecisions()).toEqual([]);
    round(play, 'three');
    expect(play.openDecisions()).toEqual(['Task needs attention: W-00001 (too many rounds)']);
    expect(play.decision().context).toContain('4 times; 3 are allowed');
    expect(play.refuse(say.claim(play.id, 's99', { role: 'fixer' })).code).toBe('held');
    play.resolve(1);
    expect(play.openDecisions()).toEqual([]);
    again(play, 4);
    round(play, 'four').resolve(2);
    expect(play.task.blocked).toMatchObject({ reason: 'cancelled: decision: cancel', isCancelled: true });
    expect(play.openDecisions()).toEqual([]);
  });

  it('end sooner if the same finding comes back unchanged twice', () => {
    const play = new WorkflowPlay({ reviewRounds: 9 }).toReview();
    again(round(play, 'same'), 1);
    again(round(play, 'same'), 2);
    expect(play.openDecisions()).toEqual([]);
    round(play, 'same');
    expect(play.decision().context).toContain('a.ts:1 same');
    const other = new WorkflowPlay({ reviewRounds: 9 }).toReview();
    for (const [i, text] of ['same', 'same', 'new', 'same'].entries()) again(round(other, text), i);
    expect(other.openDecisions()).toEqual([]);
  });

  it('are counted from zero if the task is reinstated', () => {
    const play = new WorkflowPlay().toReview();
    round(play, 'x').order(say.operate('reinstate', 'again', play.id));
    expect(play.task.flow).toMatchObject({
      rounds: 0,
      findings: {},
      retries: 0,
      approval: null,
      authors: ['agent:implementer'],
    });
  });
});

describe('separation of duties', () => {
  it('keeps an author from approving the work, whatever the role of the claim', () => {
    const play = new WorkflowPlay()
      .turn('issue-manager')
      .turn('prep')
      .turn('implementer', { head: SHA, holder: 'ada' });
    play.check();
    for (const role of [{ role: 'reviewer' }, {}])
      expect(play.refuse(say.claim(play.id, 's9', { holder: 'ada', ...role }), say.system).code).toBe(
        'separation-of-duties',
      );
    play.turn('reviewer');
    expect(play.refuse(say.claim(play.id, 's9', { holder: 'ada', role: 'validator' }), say.system).code).toBe(
      'separation-of-duties',
    );
  });

  it.each([
    ['to the merge', { to: 'validator-agent', phase: 'READY_FOR_MERGE', nextRole: 'validator' }],
    ['to a role of the runbook', { to: 'security-agent', phase: 'READY_FOR_REVIEW', nextRole: 'security' }],
  ] as const)('keeps a judging session from passing its own commit on %s', (_, way) => {
    const play = new WorkflowPlay().toReview();
    const caller = play.claim('reviewer');
    const from = { taskId: play.id, from: 'reviewer-agent', senderRole: 'reviewer' };
    // A handoff sent before the commit was recorded is refused when the session ends; one sent later, at once.
    play.say(say.handoff({ ...from, ...way }), caller);
    play.say(say.record({ task_id: play.id, commit_sha: OTHER }), caller);
    expect(play.refuse(play.exit(OTHER), caller).code).toBe('separation-of-duties');
    // The commit may stay if another session continues from it, and it is checked and reviewed.
    play.say(say.handoff({ ...from, ...TO_FIXER }), caller);
    expect(play.say(play.exit(OTHER), caller).stands()).toEqual(['IMPLEMENTATION', 'fixer']);
  });

  it('applies to people: the commit recorded under their claim is checked, approved and merged', () => {
    const play = new WorkflowPlay().toReview().turn('reviewer', TO_FIXER);
    const caller = play.claim('fixer', 'ann');
    play.say(say.record({ task_id: play.id, commit_sha: OTHER }), caller);
    const way = { to: 'reviewer-agent', phase: 'CI_PENDING', nextRole: 'reviewer' } as const;
    play.say(say.handoff({ taskId: play.id, from: 'fixer-agent', senderRole: 'fixer', ...way }), caller);
    play.say(play.exit(), caller);
    expect(play.the('ChecksRequested').head).toBe(OTHER);
    play.check().turn('reviewer').turn('validator');
    expect(play.the('MergeRequested').head).toBe(OTHER);
  });

  it('keeps a worker from reviewing its own work, unless the runbook allows it', () => {
    const made = (rules: object) => {
      const play = new WorkflowPlay(rules).turn('issue-manager').turn('prep');
      play.turn('implementer', { head: SHA, holder: 'ada' }).check();
      return play.order(runs.configure([worker('reviewer', 'ada')])).task.claim?.holder;
    };
    expect(made({})).toBeUndefined();
    expect(made({ sameAgentMayReview: true })).toBe('ada');
  });
});

describe('checkpoints', () => {
  const stages = (mode: 'autonomous' | 'semi' | 'supervised') => {
    const play = new WorkflowPlay({}, mode);
    const seen: string[] = [];
    const pass = (): void => {
      if (play.task.flow.held === null) return;
      seen.push(play.task.flow.held.stage);
      play.resolve(1);
    };
    pass();
    const steps = [
      () => play.turn('issue-manager'),
      () => play.turn('prep'),
      () => play.turn('implementer', { head: SHA }).check(),
      () => play.turn('reviewer', { ...TO_FIXER, xml: flow.changesRequested() }),
      () => play.turn('fixer', { head: OTHER }).check(),
      () => play.turn('reviewer'),
      () => play.turn('validator').merge('merged', OTHER),
    ];
    for (const step of steps) {
      step();
      pass();
    }
    expect(play.task.phase).toBe('COMPLETED');
    play.checkReplay();
    return seen;
  };

  it('are none, four, or one at every stage', () => {
    expect(stages('autonomous')).toEqual([]);
    expect(stages('semi')).toEqual(['ready for work', 'ready for review', 'fix decision', 'ready for review', 'merge']);
    expect(stages('supervised')).toEqual([
      'requested',
      'issue written',
      'ready for work',
      'ready for review',
      'fix decision',
      'ready for review',
      'merge',
      'merged',
    ]);
  });

  it('come before any claim, and a denial blocks the task', () => {
    const play = new WorkflowPlay({}, 'semi').order(runs.configure([worker('issue-manager'), worker('implementer')]));
    play.workersTurn('issue-manager').turn('prep');
    expect(play.task.claim).toBeNull();
    expect(play.task.flow.held?.stage).toBe('ready for work');
    expect(play.owed('NotificationRequested').map(({ title }) => title)).toContain(
      'Task needs attention: W-00001 (ready for work)',
    );
    play.order({ kind: 'resolve-decision', command: { id: play.decision().id, option: 2, message: 'not now' } });
    expect(play.task.blocked?.reason).toBe('decision: deny: not now');
    // A person who unblocks the task after a denial is not asked again.
    play.order(say.operate('unblock', 'go', play.id));
    expect(play.task.claim?.role).toBe('implementer');
  });

  it('come before any claim if no checks are required, too', () => {
    const play = new WorkflowPlay({ ciGate: false, checks: [] }, 'semi').order(
      runs.configure([worker('implementer'), worker('reviewer')]),
    );
    play.turn('issue-manager').turn('prep').resolve(1).workersTurn('implementer');
    expect([play.task.flow.held?.stage, play.task.claim]).toEqual(['ready for review', null]);
    expect(play.resolve(1).task.claim?.role).toBe('reviewer');
  });

  it('do not hold a task that a person moved', () => {
    const play = new WorkflowPlay({}, 'semi').turn('issue-manager').turn('prep');
    play
      .order(say.update('blocked', { task_id: play.id, notes: 'wait' }))
      .order(say.operate('unblock', 'yes', play.id));
    expect(play.task.flow.held).toBeNull();
    expect(play.openDecisions()).toEqual([]);
  });
});

describe('a question in the result of a session', () => {
  const at = '2026-01-01T00:00:00Z';
  const issues = [
    { type: 'question', description: 'May the format change?' },
    { type: 'concern', description: 'The parser is slow.' },
  ] as const;
  const ask = (play: WorkflowPlay, role: 'implementer' | 'fixer' = 'implementer'): WorkflowPlay => {
    const caller = play.wait(1000).claim(role);
    for (const message of ['ended', 'ended after a correction']) {
      const log = ['began', message].map((text) => ({ level: 'info' as const, message: text, timestamp: at }));
      const result = { version: '1', task_id: 'T001', status: 'completed', files_modified: [], log, issues } as const;
      play.say({ kind: 'submit-result', command: { result: { ...result, completed_at: at } } }, caller);
    }
    play.say(say.record({ task_id: play.id, commit_sha: SHA }), caller);
    const route = { from: `${role}-agent`, senderRole: role, to: 'reviewer-agent' } as const;
    play.say(say.handoff({ taskId: play.id, ...route, phase: 'CI_PENDING', nextRole: 'reviewer' }), caller);
    return play.say(play.exit(SHA), caller);
  };

  it('reaches a person when the session ends, and the work goes on', () => {
    const play = ask(new WorkflowPlay().turn('issue-manager').turn('prep'));
    expect(play.openDecisions()).toEqual(['The result of a session asks: W-00001']);
    expect(play.decision()).toMatchObject({
      source: 'prompt',
      context: expect.stringContaining('May the format change?'),
    });
    expect(play.decision().context).not.toContain('slow');
    expect(play.check().turn('reviewer').stands()).toEqual(['READY_FOR_MERGE', 'validator']);
    play.checkReplay();
  });

  it('is replaced by a corrected result of the same session, and by that alone', () => {
    const play = ask(new WorkflowPlay().turn('issue-manager').turn('prep'));
    expect(play.openDecisions()).toHaveLength(1);
    ask(play.check('failed'), 'fixer');
    expect(play.openDecisions()).toHaveLength(2);
  });

  it('is answered with a note, which the next session reads', () => {
    const play = ask(new WorkflowPlay().turn('issue-manager').turn('prep'));
    const { id } = play.decision();
    play.order({ kind: 'resolve-decision', command: { id, option: 1, message: 'Only the long form.' } });
    expect(renderPacket(buildPacket(play.state, play.task)).text).toContain('Only the long form.');
  });
});

describe('a task that stalls', () => {
  const HOUR = 3_600_000;

  it('is reported when its time in the phase is over', () => {
    const play = new WorkflowPlay({ stallMs: { DRAFT: HOUR } });
    const { timer_id: timerId, due } = play.the('TimerSet');
    expect(Date.parse(due) - Date.parse(play.at)).toBe(HOUR);
    play.wait(HOUR).say(runs.fire(timerId));
    expect(play.openDecisions()).toEqual(['Task needs attention: W-00001 has stalled']);
    expect(play.decision().context).toContain('nobody holds it');
    play.resolve(1);
    expect(play.task.phase).toBe('DRAFT');
  });

  it('still asks about a block: a notice is not a question', () => {
    const play = new WorkflowPlay({ stallMs: { IMPLEMENTATION: HOUR } }).turn('issue-manager').turn('prep');
    const { timer_id: timerId } = play.the('TimerSet');
    play.wait(HOUR).say(runs.fire(timerId));
    play.turn('implementer', {
      to: 'orchestrator',
      phase: 'BLOCKED',
      nextRole: 'implementer',
      xml: flow.failure(false),
    });
    expect(play.openDecisions()).toEqual([
      'Task needs attention: W-00001 has stalled',
      'Task needs attention: W-00001 is blocked',
    ]);
  });

  it('gets a new timer in each phase, and the old one is cancelled', () => {
    const play = new WorkflowPlay({ stallMs: { DRAFT: HOUR, IMPLEMENTATION: 2 * HOUR } }).turn('issue-manager');
    expect(play.owed('TimerSet')).toHaveLength(1);
    play.turn('prep');
    expect(play.the('TimerSet').purpose).toMatchObject({ kind: 'stall', phase: 'IMPLEMENTATION' });
    play.turn('implementer', { head: SHA });
    expect(play.owed('TimerSet')).toEqual([]);
  });
});

describe('an error', () => {
  const fail = (play: WorkflowPlay, recoverable: boolean): WorkflowPlay =>
    play.turn('implementer', {
      to: 'orchestrator',
      phase: 'BLOCKED',
      nextRole: 'implementer',
      xml: flow.failure(recoverable),
    });

  it('that is recoverable is retried after 1, 2 and 4 seconds; then a person is asked', () => {
    const play = new WorkflowPlay().turn('issue-manager').turn('prep');
    for (const ms of [1000, 2000, 4000]) {
      fail(play, true);
      expect(play.stands()).toEqual(['BLOCKED', 'implementer']);
      expect(play.openDecisions()).toEqual([]);
      const { timer_id: timerId, due } = play.the('TimerSet');
      expect(Date.parse(due) - Date.parse(play.at)).toBe(ms);
      play.wait(ms).say(runs.fire(timerId));
      expect(play.stands()).toEqual(['IMPLEMENTATION', 'implementer']);
    }
    fail(play, true);
    expect(play.owed('TimerSet')).toEqual([]);
    expect(play.openDecisions()).toEqual(['Task needs attention: W-00001 is blocked']);
    play.resolve(1).turn('implementer', { head: SHA });
    expect(play.task.flow.retries).toBe(0);
    play.checkReplay();
  });

  it('that is not recoverable opens a decision at once', () => {
    const play = fail(new WorkflowPlay().turn('issue-manager').turn('prep'), false);
    expect(play.task.phase).toBe('BLOCKED');
    expect(play.decision()).toMatchObject({ source: 'error' });
    play.resolve(2);
    expect(play.task.phase).toBe('BLOCKED');
  });

  it('of a task that was moved meanwhile is not retried', () => {
    const play = fail(new WorkflowPlay().turn('issue-manager').turn('prep'), true);
    const { timer_id: timerId } = play.the('TimerSet');
    play.order(say.operate('unblock', 'now', play.id)).claim('implementer');
    expect(play.say(runs.fire(timerId)).types()).toEqual(['TimerFired']);
  });
});
