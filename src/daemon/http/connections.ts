import { mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { readFileIfPresent } from '../../api/files.ts';
import { readDaemonRecord, stateFiles } from '../../api/state-folder.ts';
import { fieldOf } from '../../protocol/shape/read-unknown.ts';

/** The kind of caller; `unknown` before the first request. */
export type ConnectionKind = 'unknown' | 'operator' | 'worker' | 'session';

/**
 * Half of the descriptors are reserved for files, databases and pipes. `session`: sessions, agents and supervisors.
 * `served`: workers and sessions together. The rest of the total is reserved for operators.
 */
export function slotLimits(descriptors: number, most: number) {
  const total = Math.min(most, Math.max(MIN_SLOTS, Math.floor(descriptors / 2)));
  const unknown = Math.floor(total / 4);
  const served = total - unknown - Math.max(2, Math.floor(total / 8));
  return { total, unknown, worker: Math.floor(served / 2), session: served, served };
}

/**
 * Limits connections per kind. A new connection closes the longest idle one of the same kind, so that no client crowds
 * out operators.
 */
export class ConnectionSlots<C> {
  readonly #limits: ReturnType<typeof slotLimits>;
  readonly #slots = new Map<C, { kind: ConnectionKind; calls: number }>();

  constructor(limits: ReturnType<typeof slotLimits>) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#slots.size;
  }

  /** Adds a connection. Returns the connection to close for it, if any. If all others are busy, that is the new one. */
  add(connection: C): C | undefined {
    this.#slots.set(connection, { kind: 'unknown', calls: 0 });
    const isOver = this.#count('unknown') > this.#limits.unknown;
    const idle = isOver ? this.#findIdle(['unknown'], connection) : undefined;
    if (idle !== undefined || this.#slots.size <= this.#limits.total) return idle;
    return this.#findIdle(ALL_KINDS, connection) ?? connection;
  }

  /**
   * Records the kind of a connection, which the first request shows. Returns `full` if there is no room and no idle
   * connection to close.
   */
  identify(connection: C, kind: Exclude<ConnectionKind, 'unknown'>): { readonly close?: C } | 'full' {
    const slot = this.#slots.get(connection);
    if (slot === undefined || slot.kind === kind) return {};
    const before = slot.kind;
    slot.kind = kind;
    const over = this.#findOver(kind);
    if (over === undefined) return {};
    const close = this.#findIdle(over, connection);
    if (close !== undefined) return { close };
    slot.kind = before;
    return 'full';
  }

  /** Marks a connection as busy until the returned function is called. */
  markBusy(connection: C): () => void {
    const slot = this.#slots.get(connection);
    if (slot === undefined) return () => undefined;
    slot.calls += 1;
    return () => {
      slot.calls -= 1;
      if (this.#slots.delete(connection)) this.#slots.set(connection, slot);
    };
  }

  remove(connection: C): void {
    this.#slots.delete(connection);
  }

  /** Returns the kinds that exceed a limit after this kind has grown by one; undefined if none. */
  #findOver(kind: ConnectionKind): readonly ConnectionKind[] | undefined {
    const { total, unknown, served } = this.#limits;
    const known = this.#slots.size - this.#count('unknown');
    if (kind === 'operator') return known > total - unknown ? ['operator'] : undefined;
    if (kind !== 'unknown' && this.#count(kind) > this.#limits[kind]) return [kind];
    return this.#count('worker') + this.#count('session') > served ? ['worker', kind] : undefined;
  }

  #count(kind: ConnectionKind): number {
    return this.#slots.values().reduce((count, slot) => (slot.kind === kind ? count + 1 : count), 0);
  }

  #findIdle(kinds: readonly ConnectionKind[], besides: C): C | undefined {
    for (const [connection, { kind, calls }] of this.#slots) {
      if (connection !== besides && calls === 0 && kinds.includes(kind)) return connection;
    }
    return undefined;
  }
}

const ALL_KINDS: readonly ConnectionKind[] = ['unknown', 'worker', 'session', 'operator'];

/** The soft limit on descriptors. Node raises it to the hard limit at start-up. */
export function readDescriptorLimit(): number {
  return parseLimits(readFileIfPresent('/proc/self/limits')) ?? reportedLimit() ?? ASSUMED_LIMIT;
}

/** Parses `/proc/self/limits`, such as `Max open files 256 256 files`. */
export function parseLimits(text: string): number | undefined {
  const soft = /^Max open files\s+(\d+|unlimited)\s/m.exec(text)?.[1];
  if (soft === undefined) return undefined;
  return soft === 'unlimited' ? Infinity : Number(soft);
}

/** The lowest default limit of any supported system. */
const ASSUMED_LIMIT = 256;

/** For systems without /proc. Takes some milliseconds, because Node builds a report. */
function reportedLimit(): number | undefined {
  const soft = fieldOf(fieldOf(fieldOf(process.report.getReport(), 'userLimits'), 'open_files'), 'soft');
  return typeof soft === 'number' ? soft : soft === 'unlimited' ? Infinity : undefined;
}

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

  abort(): void {
    for (const controller of this.#controllers) controller.abort();
  }

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

/** A socket path may have about 104 bytes. For a longer path the socket is in a temporary folder. */
export function makeSocketPath(stateDir: string): string {
  const { socket } = stateFiles(stateDir);
  const before = readDaemonRecord(stateDir)?.socket;
  // The daemon holds the folder's lock, so an existing socket belongs to a dead daemon.
  rmSync(socket, { force: true });
  if (before !== undefined) removeSocketFolder(before);
  if (Buffer.byteLength(socket) <= MAX_SOCKET_PATH) return socket;
  // TMPDIR may be too long as well.
  const folder = Buffer.byteLength(join(tmpdir(), 'baton-XXXXXX', 's')) <= MAX_SOCKET_PATH ? tmpdir() : '/tmp';
  return join(mkdtempSync(join(folder, 'baton-')), 's');
}

/** Removes a socket outside the state folder, and its folder. Ignores any other path. */
export function removeSocketFolder(socket: string): void {
  if (!/\/baton-[A-Za-z0-9]{6}\/s$/.test(socket)) return;
  try {
    rmSync(socket, { force: true });
    rmdirSync(dirname(socket));
  } catch {
    // Already removed, or the folder contains other files.
  }
}

/** The last daemon's port, so that open pages and webhooks keep working. 0 if unknown. */
export function readSavedPort(stateDir: string): number {
  const port = Number(readFileIfPresent(stateFiles(stateDir).port).trim());
  return Number.isInteger(port) && port >= 1024 && port <= 65_535 ? port : 0;
}

export function savePort(stateDir: string, port: number): void {
  try {
    writeFileSync(stateFiles(stateDir).port, `${port}\n`, { mode: 0o600 });
  } catch {
    // Without the file, the next daemon uses another port.
  }
}

const MIN_SLOTS = 16;
const MAX_SOCKET_PATH = 100;
