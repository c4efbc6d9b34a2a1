/** A graph in columns, left to right: every edge leads to the right. */
export interface GraphLayout {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
}

interface PlacedNode {
  readonly id: string;
  readonly x: number;
  readonly y: number;
}

interface PlacedEdge {
  readonly from: string;
  readonly to: string;
  /** The `d` attribute of an SVG path. */
  readonly path: string;
}

type Edge = readonly [from: string, to: string];

export const NODE_WIDTH = 168;
export const NODE_HEIGHT = 48;
const GAP_X = 40;
const GAP_Y = 12;
/** The height of a lane, in which an edge passes a column between its nodes. */
const LANE_HEIGHT = 8;

/** A node, or the lane of an edge through a column. */
interface Slot {
  readonly name: string;
  readonly height: number;
}

/** Lays out a graph. `columnOf` gives each node its column; edges between equal or reversed columns are omitted. */
export function layoutGraph(
  ids: readonly string[],
  edges: readonly Edge[],
  columnOf: (id: string) => number,
): GraphLayout {
  const columns = new Map<number, Slot[]>();
  const put = (column: number, slot: Slot): void => void columns.set(column, [...(columns.get(column) ?? []), slot]);
  for (const id of ids) put(columnOf(id), { name: id, height: NODE_HEIGHT });
  const routes = edges
    .filter(([from, to]) => columnOf(from) < columnOf(to))
    .map(([from, to]) => {
      const lanes: string[] = [];
      for (let column = columnOf(from) + 1; column < columnOf(to); column += 1) {
        const name = `${from}\n${to}\n${column}`;
        put(column, { name, height: LANE_HEIGHT });
        lanes.push(name);
      }
      return [from, ...lanes, to];
    });
  const first = Math.min(...columns.keys());
  const ordered = untangle(columns, routes);
  const heights = [...ordered.values()].map(heightOf);
  const height = Math.max(0, ...heights);
  const places = place(ordered, height, first);
  return {
    width: columns.size === 0 ? 0 : (Math.max(...columns.keys()) - first) * (NODE_WIDTH + GAP_X) + NODE_WIDTH,
    height,
    nodes: ids.flatMap((id) => {
      const at = places.get(id);
      return at === undefined ? [] : [{ id, x: at.x, y: at.y - NODE_HEIGHT / 2 }];
    }),
    edges: routes.map((route) => ({
      from: route[0] ?? '',
      to: route.at(-1) ?? '',
      path: drawRoute(route.flatMap((name) => places.get(name) ?? [])),
    })),
  };
}

const SWEEPS = 6;

/** Reduces crossings: moves each slot towards the middle of its neighbours, column by column. */
function untangle(
  columns: ReadonlyMap<number, readonly Slot[]>,
  routes: readonly (readonly string[])[],
): ReadonlyMap<number, readonly Slot[]> {
  const neighbours = new Map<string, string[]>();
  const join = (a: string, b: string): void => void neighbours.set(a, [...(neighbours.get(a) ?? []), b]);
  for (const route of routes) {
    for (const [i, name] of route.entries()) {
      const next = route[i + 1];
      if (next === undefined) continue;
      join(name, next);
      join(next, name);
    }
  }
  const ordered = new Map([...columns].sort(([a], [b]) => a - b));
  const rank = new Map<string, number>();
  const number = (slots: readonly Slot[]): void => {
    for (const [i, { name }] of slots.entries()) rank.set(name, i - (slots.length - 1) / 2);
  };
  for (const slots of ordered.values()) number(slots);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const order = sweep % 2 === 0 ? [...ordered.keys()] : [...ordered.keys()].toReversed();
    for (const column of order) {
      const weight = ({ name }: Slot): number => {
        const ranks = (neighbours.get(name) ?? []).map((other) => rank.get(other) ?? 0);
        return ranks.length === 0 ? (rank.get(name) ?? 0) : ranks.reduce((sum, each) => sum + each, 0) / ranks.length;
      };
      const slots = (ordered.get(column) ?? []).toSorted((a, b) => weight(a) - weight(b));
      ordered.set(column, slots);
      number(slots);
    }
  }
  return ordered;
}

function heightOf(slots: readonly Slot[]): number {
  return slots.reduce((sum, { height }) => sum + height + GAP_Y, -GAP_Y);
}

interface Place {
  readonly x: number;
  /** The vertical middle. */
  readonly y: number;
}

function place(
  columns: ReadonlyMap<number, readonly Slot[]>,
  height: number,
  first: number,
): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>();
  for (const [column, slots] of columns) {
    let top = (height - heightOf(slots)) / 2;
    for (const slot of slots) {
      places.set(slot.name, { x: (column - first) * (NODE_WIDTH + GAP_X), y: top + slot.height / 2 });
      top += slot.height + GAP_Y;
    }
  }
  return places;
}

function drawRoute(places: readonly Place[]): string {
  const parts: string[] = [];
  for (const [i, { x, y }] of places.entries()) {
    const next = places[i + 1];
    if (next === undefined) break;
    const right = x + NODE_WIDTH;
    const middle = (right + next.x) / 2;
    parts.push(i === 0 ? `M${right} ${y}` : `L${right} ${y}`);
    parts.push(`C${middle} ${y} ${middle} ${next.y} ${next.x} ${next.y}`);
  }
  return parts.join('');
}

/**
 * The column of each node around the centre: dependencies on its left, dependants on its right, at the length of the
 * longest path.
 */
export function columnsAround(
  ids: readonly string[],
  edges: readonly Edge[],
  centre: string,
): ReadonlyMap<string, number> {
  const columns = new Map([[centre, 0]]);
  const at = ids.indexOf(centre);
  const [left, right] = [new Set(ids.slice(0, at)), new Set(ids.slice(at + 1))];
  // One pass per node at most: a later pass would only follow a cycle.
  for (let pass = 0; pass < ids.length; pass += 1) {
    for (const [from, to] of edges) {
      const [a, b] = [columns.get(from), columns.get(to)];
      if (b !== undefined && b <= 0 && left.has(from)) columns.set(from, Math.min(a ?? 0, b - 1));
      if (a !== undefined && a >= 0 && right.has(to)) columns.set(to, Math.max(b ?? 0, a + 1));
    }
  }
  return columns;
}
