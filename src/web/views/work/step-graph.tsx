import { useLayoutEffect, useRef } from 'preact/hooks';
import { useStateView } from '../../app/hub-client.ts';
import { hrefTo } from '../../app/router.ts';
import { Empty, Show } from '../../kit/loading.tsx';
import { glyphOf, toneOf } from '../../kit/stages.tsx';
import { visible } from '../../kit/visible.ts';
import { ACTIVITY_WORDS, type StripStage } from '../../model/strip.ts';
import type { GraphEdge, GraphNode, StepGraph as Graph } from '../../model/run/step-graph.ts';

const [HEIGHT, GAP, DROP, EDGE] = [40, 24, 56, 24];

/**
 * The stages of a workflow or the steps of a pipeline, from left to right; those that only a failure reaches are below.
 */
export function StepGraph({
  kind,
  id,
  hrefs,
}: {
  readonly kind: 'task' | 'pipeline';
  readonly id: string;
  readonly hrefs: Readonly<Record<string, string>>;
}) {
  const graph = useStateView('step_graph', { kind, id });
  return (
    <Show loaded={graph} what="the steps">
      {(value) =>
        value.nodes.length === 0 ? <Empty>No steps are known.</Empty> : <Picture graph={value} hrefs={hrefs} />
      }
    </Show>
  );
}

interface Box {
  readonly node: GraphNode;
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

function Picture({
  graph: { nodes, edges },
  hrefs,
}: {
  readonly graph: Graph;
  readonly hrefs: Readonly<Record<string, string>>;
}) {
  const { boxes, width, height } = layOut(nodes);
  const current = useRef<HTMLDivElement>(null);
  const now = nodes.find(({ stage }) => stage.status === 'now')?.stage.name;
  const nowX = boxes.get(now ?? '')?.x ?? 0;
  // A wide graph opens at the current step.
  useLayoutEffect(() => current.current?.scrollTo({ left: nowX - 160 }), [now]);
  return (
    <div class="scroll" role="region" aria-label="Steps" tabIndex={0} ref={current}>
      <svg
        class="graph"
        width={width}
        height={height}
        viewBox={`0 0 ${width} ${height}`}
        role="group"
        aria-label="Steps and the ways between them"
      >
        <defs>
          <marker
            id="arrow"
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerWidth="8"
            markerHeight="8"
            orient="auto-start-reverse"
          >
            <path d="M0 0 8 4 0 8z" />
          </marker>
        </defs>
        {edges.map((edge) => {
          const [from, to] = [boxes.get(edge.from), boxes.get(edge.to)];
          if (from === undefined || to === undefined) return null;
          return <Edge key={`${edge.from} ${edge.to} ${edge.why}`} edge={edge} from={from} to={to} />;
        })}
        {[...boxes].map(([name, box]) => (
          <Node key={name} box={box} href={hrefs[name]} />
        ))}
      </svg>
    </div>
  );
}

/** Lays out nodes. A column is as wide as its longest word; characters are about 7 px wide. */
function layOut(nodes: readonly GraphNode[]): {
  readonly boxes: ReadonlyMap<string, Box>;
  readonly width: number;
  readonly height: number;
} {
  const widths: number[] = [];
  for (const { stage, column } of nodes) {
    const letters = Math.max(nameOf(stage).length * 7.5, (wordOf(stage).length + 2) * 6);
    widths[column] = Math.max(widths[column] ?? 72, Math.ceil(letters) + 24);
  }
  const starts: number[] = [];
  let x = EDGE / 2;
  for (const width of widths) {
    starts.push(x);
    x += width + GAP;
  }
  const rows = Math.max(...nodes.map(({ row }) => row)) + 1;
  const boxes = nodes.map((node): [string, Box] => {
    const { column, row, stage } = node;
    return [stage.name, { node, x: starts[column] ?? 0, y: EDGE + row * (HEIGHT + DROP), width: widths[column] ?? 72 }];
  });
  return { boxes: new Map(boxes), width: x - GAP + EDGE / 2, height: rows * (HEIGHT + DROP) - DROP + 2 * EDGE };
}

const IF = { done: '', fail: ' if it fails', cancel: ' if it is cancelled' } as const;

function Edge({ edge, from, to }: { readonly edge: GraphEdge; readonly from: Box; readonly to: Box }) {
  const isAhead = edge.why === 'done' && to.node.stage.visits === 0;
  return (
    <path class={`edge ${edge.why} ${isAhead ? 'ahead' : ''}`} d={pathOf(from, to)} marker-end="url(#arrow)">
      <title>{`${visible(edge.from, 60)} → ${visible(edge.to, 60)}${IF[edge.why]}`}</title>
    </path>
  );
}

/**
 * The path of an edge: straight to the next column; a curve to another row; an arc above the row if it goes back or
 * skips steps.
 */
function pathOf(from: Box, to: Box): string {
  const [a, b] = [from.node, to.node];
  if (a.row === b.row && b.column === a.column + 1) return `M${from.x + from.width} ${from.y + HEIGHT / 2}H${to.x - 1}`;
  if (a.row === b.row) {
    const [x1, x2, y] = [from.x + from.width / 2, to.x + to.width / 2, from.y];
    return `M${x1} ${y}C${x1} ${y - EDGE} ${x2} ${y - EDGE} ${x2} ${y - 1}`;
  }
  const isDown = b.row > a.row;
  // Edges down start on the right half, edges up on the left, so that a pair does not overlap.
  const side = isDown ? 0.65 : 0.35;
  const [x1, x2] = [from.x + from.width * side, to.x + to.width * side];
  const [y1, y2] = isDown ? [from.y + HEIGHT, to.y - 1] : [from.y, to.y + HEIGHT + 1];
  const bend = (y1 + y2) / 2;
  return `M${x1} ${y1}C${x1} ${bend} ${x2} ${bend} ${x2} ${y2}`;
}

const NAME_CHARACTERS = 16;

function nameOf({ name, visits }: StripStage): string {
  const short = name.length > NAME_CHARACTERS ? `${name.slice(0, NAME_CHARACTERS - 1)}…` : name;
  return `${visible(short)}${visits > 1 ? ` ×${visits}` : ''}`;
}

function Node({ box: { node, x, y, width }, href }: { readonly box: Box; readonly href: string | undefined }) {
  const { stage } = node;
  const body = (
    <>
      <title>{`${visible(stage.name, 80)}: ${wordOf(stage)}`}</title>
      <rect x={x} y={y} width={width} height={HEIGHT} rx="6" />
      <text class="node-name" x={x + 12} y={y + 17}>
        {nameOf(stage)}
      </text>
      <text class="node-state" x={x + 12} y={y + 32}>
        {glyphOf(stage)} {wordOf(stage)}
      </text>
    </>
  );
  const name = `node ${toneOf(stage)} ${stage.status}`;
  return href === undefined ? (
    <g class={name} data-step={stage.name}>
      {body}
    </g>
  ) : (
    <a class={name} href={href} data-step={stage.name}>
      {body}
    </a>
  );
}

function wordOf({ status, activity, outcome }: StripStage): string {
  if (activity !== null) return ACTIVITY_WORDS[activity];
  // An outcome may be a name of the runbook.
  return (outcome === null ? undefined : visible(outcome, 24)) ?? (status === 'ahead' ? 'ahead' : status);
}

/** The link of each step: to the session of its newest agent. */
export function sessionHrefs(
  steps: readonly { readonly name: string; readonly agentId: string | null }[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    steps.flatMap(({ name, agentId }) => (agentId === null ? [] : [[name, hrefTo({ view: 'session', id: agentId })]])),
  );
}
