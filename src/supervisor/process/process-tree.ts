import { listLiving, readProcFile } from '../../api/processes.ts';
import { isShortage } from '../../protocol/resource-faults.ts';

/**
 * Everything that one run has started: who is in its process group, who left it but still has its mark in the environment, and the children of
 * all these, also where they have neither.
 */
export interface ProcessTree {
  /** Number of the process that leads the group; the group has the same. */
  readonly leader: number;
  /** `NAME=value`, as the first process got it and passed it on. */
  readonly mark: string;
}

/** The numbers of those that live. A zombie answers signals, but it is dead: nobody has collected it yet. */
export function findAlive(tree: ProcessTree): number[] {
  return findMembers(tree, new Set()).map(({ pid }) => pid);
}

interface Member {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** Told apart from whoever has its number later. */
  readonly identity: string;
}

/** `known`: who belonged to it when it was looked at last; a child whose parent has gone meanwhile is nobody's by now. */
function findMembers({ leader, mark }: ProcessTree, known: ReadonlySet<string>): readonly Member[] {
  const text = `\0${mark}\0`;
  const environmentOf = (pid: number): string => `\0${readProcFile(pid, 'environ')}`;
  const isOwn = ({ pid, group, identity }: Member): boolean =>
    group === leader || known.has(identity) || environmentOf(pid).includes(text);
  const living = listOthers();
  const members = living.filter(isOwn);
  const others = new Set(living.filter((each) => !members.includes(each)));
  for (const { pid } of members) {
    for (const child of others) {
      if (child.parent !== pid) continue;
      others.delete(child);
      // A daemon that was started from here, and whatever it has started, is not ours, though it has our process for a parent at first.
      if (!environmentOf(child.pid).includes(BATON_MARK)) members.push(child);
    }
  }
  return members;
}

const BATON_MARK = '\0BATON_STATE_DIR=';

/**
 * Ends them all: asked first, and killed `killAfterMs` later. Resolves when none is left, or only those of other users, whom nobody can end
 * here. A process may start another while it is being ended, and one that left the group gets no signal that is sent to it, so we look again
 * until nobody is there. The group goes before those that left it: a client whose tool is ended under it would go and tell its model, and do
 * what that says next.
 */
export async function endProcesses(tree: ProcessTree, killAfterMs: number): Promise<void> {
  const killAt = performance.now() + killAfterMs;
  const allAt = killAt - killAfterMs / 2;
  const [known, asked, foreign] = [new Set<string>(), new Set<string>(), new Set<string>()];
  for (let waitMs = FIRST_POLL_MS; ; waitMs = Math.min(waitMs * 2, MAX_POLL_MS)) {
    const found = tryFindMembers(tree, known);
    const alive = found?.filter(({ identity }) => !foreign.has(identity)) ?? [];
    if (found !== undefined && alive.length === 0) return;
    for (const { identity } of alive) known.add(identity);
    const leftMs = killAt - performance.now();
    const group = alive.filter(({ group: own }) => own === tree.leader);
    for (const { pid, identity } of group.length === 0 || performance.now() > allAt ? alive : group) {
      const isAsked = asked.has(identity);
      asked.add(identity);
      if (leftMs > 0 && isAsked) continue;
      if (!signal(pid, leftMs > 0 ? 'SIGTERM' : 'SIGKILL')) foreign.add(identity);
    }
    await pause(leftMs > 0 ? Math.min(waitMs, leftMs) : waitMs);
  }
}

/** Undefined if there is no descriptor to look with: then it is unknown whether a process is left. */
function tryFindMembers(tree: ProcessTree, known: ReadonlySet<string>): readonly Member[] | undefined {
  try {
    return findMembers(tree, known);
  } catch (error) {
    if (isShortage(error)) return undefined;
    throw error;
  }
}

const FIRST_POLL_MS = 5;
const MAX_POLL_MS = 100;

function listOthers(): readonly Member[] {
  return listLiving()
    .filter(({ pid }) => pid !== process.pid)
    .map(({ pid, parent, group, started }) => ({ pid, parent, group, identity: `${pid}/${started}` }));
}

/** False where it is not ours to end. */
function signal(pid: number, name: 'SIGTERM' | 'SIGKILL'): boolean {
  try {
    return process.kill(pid, name);
  } catch (error) {
    // Otherwise it has gone: the next look tells.
    return !(error instanceof Error && 'code' in error && error.code === 'EPERM');
  }
}

async function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
