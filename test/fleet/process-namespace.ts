import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readlinkSync } from 'node:fs';
import { listLiving } from '../../src/api/processes.ts';
import { until } from '../processes/until.ts';

/** Why hosts cannot have process ids of their own here; undefined if they can. */
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

/** Process ids of its own, as on another machine. Everything in it ends at once with its first process. */
export class ProcessNamespace implements AsyncDisposable {
  readonly #init: ChildProcess;
  readonly #first: number;

  private constructor(init: ChildProcess, first: number) {
    this.#init = init;
    this.#first = first;
  }

  static async open(): Promise<ProcessNamespace> {
    // A shell that waits collects the processes that lost their parent.
    const wait = 'while :; do sleep 60 & wait; done';
    // It ends with this process, however this one ends.
    const bound = ['--pdeathsig', 'KILL', 'unshare', '--pid', '--fork', '--mount-proc', '--kill-child'];
    const init = spawn('setpriv', [...bound, 'sh', '-c', wait], { stdio: 'ignore' });
    const first = await until('the namespace is made', () => findChild(init.pid ?? 0));
    await until('it has its own /proc', () => hasOwnProc(first));
    return new ProcessNamespace(init, first);
  }

  /** What a command in it begins with. */
  get enter(): readonly string[] {
    return ['nsenter', '--target', String(this.#first), '--pid', '--mount', '--wd=.', '--'];
  }

  /** By their ids outside, also those in namespaces within it. */
  processes(): number[] {
    const own = namespaceOf(this.#first);
    const parents = new Map(listLiving().map(({ pid, parent }) => [pid, parent]));
    const isWithin = (pid: number | undefined): boolean =>
      pid !== undefined && parents.has(pid) && (namespaceOf(pid) === own || isWithin(parents.get(pid)));
    return own === undefined ? [] : [...parents.keys()].filter(isWithin);
  }

  /** All processes stop or go on, as on a machine that is suspended. */
  signalAll(signal: 'SIGSTOP' | 'SIGCONT'): void {
    for (const pid of this.processes()) process.kill(pid, signal);
  }

  /** The machine loses power. */
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
