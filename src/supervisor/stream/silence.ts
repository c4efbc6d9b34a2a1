import type { AgentReport, Launch } from '../contract.ts';
import { drainOutput } from '../heard-output.ts';
import { SilenceWatch } from './silence-watch.ts';

export interface SilenceReporterOptions {
  readonly launch: Pick<Launch, 'kind' | 'terminal' | 'start' | 'output' | 'silence_ms' | 'tool_ms'>;
  /** No silence is measured now: the agent is parked, held by a budget, has signalled, or has no owner any more. */
  readonly isSuspended: () => boolean;
  /** Resolves when the daemon, or the outbox, has it. */
  readonly report: (report: AgentReport) => Promise<unknown>;
}

/**
 * Reports an agent that is silent in a turn, and that it was heard again. Turns are known from the client's stream; a plain command is
 * watched from its first hook on, since before that it is unknown whether it is meant to print anything.
 */
export class SilenceReporter {
  readonly #options: SilenceReporterOptions;
  readonly #watch: SilenceWatch | undefined;
  /** Turns and tool calls are known from the stream, not only from hooks. */
  readonly #hasStream: boolean;
  #knowsTurns: boolean;
  #looking: NodeJS.Timeout | undefined;
  #reporting: Promise<unknown> = Promise.resolve();

  constructor(options: SilenceReporterOptions) {
    const { kind, terminal, output, silence_ms: silenceMs, tool_ms: toolMs = Infinity } = options.launch;
    this.#options = options;
    this.#hasStream = this.#knowsTurns = output !== 'text';
    const isWatched = kind === 'agent' && terminal !== true && silenceMs !== undefined;
    this.#watch = isWatched ? new SilenceWatch({ silenceMs, toolMs }, performance.now()) : undefined;
  }

  /** The process runs. */
  begin(): void {
    const watch = this.#watch;
    if (watch === undefined) return;
    watch.onActivity(performance.now());
    this.#looking = setInterval(() => void this.#poll(watch), watch.pollMs).unref();
  }

  stop(): void {
    clearInterval(this.#looking);
  }

  /** The agent was sent a message. */
  turnBegan(): void {
    if (this.#knowsTurns) this.#watch?.turnBegan();
    this.onActivity();
  }

  /** The agent waits for a message. One that is on its way out is not waiting: its turn ends with its process. */
  turnEnded(): void {
    this.#settle(this.#watch?.turnEnded(performance.now()));
  }

  /** Output, usage, a call, a message. */
  onActivity(): void {
    this.#settle(this.#watch?.onActivity(performance.now()));
  }

  /** The client itself waits for a limit, or tries again. */
  onRetry(at: string): void {
    const afterMs = Date.parse(at) - Date.now();
    this.#settle(this.#watch?.onRetry(Number.isNaN(afterMs) ? 0 : afterMs, performance.now()));
  }

  toolStarted(id: string, tool: string): void {
    this.#settle(this.#watch?.toolStarted(id, tool, performance.now()));
  }

  toolEnded(id: string): void {
    this.#settle(this.#watch?.toolEnded(id, performance.now()));
  }

  /** A hook was called. Without a stream, hooks are all that is known of turns and tool calls. */
  onHook(name: string, body: Uint8Array): void {
    if (name === 'permission-request') this.#settle(this.#watch?.asked(performance.now()));
    else this.onActivity();
    if (this.#hasStream || this.#watch === undefined) return;
    this.#knowsTurns = true;
    this.#watch.turnBegan();
    if (name !== 'pre-tool-use' && name !== 'post-tool-use') return;
    const { id, tool } = readTool(body);
    if (name === 'pre-tool-use') this.toolStarted(id, tool);
    else this.toolEnded(id);
  }

  /** Resolves when the daemon knows what was measured so far: the agent's next stop is judged by it. */
  async untilReported(): Promise<void> {
    await this.#reporting;
  }

  /** Reads the pipe first: after this process was stopped, the agent's output waits there. */
  async #poll(watch: SilenceWatch): Promise<void> {
    await drainOutput();
    const silence = watch.poll(performance.now(), this.#options.isSuspended());
    if (silence !== undefined) this.#report({ kind: 'silent', start: this.#options.launch.start, ...silence });
  }

  #settle(isOver = false): void {
    if (isOver) this.#report({ kind: 'heard', start: this.#options.launch.start });
  }

  #report(report: AgentReport): void {
    this.#reporting = Promise.all([this.#reporting, this.#options.report(report)]).catch(() => {});
  }
}

function readTool(body: Uint8Array): { readonly id: string; readonly tool: string } {
  try {
    const input: unknown = JSON.parse(new TextDecoder().decode(body));
    const { tool_use_id: id, tool_name: tool }: Record<string, unknown> = { ...Object(input) };
    const name = typeof tool === 'string' ? tool : '';
    return { id: typeof id === 'string' ? id : name, tool: name };
  } catch {
    return { id: '', tool: '' };
  }
}
