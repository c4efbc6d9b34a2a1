import { mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { readDaemonRecord, stateFiles } from '../../api/state-folder.ts';

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

/** How many descriptors this process may have. Node raises the soft limit to the hard one when it starts. */
export function readDescriptorLimit(): number {
  return parseLimits(readLimits()) ?? reportedLimit() ?? ASSUMED_LIMIT;
}

/** From `/proc/self/limits`: `Max open files  256  256  files`. */
export function parseLimits(text: string): number | undefined {
  const soft = /^Max open files\s+(\d+|unlimited)\s/m.exec(text)?.[1];
  if (soft === undefined) return undefined;
  return soft === 'unlimited' ? Infinity : Number(soft);
}

/** What every system allows. */
const ASSUMED_LIMIT = 256;

function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}

/** Systems without /proc: the report takes some milliseconds. */
function reportedLimit(): number | undefined {
  const report: unknown = process.report.getReport();
  const limits: unknown = Reflect.get(Object(report), 'userLimits');
  const soft: unknown = Reflect.get(Object(Reflect.get(Object(limits), 'open_files')), 'soft');
  return typeof soft === 'number' ? soft : soft === 'unlimited' ? Infinity : undefined;
}

/** The requests that have no answer yet, of all doors together. */
export class ActiveCalls {
  readonly #controllers = new Set<AbortController>();
  #onLeave: (() => void) | undefined;

  get size(): number {
    return this.#controllers.size;
  }

  enter(): AbortController {
    const controller = new AbortController();
    this.#controllers.add(controller);
    return controller;
  }

  leave(controller: AbortController): void {
    this.#controllers.delete(controller);
    this.#onLeave?.();
  }

  /** Those who wait are woken. */
  abort(): void {
    for (const controller of this.#controllers) controller.abort();
  }

  /** When everybody has left, or the time is over. */
  async whenEmpty(timeoutMs: number): Promise<void> {
    if (this.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#onLeave = () => {
        if (this.size > 0) return;
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** Paths of sockets end at about 104 bytes. A state folder with a longer one gets its socket in a folder of its own elsewhere. */
export function makeSocketPath(stateDir: string): string {
  const { socket } = stateFiles(stateDir);
  const before = readDaemonRecord(stateDir)?.socket;
  // The lock of the folder is held: whatever socket is still there belongs to a daemon that died.
  rmSync(socket, { force: true });
  if (before !== undefined) removeSocketFolder(before);
  return Buffer.byteLength(socket) <= MAX_SOCKET_PATH ? socket : join(mkdtempSync(join(tmpdir(), 'baton-')), 's');
}

/** Removes a socket that lies elsewhere, and the folder made for it alone: with anything else in it, it is not that folder. */
export function removeSocketFolder(socket: string): void {
  if (!/\/baton-[A-Za-z0-9]{6}\/s$/.test(socket)) return;
  try {
    rmSync(socket, { force: true });
    rmdirSync(dirname(socket));
  } catch {
    // Gone already, or not ours.
  }
}

const MAX_SOCKET_PATH = 100;

/** The port that the daemon before had: pages that are open, and webhooks that point here, find the next one where it was. 0 where none is known. */
export function readSavedPort(stateDir: string): number {
  try {
    const port = Number(readFileSync(stateFiles(stateDir).port, 'utf8').trim());
    return Number.isInteger(port) && port >= 1024 && port <= 65_535 ? port : 0;
  } catch {
    return 0;
  }
}

export function savePort(stateDir: string, port: number): void {
  try {
    writeFileSync(stateFiles(stateDir).port, `${port}\n`, { mode: 0o600 });
  } catch {
    // Then the next daemon takes another one.
  }
}
