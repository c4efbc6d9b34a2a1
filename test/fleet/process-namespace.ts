import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readlinkSync } from 'node:fs';
import { listLiving } from '../../src/api/processes.ts';
import { until } from '../processes/until.ts';

/** Why hosts cannot have their own process ids here; undefined if they can. */
export function findNamespaceObstacle(): string | undefined {
  try {
    execFileSync('setpriv', ['--pdeathsig', 'KILL', 'unshare', '--pid', '--fork', '--mount-proc', 'true'], {
      stdio: 'ignore',
    });
    return undefined;
  } catch {
    return 'needs setpriv, unshare and nsenter, as root';
  }
}

/** A separate set of process ids, like another machine. If its first process exits, all others are killed. */
export class ProcessNamespace implements AsyncDisposable {
  readonly #init: ChildProcess;
  readonly #first: number;

  private constructor(init: ChildProcess, first: number) {
    this.#init = init;
    this.#first = first;
  }

  static async open(): Promise<ProcessNamespace> {
    // A waiting shell collects processes that lost their parent.
    const wait = 'while :; do sleep 60 & wait; done';
    // It ends with this process, whatever ends this process.
    const bound = ['--pdeathsig', 'KILL', 'unshare', '--pid', '--fork', '--mount-proc', '--kill-child'];
    const init = spawn('setpriv', [...bound, 'sh', '-c', wait], { stdio: 'ignore' });
    const first = await until('the namespace is made', () => findChild(init.pid ?? 0));
    await until('it has its own /proc', () => hasOwnProc(first));
    return new ProcessNamespace(init, first);
  }

  /** The prefix of a command that runs in the namespace. */
  get enter(): readonly string[] {
    return ['nsenter', '--target', String(this.#first), '--pid', '--mount', '--wd=.', '--'];
  }

  /** The processes by their outside ids, including those in nested namespaces. */
  processes(): number[] {
    const own = namespaceOf(this.#first);
    const parents = new Map(listLiving().map(({ pid, parent }) => [pid, parent]));
    const isWithin = (pid: number | undefined): boolean =>
      pid !== undefined && parents.has(pid) && (namespaceOf(pid) === own || isWithin(parents.get(pid)));
    return own === undefined ? [] : [...parents.keys()].filter(isWithin);
  }

  /** Stops or continues all processes, like a suspended machine. */
  signalAll(signal: 'SIGSTOP' | 'SIGCONT'): void {
    for (const pid of this.processes()) process.kill(pid, signal);
  }

  /** Kills all processes, like a power loss. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#init.exitCode !== null || this.#init.signalCode !== null) return;
    const exited = once(this.#init, 'exit');
    process.kill(this.#first, 'SIGKILL');
    await exited;
  }
}

export function findChild(pid: number): number | undefined {
  try {
    const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    return Number(child) || undefined;
  } catch {
    return undefined;
  }
}

function hasOwnProc(first: number): boolean {
  try {
    return (
      readlinkSync(`/proc/${first}/ns/mnt`) !== readlinkSync('/proc/self/ns/mnt') && findChild(first) !== undefined
    );
  } catch {
    return false;
  }
}

function namespaceOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`);
  } catch {
    return undefined;
  }
}
