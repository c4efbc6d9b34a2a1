import { describe, expect, it } from 'vitest';
import { given } from '../../../state/given.cases.ts';
import { create, operate, operator } from '../../../state/say.cases.ts';
import type { State } from '../../../state/state.ts';
import { columnsAround, layoutGraph, NODE_HEIGHT, NODE_WIDTH } from './graph-layout.ts';
import { linksOf } from './task-links.ts';

function project(lines: readonly string[], done: readonly string[] = []): State {
  return given([
    ...lines.map((line) => {
      const [id = '', after] = line.split(' after ');
      return [create(id, after === undefined ? {} : { after: after.split(' ') }), operator] as const;
    }),
    ...done.map((id) => [operate('waive', 'done', id), operator] as const),
  ]).state;
}

const names = (tasks: readonly { readonly id: string }[] | undefined) => tasks?.map(({ id }) => id).join(' ');

describe('the links of a task', () => {
  it('are what it waits for, what waits for it, and the chain through it', () => {
    const state = project(['A', 'B', 'C after A B', 'D after C', 'E after D', 'F after C'], ['A']);
    const links = linksOf(state, { id: 'C' });
    expect(links?.waitsFor).toEqual({
      tasks: [
        { id: 'A', title: 'do A', status: 'done' },
        { id: 'B', title: 'do B', status: 'todo' },
      ],
      more: 0,
    });
    expect(names(links?.waitedFor.tasks)).toBe('D F');
    expect(links?.chain).toMatchObject({ from: 0, length: 4, longest: 4 });
    expect(names(links?.chain.tasks)).toBe('B C D E');
  });

  it('are null for a task that does not exist', () => {
    expect(linksOf(project(['A']), { id: 'B' })).toBeNull();
  });

  it('name only the part of a long chain that is near', () => {
    const lines = Array.from({ length: 40 }, (_, i) => (i === 0 ? 'T0' : `T${i} after T${i - 1}`));
    const chain = linksOf(project(lines), { id: 'T20' })?.chain;
    expect(chain).toMatchObject({ from: 14, length: 40 });
    expect(chain?.tasks.at(0)?.id).toBe('T14');
    expect(chain?.tasks.at(-1)?.id).toBe('T26');
  });

  it('count the rest of very many', () => {
    const lines = ['A', ...Array.from({ length: 200 }, (_, i) => `T${i} after A`)];
    const links = linksOf(project(lines), { id: 'A' });
    expect([links?.waitedFor.tasks.length, links?.waitedFor.more]).toEqual([12, 188]);
  });
});

describe('the neighbourhood of a task', () => {
  it('is two steps wide in each direction', () => {
    const lines = ['A', 'B after A', 'C after B', 'D after C', 'E after D', 'F after E', 'X after B', 'Y'];
    const graph = linksOf(project(lines), { id: 'D' })?.graph;
    expect(names(graph?.nodes)).toBe('B C D E F');
    expect(graph?.edges.map((edge) => edge.join('→'))).toEqual(['B→C', 'C→D', 'D→E', 'E→F']);
    expect(graph?.more).toEqual([]);
  });

  it('shows at most 60 tasks, unfinished ones first, and counts the rest', () => {
    const before = Array.from({ length: 30 }, (_, i) => `B${i}`);
    const after = Array.from({ length: 26 }, (_, i) => `A${i} after X`);
    const further = Array.from({ length: 20 }, (_, i) => `Z${i} after A25`);
    const state = project([...before, `X after ${before.join(' ')}`, ...after, ...further], ['B0', 'B1', 'B2']);
    const graph = linksOf(state, { id: 'X' })?.graph;
    expect(graph?.nodes.length).toBeLessThanOrEqual(60);
    expect(graph?.nodes.some(({ id }) => id === 'B0')).toBe(false);
    expect(graph?.more).toEqual([
      { hop: -1, count: 16 },
      { hop: 1, count: 12 },
      { hop: 2, count: 6 },
    ]);
  });
});

describe('the drawing of a graph', () => {
  const ids = ['A', 'B', 'C', 'X', 'D', 'E', 'F'];
  const edges = [['A', 'B'], ['B', 'X'], ['A', 'X'], ['C', 'X'], ['X', 'D'], ['D', 'E'], ['X', 'E'], ['C', 'F'], ['E', 'F']] as const; // prettier-ignore
  const columns = columnsAround(ids, edges, 'X');
  const graph = layoutGraph(ids, edges, (id) => columns.get(id) ?? 0);
  const at = (id: string) => graph.nodes.find((node) => node.id === id) ?? { x: -1, y: -1 };

  it('leads from left to right', () => {
    expect(Object.fromEntries(columns)).toEqual({ A: -2, B: -1, C: -1, X: 0, D: 1, E: 2, F: 3 });
    for (const [from, to] of edges) expect(at(from).x + NODE_WIDTH).toBeLessThan(at(to).x);
    expect(graph.edges).toHaveLength(edges.length);
  });

  it('lets no two tasks overlap, and stays within its size', () => {
    for (const a of graph.nodes) {
      expect(a.x + NODE_WIDTH).toBeLessThanOrEqual(graph.width);
      expect(a.y).toBeGreaterThanOrEqual(0);
      expect(a.y + NODE_HEIGHT).toBeLessThanOrEqual(graph.height);
      const others = graph.nodes.filter(({ id, x }) => id !== a.id && x === a.x);
      for (const b of others) expect(Math.abs(a.y - b.y)).toBeGreaterThanOrEqual(NODE_HEIGHT);
    }
  });

  it('takes edges past the tasks in between, not through them', () => {
    const [, y = ''] = /^M\d+ [\d.]+C[\d.]+ [\d.]+ [\d.]+ [\d.]+ [\d.]+ ([\d.]+)L/.exec(graph.edges.find(({ from, to }) => from === 'A' && to === 'X')?.path ?? '') ?? []; // prettier-ignore
    const passed = graph.nodes.filter(({ x }) => x === at('B').x);
    for (const node of passed) expect(Number(y) < node.y || Number(y) > node.y + NODE_HEIGHT).toBe(true);
    expect(y).not.toBe('');
  });

  it('draws one task alone', () => {
    const alone = layoutGraph(['A'], [], () => 0);
    expect(alone).toEqual({ width: NODE_WIDTH, height: NODE_HEIGHT, nodes: [{ id: 'A', x: 0, y: 0 }], edges: [] });
  });
});
