import { accepted, type Parsed, quote, refused } from '../protocol/shape/problem.ts';
import type { FoundTask, ImportFindings } from './findings.ts';
import { isTaskId, toTaskId } from './foreign-id.ts';
import { type Edges, findBackEdges, findCycles, findTasksInCycles, orderTasks } from './order-tasks.ts';
import { EXCHANGE_LIMITS as LIMITS, type ExchangedTask, type ImportedTasks, type ImportOptions } from './task.ts';

export function resolveTasks(
  found: readonly FoundTask[],
  findings: ImportFindings,
  options: ImportOptions = {},
): Parsed<ImportedTasks> {
  if (found.length === 0 && findings.problems.length === 0) {
    findings.problem('import/no-tasks', 'the text has no task', 0, 'See the supported formats: baton docs import');
  }
  if (found.length > LIMITS.tasks) {
    const at = found[LIMITS.tasks]?.at ?? 0;
    findings.problem('import/too-many', `${found.length} tasks > ${LIMITS.tasks} tasks maximum`, at, 'Split the file.');
    return refuseWithProblems(findings);
  }
  const ids = findIds(found, findings);
  const edges = findEdges(found, ids, findings, options.known ?? new Set());
  const tasks = found.map((task) => checked(task, ids, edges, findings));
  if (findings.problems.length > 0) return refuseWithProblems(findings);
  return accepted({ tasks: orderTasks(tasks), notices: findings.notices });
}

export function refuseWithProblems({ problems: [first, ...rest] }: ImportFindings): Parsed<never> {
  if (first === undefined) throw new Error('refused without a problem');
  return refused(first, ...rest);
}

type Ids = ReadonlyMap<string, string>;

function findIds(found: readonly FoundTask[], findings: ImportFindings): Ids {
  const ids = new Map<string, string>();
  const taken = new Map<string, number>();
  for (const { id, taskId = toTaskId(id), at } of found) {
    if (taskId === undefined || !isTaskId(taskId)) {
      const hint =
        'Baton holds 64 characters; every one but letters, digits, `.` and `-` takes several. Shorten the id.';
      findings.problem('import/long-id', `the id is too long: ${quote(id)}`, at, hint);
      continue;
    }
    const first = taken.get(taskId);
    if (first !== undefined || ids.has(id)) {
      const where = first === undefined ? '' : `, first in line ${findings.lineOf(first)}`;
      findings.problem('import/duplicate-id', `the id ${quote(id)} appears twice${where}`, at, 'Rename one of them.');
      continue;
    }
    taken.set(taskId, at);
    ids.set(id, taskId);
    if (taskId !== id && toTaskId(id) === taskId) findings.notice(`the id ${quote(id)} becomes ${taskId}`, at);
  }
  return ids;
}

function findEdges(found: readonly FoundTask[], ids: Ids, findings: ImportFindings, known: ReadonlySet<string>): Edges {
  const own = new Map<string, Set<string>>();
  for (const task of found) {
    const id = ids.get(task.id);
    if (id !== undefined) own.set(id, new Set(dependenciesOf(task, ids, findings, known)));
  }
  dropLooseCycleEdges(found, ids, own, findings);
  const cycles = findCycles(own);
  for (const cycle of cycles) reportCycle(cycle, found, ids, findings);
  return cycles.length > 0 ? own : addPartDependencies(found, ids, own, findings);
}

function dependenciesOf(task: FoundTask, ids: Ids, findings: ImportFindings, known: ReadonlySet<string>): string[] {
  return task.after.flatMap(({ id, at, isLoose = false }) => {
    const there = ids.get(id) ?? [id, toTaskId(id)].find((each) => each !== undefined && known.has(each));
    if (there !== undefined && !(isLoose && id === task.id)) return [there];
    const message = `${quote(task.id)} waits for ${quote(id)}, which ${id === task.id ? 'is itself' : 'does not exist'}`;
    if (isLoose) findings.notice(`${message}: skipped`, at);
    else findings.problem('import/unknown-dependency', message, at, 'Add that task, or remove the dependency.');
    return [];
  });
}

/** A phrase such as `after #7` may mean no dependency: if such phrases form a cycle, one is dropped with a notice. */
function dropLooseCycleEdges(
  found: readonly FoundTask[],
  ids: Ids,
  own: Map<string, Set<string>>,
  findings: ImportFindings,
): void {
  const loose = found.filter(({ after }) => after.some(({ isLoose }) => isLoose));
  if (loose.length === 0) return;
  const byId = new Map(loose.map((task) => [ids.get(task.id), task]));
  for (const [from, to] of findBackEdges(own)) {
    const task = byId.get(from);
    const phrase = task?.after.find(({ id, isLoose }) => isLoose === true && (ids.get(id) ?? id) === to);
    if (phrase === undefined || own.get(from)?.delete(to) !== true) continue;
    findings.notice(`${quote(from)} waits for ${quote(to)}, which waits for it: skipped`, phrase.at);
  }
}

function reportCycle(cycle: readonly string[], found: readonly FoundTask[], ids: Ids, findings: ImportFindings): void {
  const at = found.find(({ id }) => ids.get(id) === cycle[0])?.at ?? 0;
  const shown = cycle.length > SHOWN ? [...cycle.slice(0, SHOWN), '…', cycle[0] ?? ''] : [...cycle, cycle[0] ?? ''];
  findings.problem('import/cycle', `cycle: ${shown.join(' → ')}`, at, 'Remove one of these dependencies.');
}

const SHOWN = 20;

function checked(found: FoundTask, ids: Ids, edges: Edges, findings: ImportFindings): ExchangedTask {
  const { status, priority, at, description, githubIssue } = found;
  const id = ids.get(found.id) ?? found.id;
  const title = found.title.replace(/\s+/gu, ' ').trim();
  const after = [...(edges.get(id) ?? [])];
  if (title === '') findings.problem('import/no-title', `${quote(found.id)} has no title`, at, 'Give it a title.');
  if (title.length > LIMITS.titleCharacters) {
    const message = `the title of ${quote(found.id)} has ${title.length} characters > ${LIMITS.titleCharacters} maximum`;
    findings.problem('import/long-title', message, at, 'Put the rest of it into the description.');
  }
  if (after.length > LIMITS.dependencies) {
    const message = `${quote(found.id)} waits for ${after.length} tasks > ${LIMITS.dependencies} maximum`;
    findings.problem('import/too-many', message, at, 'Add intermediate tasks, each for a part of them.');
  }
  if (!Number.isSafeInteger(priority)) {
    const hint = 'Use a whole number; the larger, the sooner.';
    findings.problem('import/priority', `the priority of ${quote(found.id)} is not a whole number`, at, hint);
  }
  const source = githubIssue === undefined ? {} : { githubIssue };
  return { id, title, description, status, reason: reasonOf(found), priority, after, ...source };
}

function reasonOf({ status, reason }: FoundTask): string | null {
  if (status !== 'blocked' && status !== 'cancelled') return null;
  return (reason ?? '').slice(0, LIMITS.reasonCharacters).toWellFormed() || `${status} when it was imported`;
}

type PartEdges = Map<string, Set<string>>;

/** Parts inherit the dependencies of their task, unless that forms a cycle. A written dependency takes precedence. */
function addPartDependencies(found: readonly FoundTask[], ids: Ids, own: Edges, findings: ImportFindings): Edges {
  const parents = findParents(found, ids, own, findings);
  if (parents.size === 0) return own;
  const edges: PartEdges = new Map([...own].map(([id, after]) => [id, new Set(after)]));
  for (const [part, whole] of parents) edges.get(whole)?.add(part);
  const cycles = findCycles(edges);
  for (const cycle of cycles) reportCycle(cycle, found, ids, findings);
  if (cycles.length > 0 || !isShallow(found, ids, parents, findings)) return edges;
  const joined: PartEdges = new Map(
    [...edges].map(([id, after]) => [id, new Set([...after, ...inherited(id, parents, own)])]),
  );
  const stuck = findTasksInCycles(joined);
  for (const id of stuck) joined.set(id, edges.get(id) ?? new Set());
  if (stuck.size > 0) {
    findings.notice(
      `${[...stuck].slice(0, 5).join(', ')}: their parent task depends on tasks that wait for them, so they do not inherit its dependencies`,
      null,
    );
  }
  return joined;
}

function findParents(found: readonly FoundTask[], ids: Ids, own: Edges, findings: ImportFindings): Ids {
  const parents = new Map<string, string>();
  for (const { id, parent, at } of found) {
    const [part, whole] = [ids.get(id), parent === undefined ? undefined : ids.get(parent)];
    if (part === undefined || whole === undefined) continue;
    if (own.get(part)?.has(whole) === true)
      findings.notice(`${quote(id)} waits for its own parent, so it is read as a separate task after the parent`, at);
    else parents.set(part, whole);
  }
  return parents;
}

/** Limits nesting, so that a hostile file cannot cause a long walk. */
function isShallow(found: readonly FoundTask[], ids: Ids, parents: Ids, findings: ImportFindings): boolean {
  const deep = found.find(({ id }) => {
    let up = parents.get(ids.get(id) ?? '');
    for (let depth = 0; up !== undefined && depth <= LIMITS.depth; depth++) up = parents.get(up);
    return up !== undefined;
  });
  if (deep === undefined) return true;
  const message = `${quote(deep.id)} is nested more than ${LIMITS.depth} levels deep`;
  findings.problem('import/too-deep', message, deep.at, 'Make the list flatter.');
  return false;
}

/** The dependencies of all ancestors, except their own parts. Parents never form a cycle. */
function inherited(id: string, parents: Ids, own: Edges): string[] {
  const all: string[] = [];
  const line = new Set([id]);
  for (let whole = parents.get(id); whole !== undefined; whole = parents.get(whole)) {
    for (const before of own.get(whole) ?? [])
      if (!isPartOf(before, whole, parents) && !line.has(before)) all.push(before);
    line.add(whole);
    if (all.length > LIMITS.dependencies) break;
  }
  return all;
}

function isPartOf(id: string, whole: string, parents: Ids): boolean {
  for (let up = parents.get(id); up !== undefined; up = parents.get(up)) if (up === whole) return true;
  return false;
}
