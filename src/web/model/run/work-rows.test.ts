import { describe, expect, it } from 'vitest';
import { Play } from '../../../engine/play.cases.ts';
import { TO_FIXER, WorkflowPlay } from '../../../engine/workflow.cases.ts';
import * as runs from '../../../state/runs/say.cases.ts';
import { claim, create, operate, release, SHA, session } from '../../../state/say.cases.ts';
import { changesRequested } from '../../../state/workflow/say.cases.ts';
import { lastLine, viewWork, type WorkParams, type WorkRow } from './work-rows.ts';

const ALL: WorkParams = { show: 'all', from: 0, to: 1000 };
const rowsOf = (play: Play, params: Partial<WorkParams> = {}): readonly WorkRow[] =>
  viewWork(play.state, { ...ALL, ...params }).rows;
const worker = (name: string, plan: Parameters<typeof runs.configure>[0][number]['plan']) =>
  runs.configure([{ name, concurrency: 1, plan }]);

describe('the rows of the work view', () => {
  it('are workflows, pipelines and lone agents; what runs inside them has none', () => {
    const play = new Play({ maxAgents: 9 });
    play.say(worker('w', { kind: 'agent', agent: runs.agentPlan({ role: 'implementer' }) })).order(create());
    play.wait(1000).order(runs.startPipeline()).wait(1000).order(runs.startAgent());
    const inside = [...play.state.agents.values()].filter(({ task, owner }) => task !== null || owner !== null);
    expect(inside).toHaveLength(2);
    expect(rowsOf(play).map(({ key, kind }) => `${key} ${kind}`)).toEqual([
      'agent:a1 agent',
      'pipeline:p1 pipeline',
      'task:A task',
    ]);
  });

  it('omit tasks that were never claimed, and those that were released', () => {
    const play = new Play().order(create()).order(create('B'));
    play.say(claim('B', 's1')).say(release('B', { reason: 'too hard' }), session('s1', 'B'));
    expect(rowsOf(play)).toEqual([]);
  });

  it('have what runs first, then what waits for a person, then what ended last', () => {
    const play = new WorkflowPlay().wait(1000);
    const start = (id: string, mode: 'autonomous' | 'supervised') =>
      play.order({ kind: 'start-workflow', command: { id, title: id, mode } }).wait(1000);
    start('asked', 'supervised');
    start('gone', 'autonomous');
    start('new', 'autonomous');
    start('left', 'autonomous');
    play
      .order(operate('cancel', 'not now', 'gone'))
      .wait(1000)
      .order(operate('cancel', 'no', 'left'));
    expect(rowsOf(play).map(({ id, group, state }) => `${id}: ${group}, ${state}`)).toEqual([
      'new: running, queued',
      'W-00001: running, queued',
      'asked: waiting, waiting',
      'left: ended, cancelled',
      'gone: ended, cancelled',
    ]);
    expect(rowsOf(play, { show: 'running' })).toHaveLength(3);
    expect(viewWork(play.state, ALL).counts).toEqual({ running: 2, waiting: 1, ended: 2 });
  });

  it('are built for the part of the list that is on the screen, with the place of the chosen one', () => {
    const play = new WorkflowPlay();
    for (const id of ['b', 'c', 'd'])
      play.wait(1000).order({ kind: 'start-workflow', command: { id, title: id, mode: 'autonomous' } });
    const part = viewWork(play.state, { show: 'all', from: 1, to: 3, chosen: 'task:W-00001' });
    expect(part).toMatchObject({ total: 4, from: 1, chosenAt: 3, rows: [{ id: 'c' }, { id: 'b' }] });
    expect(viewWork(play.state, { ...ALL, chosen: 'task:none' }).chosenAt).toBeNull();
  });

  it('have stages with queue, run, checks and waits apart, and count repeated visits', () => {
    const play = new WorkflowPlay().turn('issue-manager').turn('prep').wait(4000);
    play.claim('implementer');
    play.wait(5000);
    const running = rowsOf(play)[0]?.stages.find(({ name }) => name === 'implementer');
    expect(running).toMatchObject({ status: 'now', activity: 'running', queued_ms: 4000 });
    expect(running?.since).toBe('2026-01-01T00:00:04.000Z');
    expect(running).not.toHaveProperty('running_ms');

    const again = new WorkflowPlay().wait(1000).turn('issue-manager').wait(1000).turn('prep').wait(1000);
    again.turn('implementer', { head: SHA }).wait(1000).check().wait(1000);
    again.turn('reviewer', { ...TO_FIXER, xml: changesRequested('a hole', 'src/a.ts:3') }).wait(1000);
    again
      .turn('fixer', { head: 'b'.repeat(40) })
      .wait(2000)
      .check();
    const [row] = rowsOf(again);
    expect(row).toMatchObject({ rounds: 1, state: 'queued' });
    expect(row?.stages.map(({ name, status, visits }) => `${name} ${status} ${visits}`)).toEqual([
      'issue-manager done 1',
      'prep done 1',
      'implementer done 1',
      'ci done 2',
      'reviewer now 2',
      'fixer done 1',
      'validator ahead 0',
      'merge ahead 0',
      'closer ahead 0',
    ]);
    expect(row?.stages[3]).toMatchObject({ checks_ms: 3000 });
  });

  it('stay equal while only time passes', () => {
    const play = new WorkflowPlay().turn('issue-manager');
    const before = rowsOf(play);
    play.wait(60_000);
    expect(rowsOf(play)).toEqual(before);
  });

  it('show the steps of a pipeline, the one at which it waits, and what is asked', () => {
    const plan = runs.pipelinePlan([runs.shellStep('build'), runs.agentStep('code'), runs.shellStep('ship')]);
    const play = new Play().order(runs.startPipeline(plan));
    play.say(runs.finish(play.the('CommandRequested').command_id));
    const { id } = play.agent();
    play.say(runs.started(id)).say(runs.signal('escalate', id, 'Which port?'), runs.agent(id));
    expect(rowsOf(play)).toMatchObject([
      {
        key: 'pipeline:p1',
        group: 'waiting',
        state: 'waiting',
        decisionId: play.decision().id,
        reason: play.decision().title,
        agent: { id, status: 'escalated' },
        stages: [
          { name: 'build', status: 'done' },
          { name: 'code', status: 'now', activity: 'waiting' },
          { name: 'ship', status: 'ahead', visits: 0 },
        ],
      },
    ]);
  });

  it('have tokens, cost, and the last line of an agent that has ended', () => {
    const play = new Play({ prices: [{ model: 'known-1', input: 1_000_000, output: 0, cached: 0 }] });
    play.order(runs.startAgent()).say(runs.started('a1')).wait(9000);
    play.say(runs.used(play.agent('a1'), 5), runs.supervisor('a1'));
    expect(rowsOf(play)[0]).toMatchObject({
      tokens: 5,
      costMillicents: 5,
      group: 'running',
      agent: { lastLine: null },
    });
    play.say(runs.signal('complete', 'a1'), runs.agent('a1'));
    play.say(runs.exited('a1', { output: 'built\nall green\n' }), runs.supervisor('a1'));
    expect(rowsOf(play)[0]).toMatchObject({
      group: 'ended',
      state: 'done',
      endedAt: play.at,
      agent: { lastLine: 'all green' },
      stages: [{ name: 'coder', status: 'done', running_ms: 9000 }],
    });
  });
});

it('the last line of output is one for people', () => {
  expect(lastLine('one\ntwo\n\n')).toBe('two');
  expect(lastLine('{"type":"result"}')).toBeNull();
  expect(lastLine(null)).toBeNull();
});
