import type { StepPlan } from '../../../protocol/run-plan.ts';
import { findPipelinePlan } from '../../../state/runs/pipeline-run.ts';
import type { State } from '../../../state/state.ts';
import { pipelineStages, taskStages } from './run-stages.ts';
import type { StripStage } from '../strip.ts';

/** The stages of a workflow or the steps of a pipeline, placed from left to right. */
export interface StepGraph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

export interface GraphNode {
  readonly stage: StripStage;
  readonly column: number;
  /** The row; 0 is the path without failures. */
  readonly row: number;
}

export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly why: 'done' | 'fail' | 'cancel';
}

export function viewStepGraph(
  state: State,
  { kind, id }: { readonly kind: 'task' | 'pipeline'; readonly id: string },
): StepGraph {
  if (kind === 'task') {
    const task = state.tasks.get(id);
    return task === undefined ? NOTHING : graphOfStages(taskStages(state, task), task.flow.mode !== null);
  }
  const run = state.pipelines.get(id);
  return run === undefined ? NOTHING : graphOfSteps(pipelineStages(state, run), findPipelinePlan(run)?.steps ?? []);
}

const NOTHING: StepGraph = { nodes: [], edges: [] };

/** From these stages of the built-in workflow, work returns to the fixer. */
const TO_FIXER: ReadonlySet<string> = new Set(['ci', 'reviewer', 'validator', 'merge']);

function graphOfStages(stages: readonly StripStage[], isWorkflow: boolean): StepGraph {
  const way = stages.filter(({ name }) => !isWorkflow || name !== 'fixer');
  const fixer = isWorkflow ? stages.find(({ name }) => name === 'fixer') : undefined;
  const edges = chain(way.map(({ name }) => name));
  if (fixer !== undefined) {
    const back = way.find(({ name }) => name === 'ci') ?? way.find(({ name }) => name === 'reviewer');
    for (const { name } of way) if (TO_FIXER.has(name)) edges.push({ from: name, to: 'fixer', why: 'fail' });
    if (back !== undefined) edges.push({ from: 'fixer', to: back.name, why: 'done' });
  }
  return place(
    stages,
    way.map(({ name }) => name),
    edges,
  );
}

function chain(names: readonly string[]): GraphEdge[] {
  return names.slice(1).map((to, i): GraphEdge => ({ from: names[i] ?? '', to, why: 'done' }));
}

function graphOfSteps(stages: readonly StripStage[], steps: readonly StepPlan[]): StepGraph {
  const names = new Set(steps.map(({ name }) => name));
  const edges = steps.flatMap(({ name: from, on_done, on_fail, on_cancel }, i): GraphEdge[] => {
    const next = on_done ?? steps[i + 1]?.name;
    const ways = [
      [next, 'done'],
      [on_fail?.step, 'fail'],
      [on_cancel, 'cancel'],
    ] as const;
    return ways.flatMap(([to, why]) => (to === undefined || !names.has(to) ? [] : [{ from, to, why }]));
  });
  return place(stages, wayWithoutFailures(steps[0]?.name, edges), edges);
}

function wayWithoutFailures(first: string | undefined, edges: readonly GraphEdge[]): readonly string[] {
  const way = new Set<string>();
  for (let at = first; at !== undefined && !way.has(at);) {
    way.add(at);
    at = edges.find(({ from, why }) => from === at && why === 'done')?.to;
  }
  return [...way];
}

/**
 * Places nodes: the path without failures is the first row. Every other step is below, one column after the first step
 * that leads to it, if there is room.
 */
function place(stages: readonly StripStage[], way: readonly string[], edges: readonly GraphEdge[]): StepGraph {
  const columns = new Map(way.map((name, column) => [name, column]));
  const rows = new Map(way.map((name) => [name, 0]));
  const taken = new Set<string>();
  for (const { name } of stages) {
    if (columns.has(name)) continue;
    const sources = edges.flatMap(({ from, to }) => (to === name ? (columns.get(from) ?? []) : []));
    const column = sources.length === 0 ? 0 : Math.min(...sources) + 1;
    let row = 1;
    while (taken.has(`${column} ${row}`)) row += 1;
    taken.add(`${column} ${row}`);
    columns.set(name, column);
    rows.set(name, row);
  }
  const nodes = stages.map((stage) => ({
    stage,
    column: columns.get(stage.name) ?? 0,
    row: rows.get(stage.name) ?? 0,
  }));
  return { nodes, edges };
}
