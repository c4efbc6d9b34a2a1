import { describe, expect, it } from 'vitest';
import { Play } from '../../../engine/play.cases.ts';
import { WorkflowPlay } from '../../../engine/workflow.cases.ts';
import * as runs from '../../../state/runs/say.cases.ts';
import { SHA } from '../../../state/say.cases.ts';
import { listChecks, withChecks, withMerges } from './check-rows.ts';
import { listProcessRows, listStepRows } from './entry-rows.ts';
import { viewTaskTimeline } from './task-timeline.ts';

describe('the steps of a pipeline', () => {
  it('are stacked by visit, with what ran them, how they ended and what they printed', () => {
    const plan = runs.pipelinePlan([
      runs.shellStep('build', { on_fail: { retries: 1 } }),
      runs.agentStep('code'),
      runs.shellStep('ship'),
    ]);
    const play = new Play().order(runs.startPipeline(plan)).wait(1000);
    const finish = (code: number, output: string) =>
      play.say(runs.finish(play.the('CommandRequested').command_id, code, { output })).wait(1000);
    finish(1, 'broken');
    finish(0, 'built');
    const { id } = play.agent();
    play
      .say(runs.started(id))
      .wait(1000)
      .say(runs.signal('escalate', id, 'Which port?'), runs.agent(id))
      .wait(1000);
    const rows = listStepRows('p1', play.entries);
    expect(rows.map(({ group, kind, round, outcome }) => `${group} ${kind} ${round}: ${outcome ?? '-'}`)).toEqual([
      'build step 1: failed',
      'build step 2: done',
      'code step 1: -',
      'code wait 1: -',
    ]);
    expect(rows[0]).toMatchObject({
      output: 'broken',
      from: '2026-01-01T00:00:00.000Z',
      to: '2026-01-01T00:00:01.000Z',
    });
    expect(rows[2]).toMatchObject({
      agentId: id,
      to: null,
      segments: [{ activity: 'running' }, { activity: 'waiting', to: null }],
    });
    expect(rows[3]).toMatchObject({ decisionId: play.decision().id, kind: 'wait' });
  });

  it('ignore entries of another pipeline', () => {
    const play = new Play().order(runs.startPipeline());
    expect(listStepRows('p2', play.entries)).toEqual([]);
  });
});

it('the processes of an agent are stacked, with the time they waited', () => {
  const play = new Play().order(runs.startAgent()).wait(500).say(runs.started('a1')).wait(1000);
  play.say(runs.exited('a1', { code: 2 }), runs.supervisor('a1')).wait(1000);
  const { id } = play.decision();
  const retry = play.decision().options.findIndex(({ action }) => action === 'resume' || action === 'retry') + 1;
  play.order(runs.resolve(id, retry)).wait(100);
  const rows = listProcessRows('a1', play.entries).filter(({ kind }) => kind === 'process');
  expect(rows).toMatchObject([
    { round: 1, outcome: 'exit code 2', segments: [{ activity: 'queued' }, { activity: 'running' }] },
    { round: 2, outcome: null, to: null },
  ]);
});

describe('the checks of a task', () => {
  it('run one after the other; each has its output, and the running one is open', () => {
    const checks = [{ name: 'lint', run: 'npm run lint' }, { name: 'unit', run: 'npm test' }, { name: 'remote' }];
    const play = new WorkflowPlay({ checks }).turn('issue-manager').turn('prep').wait(1000);
    play.turn('implementer', { head: SHA }).wait(2000).check('passed', 'lint').wait(3000);
    const rows = listChecks(play.entries);
    expect(rows).toMatchObject([
      {
        label: 'lint',
        outcome: 'passed',
        output: 'lint said so',
        commandId: expect.stringMatching(/\.0$/),
        from: '2026-01-01T00:00:01.000Z',
      },
      {
        label: 'unit',
        commandId: expect.stringMatching(/\.1$/),
        outcome: null,
        to: null,
        from: '2026-01-01T00:00:03.000Z',
      },
      { label: 'remote', outcome: null, to: null, from: '2026-01-01T00:00:01.000Z' },
    ]);
    const all = withChecks(viewTaskTimeline(play.state, { taskId: play.id }).rows, rows);
    const at = all.findIndex(({ kind }) => kind === 'checks');
    expect(all.slice(at, at + 4).map(({ label }) => label)).toEqual(['ci', 'lint', 'unit', 'remote']);
  });

  it('are followed by a merge, with what it printed if it failed', () => {
    const play = new WorkflowPlay().toMerge().wait(1000).turn('validator').wait(1000).merge('conflict').wait(1000);
    const rows = withMerges(viewTaskTimeline(play.state, { taskId: play.id }).rows, play.entries);
    const merge = rows.find(({ kind }) => kind === 'merge');
    expect(merge).toMatchObject({
      outcome: 'conflict',
      seq: play.entries.find(({ type }) => type === 'MergeFinished')?.seq,
    });
  });
});
