import type { AgentView, PipelineView, StatusView, StepView } from '../../api/run-views.ts';
import { renderSandbox } from '../../protocol/sandbox.ts';
import { shortId } from '../text.ts';
import { type Piece, renderAge, signOf } from './paint.ts';

type Line = readonly Piece[];

/** Renders a tree of steps and their runners. The brief form has only the steps in progress. */
export function pipelineItem(pipeline: PipelineView, runners: AgentsBySteps, nowMs: number): StatusItem {
  const render = (isFull: boolean): Line[] => [
    [['  '], ...pipelinePieces(pipeline, nowMs)],
    ...stepLines(pipeline, { runners, nowMs, isFull, indent: '    ', depth: 0 }),
  ];
  return { brief: render(false), full: render(true) };
}

/** An index by step, because searching for each step is slow with a thousand agents. */
export interface AgentsBySteps {
  readonly agents: ReadonlyMap<string, readonly AgentView[]>;
  readonly pipelines: ReadonlyMap<string, readonly PipelineView[]>;
}

export function findAgentsBySteps({ agents, pipelines }: Pick<StatusView, 'agents' | 'pipelines'>): AgentsBySteps {
  return {
    agents: Map.groupBy(agents, ({ pipeline_id, step }) => placeOf(pipeline_id, step)),
    pipelines: Map.groupBy(pipelines, ({ parent }) => placeOf(parent?.pipeline_id ?? null, parent?.step ?? null)),
  };
}

function placeOf(pipelineId: string | null, step: string | null): string {
  return `${pipelineId ?? ''}/${step ?? ''}`;
}

interface Drawing {
  readonly runners: AgentsBySteps;
  readonly nowMs: number;
  readonly isFull: boolean;
  readonly indent: string;
  readonly depth: number;
}

function stepLines(pipeline: PipelineView, drawing: Drawing): Line[] {
  const steps = drawing.isFull ? pipeline.steps : pipeline.steps.filter(isInProgress);
  return steps.flatMap((step, i) => {
    const isLast = i === steps.length - 1;
    const line: Line = [[drawing.indent], [isLast ? '└ ' : '├ ', 'dim'], ...stepPieces(step, drawing.nowMs)];
    if (!isInProgress(step)) return [line];
    return [line, ...linesBelow(pipeline, step, { ...drawing, indent: `${drawing.indent}${isLast ? '  ' : '│ '}` })];
  });
}

function linesBelow(pipeline: PipelineView, step: StepView, drawing: Drawing): Line[] {
  const place = placeOf(pipeline.id, step.name);
  const children = drawing.runners.pipelines.get(place) ?? [];
  const agents = drawing.runners.agents.get(place) ?? [];
  // Guards against cycles.
  const nested = drawing.depth >= MAX_DEPTH ? [] : children;
  return [
    ...nested.flatMap((child) => [
      [[drawing.indent], ...pipelinePieces(child, drawing.nowMs)] as Line,
      ...stepLines(child, { ...drawing, indent: `${drawing.indent}  `, depth: drawing.depth + 1 }),
    ]),
    ...agents.map((agent): Line => [[drawing.indent], ...agentPieces(agent, drawing.nowMs)]),
  ];
}

export function agentPieces(agent: AgentView, nowMs: number): Piece[] {
  const { id, name, status, requested_at: since, task_id: taskId, reason, sandbox } = agent;
  return [
    signOf(status),
    [` ${name}`],
    [` ${shortId(id)}`, 'dim'],
    [` ${status}`],
    [` ${renderAge(since, nowMs)}`, 'dim'],
    ...(sandbox === null
      ? []
      : [[` (${renderSandbox(sandbox.kind)})`, sandbox.kind === 'none' ? 'call' : 'dim'] as Piece]),
    ...(agent.host === undefined ? [] : [[` on ${agent.host}`, 'dim'] as Piece]),
    ...(taskId === null ? [] : [[` task ${taskId}`] as Piece]),
    ...(reason === null ? [] : [[` ${reason}`, 'dim'] as Piece]),
  ];
}

/** Omits the reason, which is shown at the step. */
function pipelinePieces(pipeline: PipelineView, nowMs: number): Piece[] {
  const { id, name, status, started_at: since, task_id: taskId } = pipeline;
  return [
    signOf(status),
    [` ${name}`, 'bold'],
    [` ${shortId(id)}`, 'dim'],
    [` ${status}`],
    [` ${renderAge(since, nowMs)}`, 'dim'],
    ...(pipeline.host === undefined ? [] : [[` on ${pipeline.host}`, 'dim'] as Piece]),
    ...(taskId === null ? [] : [[` task ${taskId}`] as Piece]),
  ];
}

export function stepPieces({ name, status, since, reason, visits }: StepView, nowMs: number): Piece[] {
  const isOn = isInProgress({ status });
  return [
    signOf(status),
    [` ${name}`, status === 'pending' ? 'dim' : 'plain'],
    ...(visits > 1 ? [[` (try ${visits})`, 'dim'] as Piece] : []),
    ...(status === 'pending' || status === 'done' ? [] : [[` ${status}`] as Piece]),
    ...(isOn ? [[` ${renderAge(since, nowMs)}`, 'dim'] as Piece] : []),
    ...(reason === null ? [] : [[` ${reason}`, 'dim'] as Piece]),
  ];
}

function isInProgress({ status }: Pick<StepView, 'status'>): boolean {
  return status === 'running' || status === 'waiting';
}

export interface StatusItem {
  readonly full: readonly Line[];
  readonly brief: readonly Line[];
}

export interface StatusSection {
  readonly title: Line;
  readonly items: readonly StatusItem[];
  /** The command that shows the rest. */
  readonly more: string;
}

/** Fits the sections into `rows` lines. Earlier sections get more, but each gets some. The rest is counted. */
export function fillSections(sections: readonly StatusSection[], rows: number): Line[] {
  const some = sections.filter(({ items }) => items.length > 0);
  const form = some.reduce((sum, section) => sum + heightOf(section, 'full'), 0) <= rows ? 'full' : 'brief';
  let left = rows;
  return some.flatMap((section, i) => {
    const later = (some.length - 1 - i) * MIN_ROWS;
    const lines = fillSection(section, form, Math.max(0, left - later));
    left -= lines.length;
    return lines;
  });
}

/** A title, one item, and the count of the rest. */
const MIN_ROWS = 3;

function heightOf({ items }: StatusSection, form: 'full' | 'brief'): number {
  return 1 + items.reduce((sum, item) => sum + item[form].length, 0);
}

function fillSection(section: StatusSection, form: 'full' | 'brief', rows: number): Line[] {
  const { title, items, more } = section;
  if (heightOf(section, form) <= rows) return [title, ...items.flatMap((item) => item[form])];
  if (rows < 2) return rows < 1 ? [] : [title];
  const lines: Line[] = [title];
  let shown = 0;
  for (const item of items) {
    // The last line is for the count of the rest.
    if (lines.length + item[form].length > rows - 1) break;
    lines.push(...item[form]);
    shown += 1;
  }
  const rest: Line = [[`  … ${items.length - shown}${shown === 0 ? '' : ' more'}: ${more}`, 'dim']];
  return [...lines, rest];
}

const MAX_DEPTH = 8;
