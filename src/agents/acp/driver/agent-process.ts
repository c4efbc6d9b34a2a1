import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { RpcConnection, type RpcOptions } from '../../../acp/connection.ts';
import { delay } from '../../../api/client/http.ts';

export interface AgentExit {
  readonly code: number | null;
  readonly signal: string | null;
  /** Why the agent did not start; undefined if it did. */
  readonly error?: string;
}

/**
 * The agent's process, in its own process group: a signal sent to the driver does not reach the agent, so the driver
 * can end it in order.
 */
export class AgentProcess {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly rpc: RpcConnection;
  readonly exited: Promise<AgentExit>;
  #hasExited = false;

  constructor([program, ...args]: readonly [string, ...string[]], handlers: Omit<RpcOptions, 'write'>) {
    this.#child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], detached: true });
    const { stdin, stdout, stderr } = this.#child;
    stdin.on('error', () => {});
    this.rpc = new RpcConnection({ ...handlers, write: (line) => this.#write(line) });
    stdout.on('data', (chunk: Buffer) => this.rpc.push(chunk));
    // After this no response can arrive, even if the process still runs.
    stdout.once('end', () => this.rpc.close());
    stderr.pipe(process.stderr);
    this.exited = new Promise((resolve) => {
      this.#child.once('error', (error) => resolve({ code: 127, signal: null, error: error.message }));
      this.#child.once('exit', (code, signal) => resolve({ code, signal }));
    });
    void this.exited.then(() => {
      this.#hasExited = true;
      // Reads the output that is still in the pipe first.
      setImmediate(() => this.rpc.close());
    });
  }

  /** Whether the agent has not read much of what was sent to it. */
  get isBehind(): boolean {
    return this.#child.stdin.writableLength > MAX_UNREAD_BYTES;
  }

  /** Stops reading from an agent that does not read: the answers to its requests would fill the memory. */
  #write(line: string): void {
    const { stdin, stdout } = this.#child;
    if (!stdin.writable) return;
    stdin.write(line);
    if (!this.isBehind || stdout.isPaused()) return;
    stdout.pause();
    stdin.once('drain', () => stdout.resume());
  }

  /** Closes the agent's input, which ends most agents, then ends the process group. */
  async end(): Promise<void> {
    this.rpc.close();
    this.#child.stdin.end();
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      await Promise.race([this.exited, delay(GRACE_MS)]);
      // Kills the group also after the agent's exit, because tools that it left behind are in it.
      this.#kill(signal);
    }
    this.#child.stdout.destroy();
    this.#child.stderr.destroy();
  }

  #kill(signal: 'SIGTERM' | 'SIGKILL'): void {
    const { pid } = this.#child;
    if (pid === undefined || (this.#hasExited && signal === 'SIGTERM')) return;
    try {
      process.kill(-pid, signal);
    } catch {
      // The group is empty.
    }
  }
}

const GRACE_MS = 500;
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;
