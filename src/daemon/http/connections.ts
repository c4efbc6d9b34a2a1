/** Who is at the other end of a connection; `unknown` before its first request. */
export type ConnectionKind = 'unknown' | 'operator' | 'worker' | 'session';

export interface SlotLimits {
  readonly total: number;
  /** Connections that have not sent a request yet. */
  readonly unknown: number;
  readonly worker: number;
  /** Sessions, agents and supervisors. */
  readonly session: number;
  /** Workers and sessions together. What is left of the total is kept for operators. */
  readonly served: number;
}

/** Half of the descriptors is kept for files, databases and the pipes of programs. */
export function slotLimits(descriptors: number, most: number): SlotLimits {
  const total = Math.min(most, Math.max(MIN_SLOTS, Math.floor(descriptors / 2)));
  const unknown = Math.floor(total / 4);
  const served = total - unknown - Math.max(2, Math.floor(total / 8));
  return { total, unknown, worker: Math.floor(served / 2), session: served, served };
}

const MIN_SLOTS = 16;

/**
 * The connections of the daemon, and which one makes room for another: the one of its kind that has been idle for longest. So idle
 * connections, however many, keep no caller out, and sessions and workers do not keep operators out.
 */
export class ConnectionSlots<C> {
  readonly #limits: SlotLimits;
  /** In the order in which they were last used. */
  readonly #seats = new Map<C, Slot>();

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#seats.size;
  }

  /** Takes a new connection in. Returns the one that is to be closed for it, if any: itself if all others are in use. */
  add(connection: C): C | undefined {
    this.#seats.set(connection, { kind: 'unknown', calls: 0 });
    const isOver = this.#count('unknown') > this.#limits.unknown;
    const idle = isOver ? this.#findIdle(['unknown'], connection) : undefined;
    if (idle !== undefined || this.#seats.size <= this.#limits.total) return idle;
    return this.#findIdle(ALL_KINDS, connection) ?? connection;
  }

  /** A request says who it is. `full`: there is no room for one more of this kind, and all of them are in use. */
  identify(connection: C, kind: Exclude<ConnectionKind, 'unknown'>): { readonly close?: C } | 'full' {
    const seat = this.#seats.get(connection);
    if (seat === undefined || seat.kind === kind) return {};
    const before = seat.kind;
    seat.kind = kind;
    const over = this.#findOver(kind);
    if (over === undefined) return {};
    const close = this.#findIdle(over, connection);
    if (close !== undefined) return { close };
    seat.kind = before;
    return 'full';
  }

  /** A request begins; the result ends it. */
  markBusy(connection: C): () => void {
    const seat = this.#seats.get(connection);
    if (seat === undefined) return () => undefined;
    seat.calls += 1;
    return () => {
      seat.calls -= 1;
      if (this.#seats.delete(connection)) this.#seats.set(connection, seat);
    };
  }

  remove(connection: C): void {
    this.#seats.delete(connection);
  }

  /** The kinds of which there are too many now that there is one more of this kind. */
  #findOver(kind: ConnectionKind): readonly ConnectionKind[] | undefined {
    const { total, unknown, served } = this.#limits;
    const known = this.#seats.size - this.#count('unknown');
    if (kind === 'operator') return known > total - unknown ? ['operator'] : undefined;
    if (kind !== 'unknown' && this.#count(kind) > this.#limits[kind]) return [kind];
    return this.#count('worker') + this.#count('session') > served ? ['worker', kind] : undefined;
  }

  #count(kind: ConnectionKind): number {
    let count = 0;
    for (const seat of this.#seats.values()) if (seat.kind === kind) count += 1;
    return count;
  }

  #findIdle(kinds: readonly ConnectionKind[], besides: C): C | undefined {
    for (const [connection, { kind, calls }] of this.#seats) {
      if (connection !== besides && calls === 0 && kinds.includes(kind)) return connection;
    }
    return undefined;
  }
}

const ALL_KINDS: readonly ConnectionKind[] = ['unknown', 'worker', 'session', 'operator'];

interface Slot {
  kind: ConnectionKind;
  /** Requests under way. */
  calls: number;
}
