import { delay } from '../../api/client/http.ts';
import { readProcStat } from '../../api/processes.ts';
import { type Member, type ProcessTree, tryFindMembers } from './process-tree.ts';

/** Freezes or thaws everything inside a sandbox at once. Resolves to false if it cannot: then signals are used. */
export type FreezeSandbox = (isFrozen: boolean) => Promise<boolean>;

/** Stops all processes of a run, and lets them go on. */
export class Freezer {
  readonly #tree: ProcessTree;
  readonly #sandbox: FreezeSandbox | undefined;
  /** Stopped here, with the time of their start: a process that has stopped by itself is not continued. */
  readonly #stopped = new Map<string, Member>();

  constructor(tree: ProcessTree, sandbox?: FreezeSandbox) {
    this.#tree = tree;
    this.#sandbox = sandbox;
  }

  /**
   * Resolves to whether everything stands still. Repeat it while that must hold: another program may continue a process.
   */
  async freeze(): Promise<boolean> {
    if ((await this.#sandbox?.(true)) === true) return true;
    if (readProcStat(process.pid) === undefined) return signalGroup(this.#tree.leader, 'SIGSTOP');
    const deadline = performance.now() + FREEZE_MS;
    // A process that was running during a search may have started another one behind it: only the second clean search proves.
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
    // Children first: a shell that waits for a stopped child would believe that a person stopped it.
    for (const member of [...this.#stopped.values()].toSorted(byStart).toReversed()) {
      if (readProcStat(member.pid)?.started === member.started) signal(member.pid, 'SIGCONT');
    }
    this.#stopped.clear();
    await this.#sandbox?.(false);
  }

  /** Parents first, for the same reason. Returns how many were not standing still; 1 if it is unknown. */
  #stopMoving(): number {
    const known = new Set(this.#stopped.keys());
    const members = tryFindMembers(this.#tree, known);
    if (members === undefined) return 1;
    // One in a system call that cannot be interrupted, such as vfork with a stopped child, does nothing after it.
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

/** By a signal, or by a debugger, which is stopped too. */
const STOPPED: ReadonlySet<string> = new Set(['T', 't']);

function signal(pid: number, name: 'SIGSTOP' | 'SIGCONT'): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    // It has exited, or is another user's.
    return false;
  }
}

/** On a system that lists no processes. */
function signalGroup(leader: number, name: 'SIGSTOP' | 'SIGCONT'): boolean {
  return leader > 0 && signal(-leader, name);
}

const FREEZE_MS = 2000;
const MAX_POLL_MS = 50;
