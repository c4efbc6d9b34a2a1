/**
 * Until when claims live. Renewals are not entries: this is the memory of one daemon, and a new daemon starts with a full interval
 * for everybody. Time is a monotonic clock in milliseconds, handed in; the wall clock, which jumps, plays no part.
 */
export interface Leases {
  /** A claim was made, or its holder says that it lives. False where that claim is over: a late word revives nothing. */
  renew(taskId: string, epoch: number, nowMs: number): boolean;
  end(taskId: string): void;
  /** The claims whose time has run out. Call it at every tick: a long silence between two calls is noticed. */
  expired(nowMs: number): readonly { readonly taskId: string; readonly epoch: number }[];
  /** Milliseconds of life left, for people; undefined where there is no claim. */
  remaining(taskId: string, nowMs: number): number | undefined;
}

export interface LeaseTimes {
  readonly expiryMs: number;
  readonly renewalMs: number;
  /** Ticks come this often; one that comes this much too late means that the machine, or this process, was asleep. */
  readonly tickMs: number;
}

export function createLeases({ expiryMs, renewalMs, tickMs }: LeaseTimes): Leases {
  const leases = new Map<string, { readonly epoch: number; untilMs: number }>();
  /** The newest epoch of each task that is over. */
  const ended = new Map<string, number>();
  let lastTickMs: number | undefined;
  return {
    renew(taskId, epoch, nowMs) {
      lastTickMs ??= nowMs;
      const newest = leases.get(taskId)?.epoch ?? 0;
      if (epoch < newest || epoch <= (ended.get(taskId) ?? 0)) return false;
      leases.set(taskId, { epoch, untilMs: nowMs + expiryMs });
      return true;
    },
    end(taskId) {
      const lease = leases.get(taskId);
      if (lease !== undefined) ended.set(taskId, lease.epoch);
      leases.delete(taskId);
    },
    expired(nowMs) {
      const slept = lastTickMs !== undefined && nowMs - lastTickMs > 2 * tickMs;
      lastTickMs = nowMs;
      // While we slept nobody could renew. Holders that live get one interval to say so.
      if (slept)
        for (const lease of leases.values()) lease.untilMs = Math.max(lease.untilMs, nowMs + renewalMs + tickMs);
      return [...leases]
        .filter(([, { untilMs }]) => untilMs <= nowMs)
        .map(([taskId, { epoch }]) => ({ taskId, epoch }));
    },
    remaining(taskId, nowMs) {
      const lease = leases.get(taskId);
      return lease === undefined ? undefined : Math.max(0, lease.untilMs - nowMs);
    },
  };
}
