import { expect, it } from 'vitest';
import { Play } from '../../../engine/play.cases.ts';
import { WorkflowPlay } from '../../../engine/workflow.cases.ts';
import * as runs from '../../../state/runs/say.cases.ts';
import { SHA } from '../../../state/say.cases.ts';
import { type StepGraph, viewStepGraph } from './step-graph.ts';

const places = ({ nodes }: StepGraph): string[] =>
  nodes.map(({ stage, column, row }) => `${stage.name} ${column}/${row}`);
const ways = ({ edges }: StepGraph): string[] => edges.map(({ from, to, why }) => `${from} → ${to} (${why})`);

it('shows the way of a workflow, and the fixer below it with the way back', () => {
  const play = new WorkflowPlay().wait(1000).turn('issue-manager').wait(1000).turn('prep').wait(1000);
  play.turn('implementer', { head: SHA }).wait(1000).check('failed').wait(1000);
  const graph = viewStepGraph(play.state, { kind: 'task', id: play.id });
  expect(places(graph)).toEqual([
    'issue-manager 0/0',
    'prep 1/0',
    'implementer 2/0',
    'ci 3/0',
    'reviewer 4/0',
    'fixer 4/1',
    'validator 5/0',
    'merge 6/0',
    'closer 7/0',
  ]);
  expect(ways(graph)).toContain('ci → fixer (fail)');
  expect(ways(graph)).toContain('fixer → ci (done)');
  expect(graph.nodes.find(({ stage }) => stage.name === 'fixer')?.stage).toMatchObject({ status: 'now' });
});

it('follows the plan of a pipeline: steps that only a failure reaches are below', () => {
  const plan = runs.pipelinePlan([
    runs.shellStep('build', { on_fail: { step: 'repair' } }),
    runs.shellStep('test', { on_fail: { step: 'repair' }, on_cancel: 'clean' }),
    runs.shellStep('ship', { on_done: 'end' }),
    runs.shellStep('repair', { on_done: 'build' }),
    runs.shellStep('clean'),
  ]);
  const graph = viewStepGraph(new Play().order(runs.startPipeline(plan)).state, { kind: 'pipeline', id: 'p1' });
  expect(places(graph)).toEqual(['build 0/0', 'test 1/0', 'ship 2/0', 'repair 1/1', 'clean 2/1']);
  expect(ways(graph)).toEqual([
    'build → test (done)',
    'build → repair (fail)',
    'test → ship (done)',
    'test → repair (fail)',
    'test → clean (cancel)',
    'repair → build (done)',
  ]);
});

it('is empty for a run that is no longer known', () => {
  expect(viewStepGraph(new Play().state, { kind: 'pipeline', id: 'p9' })).toEqual({ nodes: [], edges: [] });
});
