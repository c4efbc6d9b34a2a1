import { delay } from '../../api/client/http.ts';
import { readProcStat } from '../../api/processes.ts';
import { type Member, type ProcessTree, tryFindMembers } from './process-tree.ts';

/** Freezes or thaws all processes in a sandbox at once. Resolves to false if it cannot; signals are used then. */
export type FreezeSandbox = (isFrozen: boolean) => Promise<boolean>;

/** Stops and continues all processes of a run. */
export class Freezer {
  readonly #tree: ProcessTree;
  readonly #sandbox: FreezeSandbox | undefined;
  /** Processes stopped here, with their start time. A process that was already stopped is not continued. */
  readonly #stopped = new Map<string, Member>();

  constructor(tree: ProcessTree, sandbox?: FreezeSandbox) {
    this.#tree = tree;
    this.#sandbox = sandbox;
  }

  /**
   * Stops all processes. Resolves to whether all are stopped. The caller repeats it while that must hold, because
   * another program may continue a process.
   */
  async freeze(): Promise<boolean> {
    if ((await this.#sandbox?.(true)) === true) return true;
    if (readProcStat(process.pid) === undefined) return signalGroup(this.#tree.leader, 'SIGSTOP');
    const deadline = performance.now() + FREEZE_MS;
    // A process that ran during a search may have started another one in the part already searched, so only a second
    // clean search proves that all are stopped.
    for (let clean = 0, waitMs = 1; ; waitMs = Math.min(2 * waitMs, MAX_POLL_MS)) {
      const moving = this.#stopMoving();
      clean = moving === 0 ? clean + 1 : 0;
      if (clean === 2) return true;
      if (performance.now() > deadline) return false;
      if (clean === 0) await delay(waitMs);
    }
  }

  async thaw(): Promise<void> {
    if (readProcStat(process.pid) === undefined) signalGroup(this.#tree.leader, 'SIGCONT');
    // Continues children first: a shell that waits for a stopped child would believe that the user stopped it.
    for (const member of [...this.#stopped.values()].toSorted(byStart).toReversed()) {
      if (readProcStat(member.pid)?.started === member.started) signal(member.pid, 'SIGCONT');
    }
    this.#stopped.clear();
    await this.#sandbox?.(false);
  }

  /**
   * Stops parents first, for the same reason. Returns the number of processes that were still running; 1 if unknown.
   */
  #stopMoving(): number {
    const known = new Set(this.#stopped.keys());
    const members = tryFindMembers(this.#tree, known);
    if (members === undefined) return 1;
    // A process in a system call that cannot be interrupted, such as vfork with a stopped child, is stopped right after
    // the call.
    const isStill = ({ state, identity }: Member): boolean =>
      STOPPED.has(state) || (state === 'D' && known.has(identity));
    const moving = members.filter((member) => !isStill(member));
    for (const member of moving.toSorted(byStart)) {
      if (signal(member.pid, 'SIGSTOP')) this.#stopped.set(member.identity, member);
    }
    return moving.length;
  }
}

function byStart(one: Member, other: Member): number {
  return Number(one.started) - Number(other.started) || one.pid - other.pid;
}

/** Stopped by a signal, or by a debugger. */
const STOPPED: ReadonlySet<string> = new Set(['T', 't']);

function signal(pid: number, name: 'SIGSTOP' | 'SIGCONT'): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    // The process has exited, or belongs to another user.
    return false;
  }
}

/** Signals the group, on systems that cannot list processes. */
function signalGroup(leader: number, name: 'SIGSTOP' | 'SIGCONT'): boolean {
  return leader > 0 && signal(-leader, name);
}

const FREEZE_MS = 2000;
const MAX_POLL_MS = 50;
