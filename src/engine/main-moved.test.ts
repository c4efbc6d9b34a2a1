import { describe, expect, it } from 'vitest';
import { LEDGER_LIMITS } from '../ledger/format/limits.ts';
import { isTaskNumbers } from '../ledger/format/task-numbers.ts';
import { isDue } from '../effects/due.ts';
import type { Caller } from '../state/caller.ts';
import { findMain, isMainUnaccepted } from '../state/main/main-branch.ts';
import type { EffectOf } from '../state/runs/effect.ts';
import * as runs from '../state/runs/say.cases.ts';
import { claim, create, release, SHA } from '../state/say.cases.ts';
import { finishMerge, MAIN, prepareMerge, seeMain } from '../state/workflow/say.cases.ts';
import { diffCommand } from './merge.ts';
import { Play } from './play.cases.ts';
import { WorkflowPlay } from './workflow.cases.ts';

const A = 'a'.repeat(40);
const B = 'b'.repeat(40);
const UPSTREAM = 'digest of an address';

/** The main branch was observed while no session was live. */
function seen(): Play {
  return new Play().say(seeMain(MAIN, { by: null, upstream: UPSTREAM }));
}

/** A running agent without a sandbox. */
function busy(): Play {
  const play = seen().order(runs.startAgent());
  return play.say(runs.started(play.agent().id));
}

/** An agent that is about to start on a task, in its own worktree. */
function onTask(agent = runs.agentPlan()): Play {
  const worker = { name: 'w', concurrency: 1, plan: { kind: 'agent', agent } } as const;
  return seen()
    .order(runs.configure([worker]))
    .order(create('T1'));
}

function now(play: Play): string {
  return play.wait(1000).at;
}

describe('a move of the main branch that Baton did not make', () => {
  it('is not recorded at the first observation, nor if nothing moved', () => {
    const play = seen();
    expect(play.newest('MainMoved')).toMatchObject({ branch: 'main', old: null, new: MAIN });
    expect(play.say(seeMain(MAIN)).types()).toEqual([]);
    expect(play.state.decisions.size).toBe(0);
  });

  it('is recorded without a decision while no session is live', () => {
    const play = seen();
    expect(play.say(seeMain(A)).types()).toEqual(['MainMoved']);
    expect(play.newest('MainMoved')).toMatchObject({ old: MAIN, new: A, fast_forward: true, sessions: [] });
    expect(play.say(seeMain(B, { by: { old: A } })).types()).toEqual(['MainMoved']);
    expect(isMainUnaccepted(play.state)).toBe(false);
    play.checkReplay();
  });

  it.each([
    ['a session is alive, and the commits are not upstream', busy, { onUpstream: false }, true],
    ['a session is alive, and there is no upstream', busy, { onUpstream: null }, true],
    ['a session is alive, and the commits are upstream', busy, { onUpstream: true }, false],
    ['history was rewritten, with nobody at work', seen, { fastForward: false }, true],
    ['history was rewritten, as upstream', busy, { fastForward: false, onUpstream: true }, true],
  ])('opens a decision, or not: %s', (_, begin, by, asks) => {
    const play = begin();
    play.say(seeMain(A, { upstream: UPSTREAM, by }));
    expect(play.types()).toEqual(['MainMoved', ...(asks ? ['DecisionOpened', 'NotificationRequested'] : [])]);
    expect(isMainUnaccepted(play.state)).toBe(asks);
    play.checkReplay();
  });

  it('is suspect if a session was live since the branch was last observed, and not if it ended before', () => {
    const ended = (): Play => {
      const play = busy();
      return play.wait(1000).say(runs.exited(play.agent().id));
    };
    const late = ended();
    const before = late.at;
    expect(late.say(seeMain(A, { seenAt: before })).types()).toContain('DecisionOpened');
    const calm = ended();
    expect(calm.say(seeMain(A, { seenAt: now(calm) })).types()).toEqual(['MainMoved']);
  });

  it('is suspect even while the start of an agent is not recorded yet', () => {
    const play = seen().order(runs.startAgent());
    expect(play.say(seeMain(A, { seenAt: now(play) })).types()).toContain('DecisionOpened');
  });

  it.each([
    ['bubblewrap', false],
    ['container', false],
    ['user', false],
    // Agents in these modes may write the repository's git directory.
    ['sandbox-exec', true],
    ['none', true],
  ] as const)('opens a decision, or not, after sessions in the sandbox %s: %s', (kind, asks) => {
    const play = onTask();
    play.say(runs.started(play.agent().id, 1, runs.boxed(kind)));
    expect(play.say(seeMain(A)).types().includes('DecisionOpened')).toBe(asks);
    play.checkReplay();
  });

  it('is suspect if a sandboxed agent without a task runs: it works in the main checkout', () => {
    const play = seen().order(runs.startAgent());
    play.say(runs.started(play.agent().id, 1, runs.boxed('bubblewrap')));
    expect(play.say(seeMain(A)).types()).toContain('DecisionOpened');
  });

  it('is suspect if one process of a session had no sandbox, and while the next one is not recorded', () => {
    const resumed = (first: 'bubblewrap' | 'none'): Play => {
      const play = onTask(runs.agentPlan({ on_dead: { action: 'resume' } }));
      const { id } = play.agent();
      return play.say(runs.started(id, 1, runs.boxed(first))).say(runs.exited(id, { code: 1 }));
    };
    const next = (play: Play): Play => play.say(runs.started(play.agent().id, 2, runs.boxed('bubblewrap')));
    expect(next(resumed('bubblewrap')).say(seeMain(A)).types()).toEqual(['MainMoved']);
    expect(next(resumed('none')).say(seeMain(A)).types()).toContain('DecisionOpened');
    const wanted = resumed('bubblewrap');
    expect(wanted.agent().process).toBe('wanted');
    expect(wanted.say(seeMain(A)).types()).toContain('DecisionOpened');
    const known = resumed('bubblewrap');
    expect(known.say(seeMain(A, { isolated: [known.agent().id] })).types()).toEqual(['MainMoved']);
  });

  it('is not suspect if checks and commands ran in a sandbox', () => {
    const checking = new WorkflowPlay()
      .say(seeMain(MAIN, { by: null }))
      .turn('issue-manager')
      .turn('prep');
    checking.turn('implementer', { head: SHA });
    const { checks_id } = checking.the('ChecksRequested');
    expect(checking.say(seeMain(A, { isolated: [checks_id], seenAt: now(checking) })).types()).toEqual(['MainMoved']);
    const finished = { checks_id, name: 'unit', outcome: 'passed', exit_code: 0, log: null, output: null } as const;
    checking.say({ kind: 'finish-check', command: { ...finished, sandbox: 'container', handoffId: 'h' } });
    expect(checking.newest('ChecksFinished')).toMatchObject({ sandbox: 'container' });
    const { at } = checking;
    expect(checking.say(seeMain(B, { by: { old: A }, seenAt: at })).types()).toEqual(['MainMoved']);
    const stepping = seen().order(runs.startPipeline(runs.pipelinePlan([runs.shellStep('build')])));
    stepping.say(runs.finish(stepping.the('CommandRequested').command_id, 0, { sandbox: 'bubblewrap' }));
    expect(stepping.say(seeMain(A, { seenAt: stepping.at })).types()).toEqual(['MainMoved']);
    stepping.checkReplay();
  });

  it('is suspect if a client with a worker’s token holds a claim, or held one since; a person’s claim is not', () => {
    const claimed = (caller: Caller): Play => seen().order(create('A')).say(claim('A', 's1'), caller);
    const robot = { kind: 'worker', name: 'robot' } as const;
    const client = claimed(robot);
    expect(client.say(seeMain(A, { seenAt: client.at })).types()).toContain('DecisionOpened');
    expect(client.newest('MainMoved').sessions).toEqual([{ id: 's1', name: 'holder of s1', task_id: 'A' }]);
    const left = claimed(robot).wait(1000).order(release('A'));
    expect(left.say(seeMain(A, { seenAt: left.at })).types()).toContain('DecisionOpened');
    const gone = claimed(robot).order(release('A'));
    expect(gone.say(seeMain(A, { seenAt: now(gone) })).types()).toEqual(['MainMoved']);
    const person = claimed({ kind: 'operator', name: 'ann' });
    expect(person.say(seeMain(A, { seenAt: person.at })).types()).toEqual(['MainMoved']);
  });

  it('is suspect while the checks of a task run, and if they ended since', () => {
    const checking = (): WorkflowPlay =>
      new WorkflowPlay()
        .say(seeMain(MAIN, { by: null }))
        .turn('issue-manager')
        .turn('prep')
        .turn('implementer', { head: SHA });
    const open = checking();
    const { checks_id: checksId } = open.the('ChecksRequested');
    expect(open.say(seeMain(A, { seenAt: now(open) })).types()).toContain('DecisionOpened');
    expect(open.newest('MainMoved').sessions).toEqual([{ id: checksId, name: 'checks', task_id: 'W-00001' }]);
    open.checkReplay();
    const ended = checking().wait(1000).check();
    expect(ended.say(seeMain(A, { seenAt: ended.at })).types()).toContain('DecisionOpened');
    const calm = checking().check();
    expect(calm.say(seeMain(A, { seenAt: now(calm) })).types()).toEqual(['MainMoved']);
  });

  it('is suspect while a merge runs checks, and not while one runs none', () => {
    const merging = (): WorkflowPlay => {
      const play = new WorkflowPlay().say(seeMain(MAIN, { by: null })).toReview();
      return play.turn('reviewer').turn('validator');
    };
    const checked = merging();
    expect(checked.the('MergeRequested').checks).toHaveLength(1);
    expect(checked.say(seeMain(A, { seenAt: now(checked) })).types()).toContain('DecisionOpened');
    const unchecked = merging();
    const merge = theMerge(unchecked);
    unchecked.state.effects.set(merge.key, { ...merge, data: { ...merge.data, checks: [] } });
    expect(unchecked.say(seeMain(A, { seenAt: now(unchecked) })).types()).toEqual(['MainMoved']);
  });

  it('is suspect while the command of a step runs, if it ended since, and if the setup for an agent failed since', () => {
    const stepping = (): Play => seen().order(runs.startPipeline(runs.pipelinePlan([runs.shellStep('build')])));
    const open = stepping();
    expect(open.say(seeMain(A, { seenAt: now(open) })).types()).toContain('DecisionOpened');
    expect(open.newest('MainMoved').sessions).toMatchObject([{ name: 'step build' }]);
    const ended = stepping().wait(1000);
    ended.say(runs.finish(ended.the('CommandRequested').command_id));
    expect(ended.say(seeMain(A, { seenAt: ended.at })).types()).toContain('DecisionOpened');
    const calm = stepping();
    calm.say(runs.finish(calm.the('CommandRequested').command_id));
    expect(calm.say(seeMain(A, { seenAt: now(calm) })).types()).toEqual(['MainMoved']);
    const failed = seen().order(runs.startAgent()).wait(1000);
    failed.say(runs.startFailed(failed.agent().id));
    expect(failed.say(seeMain(A, { seenAt: failed.at })).types()).toContain('DecisionOpened');
  });

  it('is not cleared by an upstream that was changed since', () => {
    const play = busy();
    play.say(seeMain(A, { upstream: 'another address', by: { onUpstream: true } }));
    expect(play.types()).toContain('DecisionOpened');
    expect(play.newest('MainMoved').on_upstream).toBe(false);
  });

  it('opens a decision if the repository names another main branch, unless the project does', () => {
    const play = seen().say(seeMain(A, { branch: 'evil' }));
    expect(play.types()).toContain('DecisionOpened');
    expect(play.newest('MainMoved')).toMatchObject({ branch: 'evil', previous_branch: 'main', fast_forward: false });
    play.say(seeMain(MAIN, { by: { old: A } }));
    expect(play.types()).toEqual(['MainMoved', 'DecisionWithdrawn']);
    expect(isMainUnaccepted(play.state)).toBe(false);
    const told = seen().say(seeMain(A, { branch: 'develop', isConfigured: true, by: null }));
    expect(told.types()).toEqual(['MainMoved']);
    expect(findMain(told.state)).toMatchObject({ branch: 'develop', sha: A, trusted: null });
  });

  it('is measured again if the recorded position changed meanwhile', () => {
    const play = seen().say(seeMain(A));
    expect(play.say(seeMain(B, { by: { old: MAIN } })).types()).toEqual([]);
    expect(play.answer).toBe('stale');
  });
});

describe('the decision about the main branch', () => {
  /** An agent has moved the main branch. */
  const asked = (): Play => busy().say(seeMain(A, { by: { onUpstream: false } }));

  it('shows authors, changes and the sessions alive, and recommends no approval', () => {
    const { source, context, options, taskId } = asked().decision();
    expect({ source, taskId }).toEqual({ source: 'integrity', taskId: null });
    for (const part of [MAIN, A, 'Ada <a@example.org> (1)', 'a.ts | 1 +', 'coder', 'not on the upstream branch'])
      expect(context).toContain(part);
    expect(context).toContain(`See the change: ${diffCommand(MAIN, A)}`);
    expect(options.map(({ action, recommended }) => [action, recommended])).toEqual([
      ['deny', true],
      ['approve', false],
    ]);
  });

  it('is replaced by one about all moves if the branch moves again', () => {
    const play = asked();
    const { id } = play.decision();
    play.say(seeMain(B, { by: { old: A, authors: ['Eve <e@example.org> (2)'], commits: 2 } }));
    expect(play.types().slice(0, 3)).toEqual(['MainMoved', 'DecisionWithdrawn', 'DecisionOpened']);
    // Its author has not seen the second move.
    expect(play.refuse(runs.resolve(id, 2)).code).toBe('decision-withdrawn');
    const { context } = play.decision();
    for (const part of [MAIN, B, 'Ada', 'Eve', '2 new commits', '1 new commit,']) expect(context).toContain(part);
    play.checkReplay();
  });

  it('is about no more tasks than an entry can name', () => {
    const carried = Array.from({ length: LEDGER_LIMITS.tasksPerEntry + 1 }, (_, i) => `T${i}`);
    const play = busy().say(seeMain(A, { by: { onUpstream: false, carried } }));
    const moved = play.last.find(({ type }) => type === 'MainMoved');
    expect(isTaskNumbers(moved?.tasks, moved?.seq ?? 0) || Object.keys(moved?.tasks ?? {}).length).toBe(true);
  });

  it('shows what an earlier version added to it', () => {
    const play = asked();
    const [last] = play.last;
    if (last === undefined) throw new Error('nothing was recorded');
    const data = { decision_id: play.decision().id, context: 'moved twice' };
    play.receive([{ ...last, seq: play.state.seq + 1, type: 'DecisionExtended', data, actor: 'system:engine' }]);
    expect(play.decision()).toMatchObject({ context: 'moved twice', result: null });
  });

  it('is withdrawn if the branch moves back', () => {
    const play = asked().say(seeMain(MAIN, { by: { old: A, fastForward: false } }));
    expect(play.types()).toEqual(['MainMoved', 'DecisionWithdrawn']);
    expect(isMainUnaccepted(play.state)).toBe(false);
    play.checkReplay();
  });

  it('holds no merges once it is approved', () => {
    const play = asked();
    play.order(runs.resolve(play.decision().id, 2));
    expect(play.types()).toEqual(['DecisionResolved']);
    expect(findMain(play.state)).toMatchObject({ sha: A, trusted: null, decisionId: null });
  });

  it('holds merges after a denial until the branch is back; any other move opens a new decision', () => {
    const play = asked();
    play.order(runs.resolve(play.decision().id, 1));
    expect(isMainUnaccepted(play.state)).toBe(true);
    play.say(runs.exited(play.agent().id)).wait(1000);
    play.say(seeMain(B, { seenAt: now(play), by: { old: A } }));
    expect(play.types()).toEqual(['MainMoved', 'DecisionOpened', 'NotificationRequested']);
    play.say(seeMain(MAIN, { by: { old: B, fastForward: false } }));
    expect(isMainUnaccepted(play.state)).toBe(false);
    play.checkReplay();
  });
});

describe('merges and the main branch', () => {
  const M = 'c'.repeat(40);

  function merging(): WorkflowPlay {
    const play = new WorkflowPlay();
    play.say(seeMain(MAIN, { by: null }));
    play
      .turn('issue-manager')
      .turn('prep')
      .turn('implementer', { head: '2'.repeat(40) })
      .check();
    play.turn('reviewer').turn('validator');
    return play;
  }

  it('Baton’s own merge is not a foreign move, also before its end is recorded', () => {
    const play = merging();
    const { merge_id: mergeId } = play.the('MergeRequested');
    play.say(prepareMerge(mergeId, M)).say(seeMain(M));
    expect(play.types()).toEqual([]);
    play.merge('merged', M);
    expect(findMain(play.state)).toMatchObject({ sha: M, prepared: null, trusted: null });
    expect(play.say(seeMain(M)).types()).toEqual([]);
    expect(play.count('MainMoved')).toBe(1);
    play.checkReplay();
  });

  it('a commit on top of a merge starts at the merge', () => {
    const play = merging();
    const { merge_id: mergeId } = play.the('MergeRequested');
    play.say(prepareMerge(mergeId, M)).say(seeMain(A, { by: { old: M } }));
    expect(play.newest('MainMoved')).toMatchObject({ old: M, new: A });
    play.say(finishMerge(mergeId, 'merged', M));
    expect(findMain(play.state)).toMatchObject({ sha: A });
    play.checkReplay();
  });

  it('a merge that was prepared but not made is dropped', () => {
    const play = merging();
    play.say(prepareMerge(play.the('MergeRequested').merge_id, M)).merge('refused');
    expect(findMain(play.state)).toMatchObject({ sha: MAIN, prepared: null });
  });

  it('merges wait until foreign commits are accepted', () => {
    const play = merging();
    const effect = theMerge(play);
    expect(isDue(effect, play.state)).toBe(true);
    play.say(seeMain(A, { by: { fastForward: false } }));
    expect(isDue(effect, play.state)).toBe(false);
    expect(play.refuse(prepareMerge(effect.data.merge_id, M), { kind: 'system', name: 'merge' }).code).toBe(
      'main-held',
    );
    play.order(runs.resolve(play.decision().id, 2));
    expect(isDue(effect, play.state)).toBe(true);
  });

  it('a merge onto an unrecorded position is refused', () => {
    const play = merging().say(seeMain(A, { by: { onUpstream: true } }));
    const refused = play.refuse(prepareMerge(play.the('MergeRequested').merge_id, M), {
      kind: 'system',
      name: 'merge',
    });
    expect(refused.code).toBe('main-moved');
  });
});

function theMerge({ state }: Play): EffectOf<'MergeRequested'> {
  const merge = [...state.effects.values()].find((effect) => effect.type === 'MergeRequested');
  if (merge === undefined) throw new Error('no merge is owed');
  return merge;
}
