import { delay } from '../../api/client/http.ts';
import { listLiving, readProcFile } from '../../api/processes.ts';
import { isOfOtherRun } from '../../api/supervisors-above.ts';
import { isShortage } from '../../protocol/resource-faults.ts';
import { isInNamespace } from '../../sandbox/bubblewrap/processes-inside.ts';

/**
 * The processes of a run: its process group, the processes with its mark in their environment, and the children of all
 * these.
 */
export interface ProcessTree {
  /** The pid of the group's leader, which is also the id of the group. */
  readonly leader: number;
  /**
   * `NAME=value` in the environment of the first process and its descendants. It identifies members only outside of
   * namespaces, and not below another supervisor, because another session could set it for its processes.
   */
  readonly mark: string;
  /**
   * Whether it runs in bubblewrap: killing bubblewrap kills every process inside, so bubblewrap is killed last and gets
   * no SIGTERM.
   */
  readonly isNamespace?: boolean;
}

/** The pids of living members. Zombies do not count: their parent only has to collect them. */
export function findAlive(tree: ProcessTree): number[] {
  return findMembers(tree, new Set()).map(({ pid }) => pid);
}

export interface Member {
  readonly pid: number;
  readonly state: string;
  readonly started: string;
  readonly parent: number;
  readonly group: number;
  readonly program: string;
  /** Distinguishes the process from a later one with the same pid. */
  readonly identity: string;
}

/**
 * Finds the members. `known`: members of the last search, through which a child can be found whose parent has exited
 * meanwhile.
 */
function findMembers(
  { leader, mark, isNamespace = false }: ProcessTree,
  known: ReadonlySet<string>,
): readonly Member[] {
  const text = `\0${mark}\0`;
  const environmentOf = (pid: number): string => `\0${readProcFile(pid, 'environ')}`;
  const isMarked = (pid: number): boolean =>
    environmentOf(pid).includes(text) && !isInNamespace(pid) && !isOfOtherRun(pid, mark);
  const isOwn = ({ pid, group, identity }: Member): boolean => group === leader || known.has(identity) || isMarked(pid);
  const living = listLiving()
    .filter(({ pid }) => pid !== process.pid)
    .map(({ pid, state, parent, group, program, started }) => ({
      pid,
      state,
      started,
      parent,
      group,
      program,
      identity: `${pid}/${started}`,
    }));
  const members = living.filter(isOwn);
  const others = new Set(living.filter((each) => !members.includes(each)));
  for (const { pid } of members) {
    for (const child of others) {
      if (child.parent !== pid) continue;
      others.delete(child);
      // A daemon started from here is not a member, nor are its children, although our process is its parent at first.
      if (isNamespace || !environmentOf(child.pid).includes('\0BATON_STATE_DIR=')) members.push(child);
    }
  }
  return members;
}

/**
 * Ends all members: SIGTERM first, SIGKILL after `killAfterMs`. Resolves when none is left, or only those of other
 * users. The search is repeated until it finds no member, because members may start processes while they are being
 * ended, and those outside the group get no group signal. The group is ended first: a client whose tool is killed would
 * report that to its model and continue.
 */
export async function endProcesses(tree: ProcessTree, killAfterMs: number): Promise<void> {
  const killAt = performance.now() + killAfterMs;
  const allAt = killAt - killAfterMs / 2;
  let first = tree.isNamespace === true ? undefined : tree.leader;
  const [known, asked, foreign] = [new Set<string>(), new Set<string>(), new Set<string>()];
  for (let waitMs = FIRST_POLL_MS; ; waitMs = Math.min(waitMs * 2, MAX_POLL_MS)) {
    const found = tryFindMembers(tree, known);
    const alive = found?.filter(({ identity }) => !foreign.has(identity)) ?? [];
    if (found !== undefined && alive.length === 0) return;
    for (const { identity } of alive) known.add(identity);
    const leftMs = killAt - performance.now();
    first ??= findGroupInside(tree, alive);
    const group = alive.filter(({ group: own }) => own === first);
    for (const each of group.length === 0 || performance.now() > allAt ? alive : group) {
      const { pid, identity } = each;
      const isAsked = asked.has(identity);
      asked.add(identity);
      if (leftMs > 0 && (isAsked || isSandbox(tree, each))) continue;
      if (!signal(pid, leftMs > 0 ? 'SIGTERM' : 'SIGKILL')) foreign.add(identity);
    }
    await delay(leftMs > 0 ? Math.min(waitMs, leftMs) : waitMs);
  }
}

function isSandbox({ isNamespace, leader }: ProcessTree, { pid, program }: Member): boolean {
  return isNamespace === true && (pid === leader || program === 'bwrap');
}

/** The group of the client, which bubblewrap has started in a separate session. */
function findGroupInside(tree: ProcessTree, members: readonly Member[]): number | undefined {
  const around = new Set(members.filter((each) => isSandbox(tree, each)).map(({ pid }) => pid));
  return members.find((each) => !around.has(each.pid) && around.has(each.parent))?.group;
}

/** Returns undefined if no descriptor is free: it is then unknown whether a member is left. */
export function tryFindMembers(tree: ProcessTree, known: ReadonlySet<string>): readonly Member[] | undefined {
  try {
    return findMembers(tree, known);
  } catch (error) {
    if (isShortage(error)) return undefined;
    throw error;
  }
}

const FIRST_POLL_MS = 5;
const MAX_POLL_MS = 100;

/** Returns false if the process belongs to another user. */
function signal(pid: number, name: 'SIGTERM' | 'SIGKILL'): boolean {
  try {
    return process.kill(pid, name);
  } catch (error) {
    // For other errors the process has exited, which the next search shows.
    return !(error instanceof Error && 'code' in error && error.code === 'EPERM');
  }
}
