/**
 * The deadlines of claims. Renewals are not entries: each daemon keeps them in memory, and a new daemon gives every
 * claim a full interval. Times are monotonic milliseconds, passed in; the wall clock is not used, because it jumps.
 */
export interface Leases {
  /** Starts or renews a lease. Returns false if the claim has ended. */
  renew(taskId: string, epoch: number, nowMs: number): boolean;
  end(taskId: string): void;
  /** Returns the expired claims. Called at every tick, so that a long gap between two calls is noticed. */
  expired(nowMs: number): readonly { readonly taskId: string; readonly epoch: number }[];
  /** Milliseconds left, for display; undefined if there is no claim. */
  remaining(taskId: string, nowMs: number): number | undefined;
}

export interface LeaseTimes {
  readonly expiryMs: number;
  readonly renewalMs: number;
  /** The interval of ticks; a tick that is this late means that the machine or the process was asleep. */
  readonly tickMs: number;
}

export function createLeases({ expiryMs, renewalMs, tickMs }: LeaseTimes): Leases {
  const leases = new Map<string, { readonly epoch: number; untilMs: number }>();
  /** The newest ended epoch of each task. */
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
      // Holders could not renew while the machine slept, so they get one more interval.
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
