import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { hrefTo } from '../../app/router.ts';
import { StateMark, toneOf } from '../../kit/state-mark.tsx';
import { Words } from '../../kit/words.tsx';
import {
  columnsAround,
  type GraphLayout,
  layoutGraph,
  NODE_HEIGHT,
  NODE_WIDTH,
} from '../../model/tasks/graph-layout.ts';
import type { GraphNode, Neighbourhood } from '../../model/tasks/neighbourhood.ts';

/** The tasks up to two steps away, left to right: dependencies, the task, dependants. */
export function TaskGraph({ id, graph }: { readonly id: string; readonly graph: Neighbourhood }) {
  const layout = useMemo(() => draw(id, graph), [id, graph]);
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]));
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => centre(box.current, layout, id), [id]);
  return (
    <div ref={box} class="task-graph" role="region" aria-label="Graph of the neighbourhood" tabIndex={0}>
      <div class="canvas" style={{ width: `${layout.width}px`, height: `${layout.height}px` }}>
        <svg width={layout.width} height={layout.height} aria-hidden="true">
          {layout.edges.map(({ from, to, path }) => (
            <path key={`${from} ${to}`} d={path} class={from === id || to === id ? 'near' : ''} />
          ))}
        </svg>
        <ul>
          {layout.nodes.map(({ id: each, x, y }) => (
            <li
              key={each}
              style={{
                transform: `translate(${x}px, ${y}px)`,
                width: `${NODE_WIDTH}px`,
                height: `${NODE_HEIGHT}px`,
              }}
            >
              <Node node={nodes.get(each)} more={moreIn(graph, each)} id={id} />
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

function centre(box: HTMLElement | null, { nodes }: GraphLayout, id: string): void {
  const node = nodes.find((each) => each.id === id);
  if (box === null || node === undefined) return;
  box.scrollLeft = node.x + NODE_WIDTH / 2 - box.clientWidth / 2;
  box.scrollTop = node.y + NODE_HEIGHT / 2 - box.clientHeight / 2;
}

/** Draws the graph. The tasks that are only counted have their own node. */
function draw(id: string, { nodes, edges, more }: Neighbourhood): GraphLayout {
  const ids = nodes.map((node) => node.id);
  const columns = columnsAround(ids, edges, id);
  const rest = new Map(more.map(({ hop }) => [nameOf(hop), hop]));
  return layoutGraph([...ids, ...rest.keys()], edges, (each) => columns.get(each) ?? rest.get(each) ?? 0);
}

/** The id of a counting node; it contains a space, which ids of tasks do not. */
function nameOf(hop: number): string {
  return `more at ${hop}`;
}

function moreIn({ more }: Neighbourhood, name: string): { readonly hop: number; readonly count: number } | undefined {
  return more.find(({ hop }) => nameOf(hop) === name);
}

interface NodeProps {
  readonly node: GraphNode | undefined;
  readonly more: { readonly hop: number; readonly count: number } | undefined;
  readonly id: string;
}

function Node({ node, more, id }: NodeProps) {
  if (node === undefined) return more === undefined ? null : <More {...more} id={id} />;
  return (
    <a
      class={`node ${toneOf(node.status)}`}
      href={hrefTo({ view: 'tasks', id: node.id })}
      aria-current={node.id === id ? 'true' : undefined}
      data-task={node.id}
    >
      <span class="bar">
        <strong class="one-line">
          <Words text={node.id} most={40} />
        </strong>
        <StateMark state={node.status} />
      </span>
      <span class="one-line">
        <Words text={node.title} />
      </span>
    </a>
  );
}

function More({ hop, count, id }: { readonly hop: number; readonly count: number; readonly id: string }) {
  const words = `+${count} more ${Math.abs(hop) === 2 ? 'two steps ' : ''}${hop < 0 ? 'before' : 'after'}`;
  if (Math.abs(hop) === 2) return <span class="node more dim">{words}</span>;
  return (
    <a class="node more" href={hrefTo({ view: 'tasks', query: { q: `${hop < 0 ? 'before' : 'after'}:${id}` } })}>
      {words}
    </a>
  );
}
