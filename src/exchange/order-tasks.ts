/** Dependencies by task id. */
export type Edges = ReadonlyMap<string, ReadonlySet<string>>;

/** Repeatedly removes tasks without open dependencies. The remaining tasks are in a cycle or depend on one. */
export function findTasksInCycles(edges: Edges): ReadonlySet<string> {
  const missing = new Map<string, number>();
  const dependants = new Map<string, string[]>();
  for (const [id, after] of edges) {
    const inside = [...after].filter((before) => edges.has(before));
    missing.set(id, inside.length);
    for (const before of inside) {
      const waiting = dependants.get(before);
      if (waiting === undefined) dependants.set(before, [id]);
      else waiting.push(id);
    }
  }
  const ready = [...missing].filter(([, count]) => count === 0).map(([id]) => id);
  for (let id = ready.pop(); id !== undefined; id = ready.pop()) {
    missing.delete(id);
    for (const next of dependants.get(id) ?? []) {
      const count = (missing.get(next) ?? 0) - 1;
      missing.set(next, count);
      if (count === 0) ready.push(next);
    }
  }
  return new Set(missing.keys());
}

/** Each cycle once, as its ids. A cycle that shares a task with an earlier one is omitted. */
export function findCycles(edges: Edges): string[][] {
  const stuck = findTasksInCycles(edges);
  const seen = new Set<string>();
  const cycles: string[][] = [];
  for (const start of stuck) {
    const trail = new Map<string, number>();
    // Every remaining task depends on another remaining task, so the path ends at itself or at a visited task.
    let id: string | undefined = start;
    while (id !== undefined && !seen.has(id)) {
      seen.add(id);
      trail.set(id, trail.size);
      id = [...(edges.get(id) ?? [])].find((before) => stuck.has(before));
      const from = id === undefined ? undefined : trail.get(id);
      if (from !== undefined) cycles.push([...trail.keys()].slice(from));
    }
  }
  return cycles;
}

/** Edges whose removal leaves no cycle: each leads back to a task on the current path. */
export function findBackEdges(edges: Edges): (readonly [string, string])[] {
  const back: [string, string][] = [];
  const state = new Map<string, 'on the way' | 'walked'>();
  for (const start of findTasksInCycles(edges)) {
    if (state.has(start)) continue;
    state.set(start, 'on the way');
    const way = [{ id: start, rest: (edges.get(start) ?? new Set()).values() }];
    for (let top = way.at(-1); top !== undefined; top = way.at(-1)) {
      const { value: next, done: isDone } = top.rest.next();
      if (isDone === true) {
        state.set(top.id, 'walked');
        way.pop();
      } else if (state.get(next) === 'on the way') back.push([top.id, next]);
      else if (edges.has(next) && !state.has(next)) {
        state.set(next, 'on the way');
        way.push({ id: next, rest: (edges.get(next) ?? new Set()).values() });
      }
    }
  }
  return back;
}

/** Orders tasks after their dependencies, otherwise in the given order. The input must have no cycle. */
export function orderTasks<T extends { readonly id: string; readonly after: readonly string[] }>(
  tasks: readonly T[],
): readonly T[] {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const placed = new Set<T>();
  for (const task of tasks) {
    const open = [{ task, next: 0 }];
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      const before = placed.has(top.task) ? undefined : top.task.after[top.next];
      top.next += 1;
      const waited = before === undefined ? undefined : byId.get(before);
      if (waited !== undefined && !placed.has(waited)) open.push({ task: waited, next: 0 });
      else if (before === undefined) {
        placed.add(top.task);
        open.pop();
      }
    }
  }
  return [...placed];
}
