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
