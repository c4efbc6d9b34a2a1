import { describe, expect, it } from 'vitest';
import { claim, operator, SHA, system } from '../state/say.cases.ts';
import * as flow from '../state/workflow/say.cases.ts';
import { WorkflowPlay } from './workflow.cases.ts';

const MERGED = 'd'.repeat(40);

/** A validated workflow whose branch changes these paths, as measured before the merge. */
function validated(paths: readonly string[], mode: 'autonomous' | 'semi' = 'autonomous'): WorkflowPlay {
  const play = new WorkflowPlay({}, mode).toMerge().turn('validator');
  const { merge_id: mergeId, head } = play.the('MergeRequested');
  return play.say(flow.measureProtected(play.id, paths, { head, mergeId }));
}

/** No program or setting of the repository may change what the person sees. */
const SAFE_DIFF =
  /See the change: git --no-replace-objects --no-pager --literal-pathspecs diff --no-ext-diff --no-textconv --text \w+ \w+/;

describe('a merge that changes protected paths', () => {
  it('waits for a person, without recommending approval', () => {
    const play = validated(['baton.toml', '.github/workflows/ci.yml']);
    expect(play.owed('MergeRequested')).toEqual([]);
    const decision = play.decision();
    expect(decision).toMatchObject({ source: 'merge', taskId: play.id });
    expect(decision.context).toContain('baton.toml\n  .github/workflows/ci.yml');
    expect(decision.context).toMatch(SAFE_DIFF);
    expect(decision.options.find(({ recommended }) => recommended)?.action).toBe('send_back');
    expect(play.task.flow).toMatchObject({ merge: null, heldMerge: { head: SHA } });
  });

  it('is not prepared before a person approved it', () => {
    const play = new WorkflowPlay().toMerge().turn('validator');
    const { merge_id: mergeId, head } = play.the('MergeRequested');
    play.say(flow.measureProtected(play.id, ['baton.toml'], { head }));
    expect(play.refuse(flow.prepareMerge(mergeId, MERGED), system).message).toMatch(/waits for a person/);
  });

  it('runs after approval with the handoff that waited, and asks once', () => {
    const play = validated(['baton.toml']).resolve(2);
    const { merge_id: mergeId, head } = play.the('MergeRequested');
    play.say(flow.measureProtected(play.id, ['baton.toml'], { head, mergeId })).merge('merged', MERGED);
    expect(play.stands()).toEqual(['COMPLETED', 'closer']);
    expect([play.count('DecisionOpened'), play.newest('MergeAgreed').head]).toEqual([1, SHA]);
  });

  it('asks again about another commit', () => {
    const play = validated(['baton.toml']).resolve(2);
    const { merge_id: mergeId } = play.the('MergeRequested');
    expect(play.task.flow.agreed).toBe(SHA);
    play.merge('conflict');
    play.turn('fixer', { head: MERGED }).check().turn('reviewer').turn('validator');
    const next = play.the('MergeRequested');
    expect(next.merge_id).not.toBe(mergeId);
    play.say(flow.measureProtected(play.id, ['baton.toml'], { head: next.head, mergeId: next.merge_id }));
    expect(play.openDecisions()).toHaveLength(1);
    expect(play.owed('MergeRequested')).toEqual([]);
  });

  it('returns to the fixer with the paths if they deny it', () => {
    const play = validated(['baton.toml']).resolve(1);
    expect(play.stands()).toEqual(['IMPLEMENTATION', 'fixer']);
    expect(play.newest('HandoffDelivered').xml).toContain('baton.toml');
    expect(play.newest('HandoffDropped').from).toBe('validator-agent');
    expect(play.owed('MergeRequested')).toEqual([]);
  });

  it('is blocked if they cancel it', () => {
    const play = validated(['baton.toml']).resolve(3);
    expect(play.stands()[0]).toBe('BLOCKED');
    expect(play.newest('HandoffDropped').from).toBe('validator-agent');
  });

  it('cannot be claimed while the decision is open', () => {
    const play = validated(['baton.toml']);
    expect(play.refuse(claim(play.id, 's9', { role: 'validator' }), operator).code).toBe('held');
  });
});

describe('an ordinary merge', () => {
  it('opens no decision and records no paths', () => {
    const play = validated([]).merge('merged', MERGED);
    expect(play.stands()).toEqual(['COMPLETED', 'closer']);
    expect([play.count('ProtectedMeasured'), play.count('DecisionOpened')]).toEqual([0, 0]);
  });

  it('is not held for the changes of an earlier head', () => {
    const play = new WorkflowPlay().toReview();
    play.say(flow.measureProtected(play.id, ['baton.toml'], { head: 'e'.repeat(40) }));
    play.turn('reviewer').turn('validator');
    const { merge_id: mergeId, head } = play.the('MergeRequested');
    play.say(flow.measureProtected(play.id, [], { head, mergeId })).merge('merged', MERGED);
    expect(play.stands()[0]).toBe('COMPLETED');
    expect(play.task.flow.protected?.paths).toEqual([]);
  });
});
