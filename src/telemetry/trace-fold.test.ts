import { describe, expect, it } from 'vitest';
import { Play } from '../engine/play.cases.ts';
import { WorkflowPlay } from '../engine/workflow.cases.ts';
import type { RecordedEvent } from '../state/event.ts';
import * as runs from '../state/runs/say.cases.ts';
import * as say from '../state/say.cases.ts';
import { TELEMETRY_LIMITS } from './limits.ts';
import type { FinishedTrace, SpanRecord } from './spans.ts';
import { TraceFold } from './trace-fold.ts';

const OTHER = 'c'.repeat(40);

function tracesOf(entries: readonly RecordedEvent[]): FinishedTrace[] {
  const fold = new TraceFold('demo');
  return entries.flatMap((entry) => fold.add(entry));
}

/** Each span as `name outcome seconds`, indented below its parent. */
function draw({ root, spans }: FinishedTrace): string[] {
  const below = (span: SpanRecord, depth: number): string[] => {
    const seconds = ((span.endMs ?? span.startMs) - span.startMs) / 1000;
    const line = `${'  '.repeat(depth)}${span.name} ${span.attributes['baton.outcome'] ?? 'open'} ${seconds}`;
    return [line, ...spans.filter(({ parent }) => parent === span.key).flatMap((child) => below(child, depth + 1))];
  };
  return below(root, 0);
}

describe('a pipeline', () => {
  const gated = runs.agentPlan({ on_dead: { action: 'gate', run: 'npm test' } });

  function perform(): Play {
    const plan = runs.pipelinePlan([runs.shellStep('build'), runs.agentStep('code')], { agents: [gated] });
    const play = new Play().order(runs.startPipeline(plan)).wait(2000);
    play.say(runs.finish(play.the('CommandRequested').command_id)).wait(1000);
    play.say(runs.started(play.agent().id)).wait(5000);
    play.say(runs.used(play.agent(), 120, { cost_millicents: 250 }));
    play.say(runs.exited(play.agent().id)).wait(3000);
    play.say(runs.finish(play.the('CommandRequested').command_id)).wait(500);
    return play;
  }

  it('is a trace: pipeline, step, session, check', () => {
    const [trace, ...others] = tracesOf(perform().entries);
    expect(others).toEqual([]);
    expect(draw(trace as FinishedTrace)).toEqual([
      'pipeline main done 11',
      '  step build done 2',
      '  step code done 9',
      '    session coder done 9',
      '      check on_dead passed 3',
    ]);
  });

  it('has the usage of its agents, and no text', () => {
    const [trace] = tracesOf(perform().entries);
    const session = trace?.spans.find(({ kind }) => kind === 'session');
    expect(session?.attributes).toMatchObject({
      'baton.project': 'demo',
      'baton.agent.name': 'coder',
      'baton.agent.processes': 1,
      'baton.tokens.input': 120,
      'baton.cost.dollars': 0.0025,
    });
    expect(JSON.stringify(trace)).not.toContain('npm test');
  });
});

it('names the host of a fleet, and nothing on SQLite', () => {
  const play = new Play().order(say.create()).say(say.claim());
  play.say(say.complete(), say.session('s1', 'A', 1));
  const moved = play.entries.map((entry) =>
    entry.type === 'TaskClaimed' ? { ...entry, data: { ...entry.data, host: 'beta' } } : entry,
  );
  const hosts = (entries: readonly RecordedEvent[]): unknown[] =>
    tracesOf(entries).flatMap(({ spans }) => spans.map(({ attributes }) => attributes['baton.host']));
  expect(hosts(moved)).toEqual([undefined, 'beta']);
  expect(hosts(play.entries)).toEqual([undefined, undefined]);
});

describe('a workflow', () => {
  function perform(): WorkflowPlay {
    const play = new WorkflowPlay({
      checks: [{ name: 'lint', run: 'x' }, { name: 'unit', run: 'y' }, { name: 'remote' }],
    });
    play.wait(1000).turn('issue-manager').turn('prep').wait(1000).turn('implementer', { head: say.SHA });
    play.wait(2000).check('passed', 'lint').wait(4000).check('passed', 'remote').check('passed', 'unit');
    play.turn('reviewer').turn('validator').wait(3000).merge('merged', OTHER);
    const closer = play.wait(1000).claim('closer');
    play.wait(6000);
    const done = { to: null, phase: 'COMPLETED', nextRole: null } as const;
    play.say(say.handoff({ taskId: play.id, from: 'closer-agent', senderRole: 'closer', ...done }), closer);
    play.say(play.exit(), closer);
    return play;
  }

  it('is one trace, from its start to its closer', () => {
    const traces = tracesOf(perform().entries);
    expect(traces.map(draw)).toEqual([
      [
        'task completed 18',
        '  session issue-manager completed 0',
        '  session prep completed 0',
        '  session implementer completed 0',
        '  checks passed 6',
        '    check lint passed 2',
        '    check remote passed 6',
        '    check unit passed 4',
        '  session reviewer completed 0',
        '  session validator completed 0',
        '  merge merged 3',
        '  session closer completed 6',
      ],
    ]);
  });

  it('ends when it is cancelled, and may begin again', () => {
    const play = new Play().order(say.create()).say(say.claim()).wait(1000).order(say.operate('cancel'));
    play
      .order(say.operate('reinstate'))
      .say(say.claim('A', 's2'))
      .wait(2000)
      .say(say.complete(), say.session('s2', 'A', 2));
    expect(tracesOf(play.entries).map(draw)).toEqual([
      ['task cancelled 1', '  session revoked 1'],
      ['task completed 2', '  session completed 2'],
    ]);
  });
});

describe('the memory of the fold', () => {
  it('forgets the oldest trace over the limit, and the spans of a trace over theirs', () => {
    const fold = new TraceFold('demo');
    const base = { seq: 1, at: '2026-01-01T00:00:00.000Z', actor: 'system:engine' };
    const pipeline = (pipeline_id: string): RecordedEvent => ({
      ...base,
      type: 'PipelineStarted',
      data: { pipeline_id, name: 'p', vars: {}, plan: null, parent: null, task: null, worker: null },
    });
    for (let i = 0; i < TELEMETRY_LIMITS.openTraces + 5; i++) fold.add(pipeline(`p${i}`));
    expect(fold.openTraces).toBe(TELEMETRY_LIMITS.openTraces);
    const step = (visit: number): RecordedEvent => ({
      ...base,
      type: 'StepStarted',
      data: { pipeline_id: 'p9', step: 's', visit, retry: false },
    });
    for (let visit = 1; visit <= TELEMETRY_LIMITS.spansPerTrace + 7; visit++) fold.add(step(visit));
    const finished = { pipeline_id: 'p9', outcome: 'done', reason: null } as const;
    const [trace] = fold.add({ ...base, type: 'PipelineFinished', data: finished });
    expect(trace?.spans).toHaveLength(TELEMETRY_LIMITS.spansPerTrace);
    expect(trace?.root.attributes['baton.spans.dropped']).toBe(8);
  });

  it('reports a trace with an open span when nothing ends that span', () => {
    const fold = new TraceFold('demo');
    const play = new Play().order(runs.startPipeline(runs.pipelinePlan([runs.agentStep('code')])));
    const ended = play.entries.flatMap((entry) => fold.add(entry));
    const at = (ms: number): string => new Date(Date.parse(play.at) + ms).toISOString();
    const envelope = { seq: 1, actor: 'system:engine' };
    const over = { pipeline_id: 'p1', outcome: 'failed', reason: null } as const;
    ended.push(...fold.add({ ...envelope, at: at(1000), type: 'PipelineFinished', data: over }));
    expect(ended).toEqual([]);
    const later = at(TELEMETRY_LIMITS.lateSpansMs + 2000);
    const [trace] = fold.add({ ...envelope, at: later, type: 'TaskFreed', data: { task_id: 'A' } });
    expect(trace?.root).toMatchObject({ name: 'pipeline main', isError: true });
    expect(trace?.spans.filter(({ endMs }) => endMs === null).map(({ name }) => name)).toEqual([
      'step code',
      'session coder',
    ]);
  });
});
