import type { Answer } from '../api/answer.ts';
import { bootMs } from '../api/boot-clock.ts';
import { fieldsOf } from '../protocol/shape/read-unknown.ts';

export interface GuardedAgent {
  /** Sends a heartbeat to renew the claim. */
  readonly renew: (isFrozen: boolean) => Promise<Answer>;
  /**
   * Freezes the agent. Resolves to whether all its processes are stopped. Called again until they are, and while they
   * must be.
   */
  readonly freeze: () => Promise<boolean>;
  readonly thaw: () => Promise<void>;
  /** Called before the first `freeze` of a pause, and after the pause with its length. */
  readonly onChange: (isFrozen: boolean, forMs: number) => void;
  /** Ends the agent, because its claim has ended while it was frozen. */
  readonly end: () => Promise<void>;
  /** Reports whether the agent has sent the signal that ends its work and claim. */
  readonly hasSignalled: () => boolean;
}

/**
 * Renews an agent's claim, and freezes the agent if the shared store has not acknowledged a renewal in time: another
 * host may then have the task. This needs only the host's own clock, neither daemon nor database.
 */
export class LeaseGuard {
  readonly #agent: GuardedAgent;
  readonly #renewMs: number;
  readonly #nowMs: () => number;
  /** The end of the lease: the time of the newest renewal's request plus the lease in its answer. */
  #deadlineMs: number;
  #isAcknowledged = false;
  #askedMs = -Infinity;
  #isAsking = false;
  #frozenMs: number | undefined;
  #changing: Promise<void> = Promise.resolve();
  #looking: NodeJS.Timeout | undefined;
  #alarm: NodeJS.Timeout | undefined;
  #isOver = false;

  /** The first deadline counts from now, because the claim was just recorded. */
  constructor(agent: GuardedAgent, renewMs: number, nowMs: () => number = bootMs) {
    this.#agent = agent;
    this.#renewMs = renewMs;
    this.#nowMs = nowMs;
    this.#deadlineMs = nowMs() + 2 * renewMs;
  }

  get isFrozen(): boolean {
    return this.#frozenMs !== undefined;
  }

  begin(): void {
    // Timers stop while the machine sleeps, but the clock does not, so it is read often.
    this.#looking = setInterval(() => this.look(), Math.min(LOOK_MS, this.#renewMs));
    this.look();
  }

  stop(): void {
    this.#isOver = true;
    clearInterval(this.#looking);
    clearTimeout(this.#alarm);
  }

  /** Freezes before it renews: after a long sleep the claim may be gone. */
  look(): void {
    if (this.#isOver) return;
    const nowMs = this.#nowMs();
    const leftMs = this.#deadlineMs - nowMs;
    clearTimeout(this.#alarm);
    if (leftMs <= 0) this.#change(async () => this.#freeze());
    else if (leftMs < LOOK_MS) this.#alarm = setTimeout(() => this.look(), leftMs);
    const everyMs = this.isFrozen || !this.#isAcknowledged ? Math.min(RETRY_MS, this.#renewMs) : this.#renewMs;
    if (!this.#isAsking && nowMs - this.#askedMs >= everyMs) void this.#ask();
  }

  async #ask(): Promise<void> {
    this.#isAsking = true;
    await this.#changing;
    const sentMs = (this.#askedMs = this.#nowMs());
    const answer = await this.#agent.renew(this.isFrozen);
    this.#isAsking = false;
    if (this.#isOver) return;
    if (!answer.ok) return this.#change(async () => this.#onRefusal(answer.error.code));
    const { lease_ms: leaseMs } = fieldsOf(answer.result);
    // A store that is not shared returns no lease, because no other host can have the task.
    if (typeof leaseMs !== 'number') this.#deadlineMs = Infinity;
    else if (leaseMs > 0 || this.#isAcknowledged) this.#deadlineMs = sentMs + leaseMs;
    this.#isAcknowledged ||= leaseMs !== 0;
    if (this.isFrozen) this.#change(async () => this.#thaw());
  }

  async #freeze(): Promise<void> {
    if (this.#nowMs() < this.#deadlineMs) return;
    if (!this.isFrozen) {
      this.#frozenMs = this.#nowMs();
      this.#agent.onChange(true, 0);
    }
    await this.#agent.freeze();
  }

  async #thaw(): Promise<void> {
    if (this.#frozenMs === undefined || this.#nowMs() >= this.#deadlineMs) return;
    await this.#agent.thaw();
    this.#agent.onChange(false, this.#nowMs() - this.#frozenMs);
    this.#frozenMs = undefined;
  }

  /**
   * Handles a refused heartbeat. Other errors prove nothing. If a running agent's claim has ended, the daemon ends the
   * agent, because it knows the reason.
   */
  async #onRefusal(code: string): Promise<void> {
    if (!this.isFrozen || !ENDED.has(code)) return;
    if (code === 'claim-ended' && this.#agent.hasSignalled()) {
      this.#deadlineMs = Infinity;
      return this.#thaw();
    }
    await this.#agent.end();
  }

  #change(step: () => Promise<void>): void {
    this.#changing = this.#changing.then(async () => (this.#isOver ? undefined : step())).catch(() => undefined);
  }
}

/** The task has no claim, or another session's. */
const ENDED: ReadonlySet<string> = new Set(['claim-ended', 'stale-claim']);

const LOOK_MS = 500;
/** Short, so that a frozen agent continues soon after the database is back. */
const RETRY_MS = 1000;
