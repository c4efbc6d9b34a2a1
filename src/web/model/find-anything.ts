import type { State } from '../../state/state.ts';

export interface Found {
  readonly kind: 'task' | 'agent' | 'pipeline' | 'decision';
  readonly id: string;
  readonly title: string;
}

const MOST = 12;

/**
 * Searches for the palette: tasks, agents, pipelines and open decisions whose id or title has every word. Exact ids
 * come first.
 */
export function findAnything(state: State, { text }: { readonly text: string }): readonly Found[] {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  if (words.length === 0) return [];
  const found: Found[] = [];
  for (const each of candidates(state)) {
    const searched = `${each.id} ${each.title}`.toLowerCase();
    if (!words.every((word) => searched.includes(word))) continue;
    if (each.id.toLowerCase() === words[0]) found.unshift(each);
    else found.push(each);
    if (found.length >= MOST) break;
  }
  return found;
}

/** Newest first within each kind, because people look for recent items. */
function* candidates(state: State): Generator<Found> {
  for (const { id, title, result } of newestFirst(state.decisions))
    if (result === null) yield { kind: 'decision', id, title };
  for (const { id, title } of newestFirst(state.tasks)) yield { kind: 'task', id, title };
  for (const { id, plan } of newestFirst(state.agents)) yield { kind: 'agent', id, title: plan.name };
  for (const { id, name } of newestFirst(state.pipelines)) yield { kind: 'pipeline', id, title: name };
}

function newestFirst<V>(map: ReadonlyMap<string, V>): readonly V[] {
  return [...map.values()].toReversed();
}
