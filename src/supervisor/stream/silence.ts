import type { AgentReport } from '../../protocol/agent-report.ts';
import { fieldsInJson, findText, textOf } from '../../protocol/shape/read-unknown.ts';
import type { Launch } from '../contract.ts';
import { drainOutput } from '../timers.ts';

interface WatchedAgent {
  readonly launch: Launch;
  readonly isFrozen?: boolean;
  readonly guard: { readonly isParked: boolean; readonly hasSignalled: boolean; readonly isOwned: boolean };
  readonly reportSilence: (report: AgentReport) => Promise<void>;
}

/**
 * Reports silence. Turns are read from the stream. A plain command counts from its first hook, because before that it
 * is unknown whether it prints.
 */
export class SilenceReporter {
  readonly #agent: WatchedAgent;
  readonly #watch: SilenceWatch | undefined;
  /** Whether the stream, and not only hooks, shows turns and tool calls. */
  readonly #hasStream: boolean;
  #knowsTurns: boolean;
  #looking: NodeJS.Timeout | undefined;
  #reporting: Promise<unknown> = Promise.resolve();

  constructor(agent: WatchedAgent) {
    const { kind, terminal, output, silence_ms: silenceMs, tool_ms: toolMs = Infinity } = agent.launch;
    this.#agent = agent;
    this.#hasStream = this.#knowsTurns = output !== 'text';
    const isWatched = kind === 'agent' && terminal !== true && silenceMs !== undefined;
    this.#watch = isWatched ? new SilenceWatch({ silenceMs, toolMs }, performance.now()) : undefined;
  }

  begin(): void {
    const watch = this.#watch;
    if (watch === undefined) return;
    watch.onActivity(performance.now());
    this.#looking = setInterval(() => void this.#poll(watch), watch.pollMs).unref();
  }

  stop(): void {
    clearInterval(this.#looking);
  }

  turnBegan(): void {
    if (this.#knowsTurns) this.#watch?.turnBegan();
    this.onActivity();
  }

  /**
   * Records that the agent waits for a message. An agent about to exit does not wait: its turn ends with its process.
   */
  turnEnded(): void {
    this.#settle(this.#watch?.turnEnded(performance.now()));
  }

  onActivity(): void {
    this.#settle(this.#watch?.onActivity(performance.now()));
  }

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

  /** Records a hook. Without a stream, only hooks show turns and tool calls. */
  onHook(name: string, body: Uint8Array): void {
    if (name === 'permission-request') this.#settle(this.#watch?.asked(performance.now()));
    else this.onActivity();
    if (this.#hasStream || this.#watch === undefined) return;
    this.#knowsTurns = true;
    this.#watch.turnBegan();
    if (name !== 'pre-tool-use' && name !== 'post-tool-use') return;
    const { tool_use_id, tool_name } = fieldsInJson(new TextDecoder().decode(body));
    const tool = textOf(tool_name);
    const id = findText(tool_use_id) ?? tool;
    if (name === 'pre-tool-use') this.toolStarted(id, tool);
    else this.toolEnded(id);
  }

  /** Resolves when the daemon has every measurement so far, by which the agent's next stop is decided. */
  async untilReported(): Promise<void> {
    await this.#reporting;
  }

  /** Reads the pipe first: after this process was suspended, the agent's output is still in it. */
  async #poll(watch: SilenceWatch): Promise<void> {
    await drainOutput();
    const { guard, launch, isFrozen } = this.#agent;
    const isSuspended = isFrozen === true || guard.isParked || guard.hasSignalled || !guard.isOwned;
    const silence = watch.poll(performance.now(), isSuspended);
    if (silence !== undefined) this.#report({ kind: 'silent', start: launch.start, ...silence });
  }

  #settle(isOver = false): void {
    if (isOver) this.#report({ kind: 'heard', start: this.#agent.launch.start });
  }

  #report(report: AgentReport): void {
    this.#reporting = Promise.all([this.#reporting, this.#agent.reportSilence(report)]).catch(() => {});
  }
}

export interface SilenceLimits {
  readonly silenceMs: number;
  readonly toolMs: number;
}

export type MeasuredSilence = { readonly what: 'turn' | 'tool'; readonly for_ms: number; readonly tool: string | null };

interface OpenTool {
  readonly tool: string;
  readonly beganMs: number;
  /** Start of the measured time: later than `beganMs` if the agent was suspended meanwhile. */
  sinceMs: number;
}

/**
 * Measures silence with monotonic times. The caller polls often: a long gap means a suspended process or machine, and
 * all intervals restart.
 */
export class SilenceWatch {
  readonly #limits: SilenceLimits;
  readonly #tools = new Map<string, OpenTool>();
  #isInTurn = false;
  /** Time of the last event, from which silence counts. */
  #heardMs: number;
  #sinceMs: number;
  #lookedMs: number;
  /** The reported silence that has not ended: of the turn, or of a tool call by its id. */
  #reported: { readonly toolId: string | null } | undefined;

  constructor(limits: SilenceLimits, nowMs: number) {
    this.#limits = limits;
    this.#heardMs = this.#sinceMs = this.#lookedMs = nowMs;
  }

  get pollMs(): number {
    const shortest = Math.min(this.#limits.silenceMs, this.#limits.toolMs);
    return Math.min(15_000, Math.max(20, shortest / 10));
  }

  /** Records that a model turn runs. Also called for each event that occurs only during a turn. */
  turnBegan(): void {
    this.#isInTurn = true;
  }

  /**
   * Records that the agent waits for its next message, which ends open tool calls. Returns true if this ends a reported
   * silence.
   */
  turnEnded(nowMs: number): boolean {
    this.#isInTurn = false;
    this.#tools.clear();
    const wasReported = this.#settle();
    this.onActivity(nowMs);
    return wasReported;
  }

  /** Records any event. Returns true if it ends a reported silence. */
  onActivity(nowMs: number): boolean {
    this.#heardMs = this.#sinceMs = nowMs;
    return this.#reported?.toolId === null && this.#settle();
  }

  /**
   * Records a question of the agent, and ends the report of a silent tool call: the daemon would drop the question
   * while a decision about the call is open.
   */
  asked(nowMs: number): boolean {
    const wasReported = this.#settle();
    this.onActivity(nowMs);
    return wasReported;
  }

  /** Records the client's announcement of a retry: until then silence is expected. */
  onRetry(afterMs: number, nowMs: number): boolean {
    const isOver = this.onActivity(nowMs);
    this.#sinceMs = nowMs + Math.min(Math.max(0, afterMs), LONGEST_RETRY_MS);
    return isOver;
  }

  toolStarted(id: string, tool: string, nowMs: number): boolean {
    this.#isInTurn = true;
    // Limited, because an agent that never ends its calls must not fill the memory.
    if (!this.#tools.has(id) && this.#tools.size < MAX_OPEN_TOOLS)
      this.#tools.set(id, { tool, beganMs: nowMs, sinceMs: nowMs });
    return this.onActivity(nowMs);
  }

  toolEnded(id: string, nowMs: number): boolean {
    this.#tools.delete(id);
    const wasReported = this.#reported?.toolId === id && this.#settle();
    return this.onActivity(nowMs) || wasReported;
  }

  /** Returns a silence that is too long, and again after each further interval. Suspended time does not count. */
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

  /**
   * Measures tool calls. While one is open, silence of the turn is not measured; it starts when the last tool call
   * ends.
   */
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
    const wasReported = this.#reported !== undefined;
    this.#reported = undefined;
    return wasReported;
  }
}

/** API limits end within a week. */
const LONGEST_RETRY_MS = 7 * 86_400_000;

const MAX_OPEN_TOOLS = 1000;
