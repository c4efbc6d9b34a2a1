import { quote } from '../protocol/shape/quote.ts';
import type { ImportFindings, FoundTask } from './findings.ts';
import { EXCHANGE_LIMITS } from './limits.ts';
import { findCycles, findTasksInCycles } from './order-tasks.ts';

type PartEdges = Map<string, Set<string>>;

/**
 * A whole waits for its parts, and what the whole waits for its parts wait for too: they are the work. Where the latter would
 * make a cycle, since something that the whole waits for needs one of its parts, the parts concerned wait for less. A part that is said to
 * wait for its whole comes after it: what somebody wrote down counts more than that it is a part.
 */
export function addPartDependencies(
  found: readonly FoundTask[],
  ids: ReadonlyMap<string, string>,
  own: ReadonlyMap<string, ReadonlySet<string>>,
  findings: ImportFindings,
  sayCycle: (cycle: readonly string[]) => void,
): ReadonlyMap<string, ReadonlySet<string>> {
  const parents = findParents(found, ids, own, findings);
  if (parents.size === 0) return own;
  const edges: PartEdges = new Map([...own].map(([id, after]) => [id, new Set(after)]));
  for (const [part, whole] of parents) edges.get(whole)?.add(part);
  const cycles = findCycles(edges);
  for (const cycle of cycles) sayCycle(cycle);
  if (cycles.length > 0 || !isShallow(found, ids, parents, findings)) return edges;
  const joined: PartEdges = new Map(
    [...edges].map(([id, after]) => [id, new Set([...after, ...inherited(id, parents, own)])]),
  );
  const stuck = findTasksInCycles(joined);
  for (const id of stuck) joined.set(id, edges.get(id) ?? new Set());
  if (stuck.size > 0) {
    findings.notice(`${[...stuck].slice(0, 5).join(', ')}: parts of something that waits for what needs them`, null);
  }
  return joined;
}

function findParents(
  found: readonly FoundTask[],
  ids: ReadonlyMap<string, string>,
  own: ReadonlyMap<string, ReadonlySet<string>>,
  findings: ImportFindings,
): ReadonlyMap<string, string> {
  const parents = new Map<string, string>();
  for (const { id, parent, at } of found) {
    const [part, whole] = [ids.get(id), parent === undefined ? undefined : ids.get(parent)];
    if (part === undefined || whole === undefined) continue;
    if (own.get(part)?.has(whole) === true)
      findings.notice(`${quote(id)} waits for the whole that it is a part of: it comes after it`, at);
    else parents.set(part, whole);
  }
  return parents;
}

/** Nobody plans in more layers than this; without a limit, a hostile file would be a long walk. */
function isShallow(
  found: readonly FoundTask[],
  ids: ReadonlyMap<string, string>,
  parents: ReadonlyMap<string, string>,
  findings: ImportFindings,
): boolean {
  const deep = found.find(({ id }) => {
    let up = parents.get(ids.get(id) ?? '');
    for (let depth = 0; up !== undefined && depth <= EXCHANGE_LIMITS.depth; depth++) up = parents.get(up);
    return up !== undefined;
  });
  if (deep === undefined) return true;
  const message = `${quote(deep.id)} is a part of a part more than ${EXCHANGE_LIMITS.depth} times over`;
  findings.problem('import/too-deep', message, deep.at, 'Make the list flatter.');
  return false;
}

/** What those above it wait for, but for their own parts. There is no cycle among parents. */
function inherited(
  id: string,
  parents: ReadonlyMap<string, string>,
  own: ReadonlyMap<string, ReadonlySet<string>>,
): string[] {
  const all: string[] = [];
  const line = new Set([id]);
  for (let whole = parents.get(id); whole !== undefined; whole = parents.get(whole)) {
    for (const before of own.get(whole) ?? [])
      if (!isPartOf(before, whole, parents) && !line.has(before)) all.push(before);
    line.add(whole);
    if (all.length > EXCHANGE_LIMITS.dependencies) break;
  }
  return all;
}

function isPartOf(id: string, whole: string, parents: ReadonlyMap<string, string>): boolean {
  for (let up = parents.get(id); up !== undefined; up = parents.get(up)) if (up === whole) return true;
  return false;
}
