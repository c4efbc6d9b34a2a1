/** The tasks that wait for a task, in chunks: thousands may wait for one, and adding one copies only the last chunk. */
export type Dependants = readonly (readonly string[])[];
const CHUNK = 256;

interface DependencyMap {
  readonly dependants: Map<string, Dependants>;
}

export function addDependant({ dependants }: DependencyMap, before: string, taskId: string): void {
  const chunks = dependants.get(before) ?? [];
  const last = chunks.at(-1) ?? [];
  const more = last.length < CHUNK ? [...chunks.slice(0, -1), [...last, taskId]] : [...chunks, [taskId]];
  dependants.set(before, more);
}

/** Yields dependent tasks, oldest edge first. */
export function* dependantsOf({ dependants }: DependencyMap, id: string): Generator<string> {
  for (const chunk of dependants.get(id) ?? []) yield* chunk;
}
