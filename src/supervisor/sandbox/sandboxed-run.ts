import { constants } from 'node:os';
import { join } from 'node:path';
import type { HostCount, SandboxRecord, SandboxSpec } from '../../protocol/sandbox.ts';
import { explainEngineExit } from '../../sandbox/container/engine-exit.ts';
import type { SandboxedCommand, SandboxRequest } from '../../sandbox/mode.ts';
import { openSandbox, type OpenSandbox } from '../../sandbox/open-sandbox.ts';
import { type Launch, sandboxId, SECRET_PREFIX } from '../contract.ts';
import { CredentialKeeper } from './credentials.ts';
import { GitSync } from './git-sync.ts';
import { HiddenPathNotes } from './hidden-path-notes.ts';
import { printNotes } from './print-notes.ts';

export interface SandboxedRunOptions extends Pick<SandboxRequest, 'onRequest' | 'meter'> {
  readonly launch: Launch;
  /** The folder of the run, which the process cannot see. */
  readonly folder: string;
  /** Writes a line to the log of the run. */
  readonly print: (line: string) => void;
}

/** The sandbox of one run, and what its supervisor does outside: git, logins, notes in the log, disk limits. */
export class SandboxedRun {
  readonly #box: OpenSandbox;
  readonly #git: GitSync | undefined;
  readonly #credentials: CredentialKeeper;
  readonly #hidden: HiddenPathNotes;
  readonly #spec: SandboxSpec;
  readonly #print: (line: string) => void;

  /** Opens the sandbox. Returns undefined if the launch has none, or the reason if it could not be opened. */
  static async open(options: SandboxedRunOptions): Promise<SandboxedRun | string | undefined> {
    const { launch, folder, print } = options;
    if (launch.sandbox === undefined) return undefined;
    const opened = await openSandbox({
      ...options,
      spec: launch.sandbox,
      id: sandboxId(launch),
      folder: join(folder, 'sandbox', `start-${launch.start}`),
      secrets: readSecrets(process.env),
      helper: launch.sandbox_helper ?? '',
      forbiddenPorts: launch.forbidden_ports ?? [],
      onNote: print,
      env: process.env,
      stateDir: launch.state_dir,
      tokens: [launch.token, launch.agent_token],
    });
    return opened.ok ? new SandboxedRun(opened.sandbox, launch.sandbox, options) : opened.reason;
  }

  private constructor(box: OpenSandbox, spec: SandboxSpec, { print }: SandboxedRunOptions) {
    this.#box = box;
    this.#git = spec.git === null ? undefined : new GitSync(spec.git, print);
    this.#credentials = new CredentialKeeper(spec.credentials, print);
    const visible = spec.mounts.flatMap(({ kind, at }) => (kind === 'read' || kind === 'write' ? [at] : []));
    this.#hidden = new HiddenPathNotes(spec.hidden, visible, print);
    this.#spec = spec;
    this.#print = print;
    printNotes(box.record, print);
  }

  /** The supervisor's address as the process sees it; null if it is the same as outside. */
  get url(): string | null {
    return this.#box.url;
  }

  /** Whether the process uses this machine's programs; false in a container, whose image has its own. */
  get hasProgramsOfMachine(): boolean {
    return this.record.kind !== 'container';
  }

  /** Whether the end of the started process ends all processes inside. */
  get isNamespace(): boolean {
    return this.record.kind === 'bubblewrap';
  }

  get record(): SandboxRecord {
    return this.#box.record;
  }

  command(argv: readonly string[], cwd: string, env: NodeJS.ProcessEnv, isTerminal = false): SandboxedCommand {
    return this.#box.command(argv, cwd, env, isTerminal);
  }

  /**
   * Starts watching. `onFull`: called when the process exceeds its disk limit and must end. `leader`: the started
   * process; undefined in a terminal.
   */
  begin(onFull: () => void, leader?: number): void {
    if (leader !== undefined) this.#box.started(leader);
    this.#git?.begin();
    this.#credentials.begin();
    this.#box.watchDisk(leader, (line) => {
      this.#print(line);
      onFull();
    });
  }

  /**
   * Freezes or resumes all processes inside, including those started meanwhile. Resolves to whether all of them obeyed.
   */
  async freeze(isFrozen: boolean): Promise<boolean> {
    return (await this.#box.freeze?.(isFrozen)) === true;
  }

  /** Kills all processes that are left inside. */
  async end(): Promise<void> {
    await this.#box.end?.();
  }

  onOutput(chunk: Buffer): void {
    this.#hidden.push(chunk);
  }

  /**
   * Converts an exit code to a signal: bubblewrap reports the signal that ended the program as an exit code, as a shell
   * does.
   */
  exitOf({ code, signal }: ProcessEnd): ProcessEnd {
    const name = DEADLY_SIGNALS.find((each) => signal === null && code === 128 + constants.signals[each]);
    return name === undefined ? { code, signal } : { code: null, signal: name };
  }

  /** What the exit code of a container's engine means; undefined if it is the program's own. */
  explainExit(code: number | null): string | undefined {
    return this.#spec.container === null ? undefined : explainEngineExit(this.#spec.container.engine.name, code);
  }

  /** Resolves when the session's new commits are in the user's repository. Cheap if there are none. */
  async syncGit(): Promise<void> {
    await this.#git?.sync();
  }

  async refreshGit(): Promise<void> {
    await this.#git?.refresh();
  }

  /** Closes the sandbox after the process has exited. */
  async close(): Promise<readonly HostCount[]> {
    this.#credentials.close();
    await this.#git?.close();
    return this.#box.close();
  }
}

interface ProcessEnd {
  readonly code: number | null;
  readonly signal: string | null;
}

/**
 * Only these are converted: Gemini CLI exits with the last eight bits of an HTTP status, and 401 would be SIGCHLD,
 * which ends no process.
 */
const DEADLY_SIGNALS = [
  ...(['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGILL', 'SIGTRAP', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGKILL'] as const),
  ...(['SIGUSR1', 'SIGSEGV', 'SIGUSR2', 'SIGPIPE', 'SIGALRM', 'SIGTERM', 'SIGXCPU', 'SIGXFSZ', 'SIGSYS'] as const),
];

/**
 * Reads the secrets that the proxy adds. The daemon passes them in the supervisor's environment, which the process does
 * not get.
 */
function readSecrets(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      name.startsWith(SECRET_PREFIX) && value !== undefined ? [[name.slice(SECRET_PREFIX.length), value]] : [],
    ),
  );
}
