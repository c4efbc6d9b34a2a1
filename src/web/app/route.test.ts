import { describe, expect, it } from 'vitest';
import { parseRoute, renderRoute } from './route.ts';

describe('addresses of the page', () => {
  it.each([
    ['#/demo/tasks/T001', { project: 'demo', view: 'tasks', id: 'T001', query: {} }],
    ['#/demo/work/task%3AW-1/graph', { project: 'demo', view: 'work', id: 'task:W-1', part: 'graph', query: {} }],
    ['#/demo/tasks?q=status%3Ablocked+a', { project: 'demo', view: 'tasks', query: { q: 'status:blocked a' } }],
  ] as const)('reads %s, and writes it again', (hash, route) => {
    expect(parseRoute(hash)).toEqual(route);
    expect(renderRoute(route)).toBe(hash);
  });

  it.each(['', '#', '#/', '#/demo', '#/demo/nonsense', '#/demo/%E0%A4%A'])('opens the inbox for %j', (hash) => {
    expect(parseRoute(hash).view).toBe('inbox');
  });

  it('keeps ids with any character apart', () => {
    const route = { project: 'p', view: 'tasks', id: 'a/b?c#d', query: {} } as const;
    expect(parseRoute(renderRoute(route))).toEqual(route);
  });
});
