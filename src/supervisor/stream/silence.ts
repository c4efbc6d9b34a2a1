import type { AgentReport } from '../../protocol/agent-report.ts';
import type { Launch } from '../contract.ts';
import { drainOutput } from '../timers.ts';

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

export interface SilenceLimits {
  /** No event in a turn for so long is silence. */
  readonly silenceMs: number;
  /** A tool call may be open for so long. */
  readonly toolMs: number;
}

export type MeasuredSilence = { readonly what: 'turn' | 'tool'; readonly for_ms: number; readonly tool: string | null };

interface OpenTool {
  readonly tool: string;
  readonly beganMs: number;
  /** From when its time counts: later than `beganMs` if the agent was suspended meanwhile. */
  sinceMs: number;
}

/**
 * Measures how long nothing is heard of an agent while a turn is under way, and how long each tool call takes. Every method takes the time
 * on the monotonic clock. `look` must be called often: a long gap between two looks means that this process, or the whole machine, stood
 * still, and then everything gets a full interval again.
 */
export class SilenceWatch {
  readonly #limits: SilenceLimits;
  readonly #tools = new Map<string, OpenTool>();
  #isInTurn = false;
  /** When the last event was, and from when silence counts. */
  #heardMs: number;
  #sinceMs: number;
  #lookedMs: number;
  /** What is reported and not over yet: the turn, or a tool call by its id. */
  #reported: { readonly toolId: string | null } | undefined;

  constructor(limits: SilenceLimits, nowMs: number) {
    this.#limits = limits;
    this.#heardMs = this.#sinceMs = this.#lookedMs = nowMs;
  }

  /** Whether a silence was reported that is not over. */
  get isReported(): boolean {
    return this.#reported !== undefined;
  }

  /** How often to look. */
  get pollMs(): number {
    const shortest = Math.min(this.#limits.silenceMs, this.#limits.toolMs);
    return Math.min(LONGEST_LOOK_MS, Math.max(SHORTEST_LOOK_MS, shortest / 10));
  }

  /** A model turn is under way; also for each event that only happens during one. */
  turnBegan(): void {
    this.#isInTurn = true;
  }

  /** The agent waits for its next message: tool calls that were not reported as ended are over too. Returns as `heard`. */
  turnEnded(nowMs: number): boolean {
    this.#isInTurn = false;
    this.#tools.clear();
    const wasReported = this.#settle();
    this.onActivity(nowMs);
    return wasReported;
  }

  /** Output, a hook, usage, a call. Returns true if that ends a silence that was reported. */
  onActivity(nowMs: number): boolean {
    this.#heardMs = this.#sinceMs = nowMs;
    return this.#reported?.toolId === null && this.#settle();
  }

  /**
   * The client asks for a permission. A tool call that was reported is settled too: while a decision about it is open the agent is parked,
   * and the daemon would drop the question.
   */
  asked(nowMs: number): boolean {
    const wasReported = this.#settle();
    this.onActivity(nowMs);
    return wasReported;
  }

  /** The client said that it tries a request again after so long: until then it is expected to be silent. */
  onRetry(afterMs: number, nowMs: number): boolean {
    const isOver = this.onActivity(nowMs);
    this.#sinceMs = nowMs + Math.min(Math.max(0, afterMs), LONGEST_RETRY_MS);
    return isOver;
  }

  toolStarted(id: string, tool: string, nowMs: number): boolean {
    this.#isInTurn = true;
    if (!this.#tools.has(id)) this.#tools.set(id, { tool, beganMs: nowMs, sinceMs: nowMs });
    return this.onActivity(nowMs);
  }

  toolEnded(id: string, nowMs: number): boolean {
    this.#tools.delete(id);
    const wasReported = this.#reported?.toolId === id && this.#settle();
    return this.onActivity(nowMs) || wasReported;
  }

  /**
   * Returns what is silent for too long, again after each further interval. While the agent is suspended (parked, held by a budget, done)
   * no time counts.
   */
  poll(nowMs: number, isSuspended: boolean): MeasuredSilence | undefined {
    const gapMs = nowMs - this.#lookedMs;
    this.#lookedMs = nowMs;
    const wasAsleep = gapMs > Math.max(this.#limits.silenceMs / 2, 3 * this.pollMs);
    if (isSuspended || wasAsleep || !this.#isInTurn) this.#restart(nowMs);
    else return this.#tools.size > 0 ? this.#lookAtTools(nowMs) : this.#lookAtTurn(nowMs);
    return undefined;
  }

  #lookAtTurn(nowMs: number): MeasuredSilence | undefined {
    if (nowMs - this.#sinceMs < this.#limits.silenceMs) return undefined;
    this.#sinceMs = nowMs;
    this.#reported = { toolId: null };
    return { what: 'turn', for_ms: Math.round(nowMs - this.#heardMs), tool: null };
  }

  /** Silence of the turn is not measured meanwhile: it begins when the last tool call has ended. */
  #lookAtTools(nowMs: number): MeasuredSilence | undefined {
    this.#sinceMs = nowMs;
    for (const [toolId, open] of this.#tools) {
      if (nowMs - open.sinceMs < this.#limits.toolMs) continue;
      open.sinceMs = nowMs;
      this.#reported = { toolId };
      return { what: 'tool', for_ms: Math.round(nowMs - open.beganMs), tool: open.tool };
    }
    return undefined;
  }

  #restart(nowMs: number): void {
    this.#sinceMs = nowMs;
    for (const open of this.#tools.values()) open.sinceMs = nowMs;
  }

  #settle(): boolean {
    const wasReported = this.isReported;
    this.#reported = undefined;
    return wasReported;
  }
}

const SHORTEST_LOOK_MS = 20;
const LONGEST_LOOK_MS = 15_000;
/** Limits of APIs are lifted within a week. */
const LONGEST_RETRY_MS = 7 * 86_400_000;
