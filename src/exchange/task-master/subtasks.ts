import type { ExchangedTask } from '../task.ts';

export interface Subtasks {
  /** The whole of each part. */
  readonly partsOf: ReadonlyMap<string, string>;
  /** What each of them waits for just by being a part, or by having parts. */
  readonly said: ReadonlyMap<string, ReadonlySet<string>>;
}

/**
 * Which tasks can be written as subtasks, `3.1` of `3`. A subtask says: the whole waits for me, and I wait for what the whole waits for. Where that is not so, it
 * is a task of its own.
 */
export function findSubtasks(tasks: readonly ExchangedTask[], fresh: ReadonlySet<string>): Subtasks {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const partsOf = new Map<string, string>();
  const said = new Map<string, ReadonlySet<string>>();
  for (const [whole, candidates] of candidatesOf(tasks, byId, fresh)) {
    const own = new Set(whole.after);
    for (const part of candidates) own.delete(part.id);
    const parts = dropInconsistentParts(candidates, own);
    for (const part of parts) {
      partsOf.set(part.id, whole.id);
      said.set(part.id, own);
    }
    said.set(whole.id, new Set(parts.map(({ id }) => id)));
  }
  return { partsOf, said };
}

function candidatesOf(
  tasks: readonly ExchangedTask[],
  byId: ReadonlyMap<string, ExchangedTask>,
  fresh: ReadonlySet<string>,
): Map<ExchangedTask, ExchangedTask[]> {
  const families = new Map<ExchangedTask, ExchangedTask[]>();
  for (const task of tasks) {
    const whole = byId.get(/^([1-9]\d{0,8})\.[1-9]\d{0,8}$/.exec(task.id)?.[1] ?? '');
    if (whole === undefined || !fresh.has(task.id) || !fresh.has(whole.id) || !whole.after.includes(task.id)) continue;
    const family = families.get(whole);
    if (family === undefined) families.set(whole, [task]);
    else family.push(task);
  }
  return families;
}

/** Whoever does not wait for all of `own` is no part; the whole then waits for it by itself, and so must the others. */
function dropInconsistentParts(candidates: readonly ExchangedTask[], own: Set<string>): readonly ExchangedTask[] {
  let parts = candidates;
  for (;;) {
    const fitting = parts.filter(({ after }) => own.size <= after.length && [...own].every((id) => after.includes(id)));
    if (fitting.length === parts.length) return parts;
    for (const part of parts) if (!fitting.includes(part)) own.add(part.id);
    parts = fitting;
  }
}
