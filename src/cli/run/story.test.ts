import { describe, expect, it } from 'vitest';
import { RunStory } from './story.ts';

/** The lines of a story about these entries, and the final state of the run. */
function tell(root: string, entries: readonly (readonly [string, Record<string, unknown>])[]) {
  const story = new RunStory(root);
  const lines = entries.map(([type, data]) => story.describe(type, data)).filter((line) => line !== undefined);
  return { lines, standing: story.progress };
}

const started = ['PipelineStarted', { pipeline_id: 'p1', name: 'ship', parent: null }] as const;

describe('the story of a run', () => {
  it('follows a pipeline with its agents and nested pipelines, and nothing else', () => {
    const { lines, standing } = tell('p1', [
      ['PipelineStarted', { pipeline_id: 'other', name: 'other', parent: null }],
      started,
      ['StepStarted', { pipeline_id: 'p1', step: 'build', visit: 1 }],
      ['StepStarted', { pipeline_id: 'other', step: 'build', visit: 1 }],
      ['AgentRequested', { agent_id: 'a1', plan: { name: 'fixer' }, owner: { pipeline_id: 'p1', step: 'build' } }],
      ['AgentRequested', { agent_id: 'a2', plan: { name: 'stranger' }, owner: null }],
      ['AgentStarted', { agent_id: 'a1', start: 1 }],
      ['AgentStarted', { agent_id: 'a1', start: 2, sandbox: 'bubblewrap', network: 'full' }],
      ['AgentStarted', { agent_id: 'a1', start: 3, sandbox: 'none', network: 'host' }],
      ['AgentSignalled', { agent_id: 'a1', kind: 'complete', message: 'all green' }],
      ['StepFinished', { pipeline_id: 'p1', step: 'build', outcome: 'done', reason: null }],
      ['PipelineStarted', { pipeline_id: 'p2', name: 'checks', parent: { pipeline_id: 'p1', step: 'check' } }],
      ['PipelineFinished', { pipeline_id: 'p2', outcome: 'failed', reason: 'lint failed' }],
      ['PipelineFinished', { pipeline_id: 'other', outcome: 'failed', reason: null }],
    ]);
    expect(lines).toEqual([
      'ship p1 started',
      '  build: started',
      '    fixer a1: queued',
      '    fixer: started',
      '    fixer: started again (bubblewrap, network full)',
      '    fixer: started again (no sandbox)',
      '    fixer: signalled complete: all green',
      '  build: done',
      '    checks p2 started',
      '    checks failed: lint failed',
    ]);
    expect(standing).toEqual({ kind: 'running' });
  });

  it.each(['done', 'failed', 'cancelled'])('is over when its pipeline is %s', (outcome) => {
    const { lines, standing } = tell('p1', [
      started,
      ['PipelineFinished', { pipeline_id: 'p1', outcome, reason: null }],
    ]);
    expect(lines.at(-1)).toBe(`ship ${outcome}`);
    expect(standing).toEqual({ kind: 'over', outcome });
  });

  it('waits for a person, even in a nested pipeline, and continues', () => {
    const nested = ['PipelineStarted', { pipeline_id: 'p2', name: 'c', parent: { pipeline_id: 'p1' } }] as const;
    const waiting = [
      'StepWaiting',
      { pipeline_id: 'p2', step: 's', reason: 'on_stop: escalate', decision_id: 'd1' },
    ] as const;
    expect(tell('p1', [started, nested, waiting]).standing).toEqual({ kind: 'waiting', decisionId: 'd1' });
    expect(tell('p1', [started, nested, waiting, ['StepResumed', { pipeline_id: 'p2', step: 's' }]]).standing).toEqual({
      kind: 'running',
    });
  });

  it('follows a standalone agent', () => {
    const requested = ['AgentRequested', { agent_id: 'a1', plan: { name: 'fixer' }, owner: null }] as const;
    const parked = ['AgentParked', { agent_id: 'a1', decision_id: 'd1', reason: 'on_stop: escalate' }] as const;
    expect(tell('a1', [requested, parked]).standing).toEqual({ kind: 'waiting', decisionId: 'd1' });
    const ended = ['AgentEnded', { agent_id: 'a1', outcome: 'done', reason: null }] as const;
    expect(tell('a1', [requested, ended])).toEqual({
      lines: ['fixer a1: queued', 'fixer: done'],
      standing: { kind: 'over', outcome: 'done' },
    });
  });

  it('includes members that started earlier, if they are added', () => {
    const story = new RunStory('p1', 'd1');
    expect(story.progress).toEqual({ kind: 'waiting', decisionId: 'd1' });
    for (const [id, name, owner] of [
      ['p1', 'ship', null],
      ['p2', 'checks', 'p1'],
      ['a1', 'fixer', 'p2'],
      ['a2', 'stranger', 'p9'],
    ] as const)
      story.know(id, name, owner);
    expect(story.describe('AgentStarted', { agent_id: 'a1', start: 1 })).toBe('        fixer: started');
    expect(story.describe('AgentStarted', { agent_id: 'a2', start: 1 })).toBeUndefined();
    story.describe('StepResumed', { pipeline_id: 'p2', step: 'x' });
    expect(story.progress).toEqual({ kind: 'running' });
  });

  it('passes no terminal codes of agents', () => {
    const signalled = ['AgentSignalled', { agent_id: 'a1', kind: 'escalate', message: 'a\u001B[2J\nb' }] as const;
    expect(tell('a1', [signalled]).lines).toEqual(['a1: signalled escalate: a\\u001b[2J · b']);
  });
});
