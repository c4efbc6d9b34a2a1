import { hash } from 'node:crypto';
import { readFileIfPresent, writeFileAtomically } from '../../api/files.ts';
import { fieldsInJson } from '../../protocol/shape/read-unknown.ts';

/** The key of one page or one `baton acp`. The private half never leaves the browser or the process. */
export interface PageKey {
  /**
   * `page-3-0a1b2c3d`, or `acp-zed-4-0a1b2c3d` for an editor: the name and the start of the public key's hash, so that
   * keys of several hosts differ.
   */
  readonly id: string;
  readonly name: string;
  /** The 32 bytes of the Ed25519 key in base64url, as `daemon_key`. */
  readonly public_key: string;
  readonly origin: string;
  readonly daemon_key: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
}

export interface RevokedKey {
  readonly id: string;
  readonly name: string;
  readonly reason: string;
  readonly revoked_at: string;
}

/** Records that the daemon found its port taken and moved to another one. */
export interface PortMove {
  readonly from: number;
  readonly to: number;
  /** The process that has the old port; null if the system does not report it. */
  readonly taken_by: string | null;
  readonly at: string;
}

interface Content {
  readonly next: number;
  readonly keys: readonly PageKey[];
  readonly revoked: readonly RevokedKey[];
  readonly moved: PortMove | null;
}

/** The keys of pages in the state folder. Nothing in the file is secret. */
export class KeyFile {
  readonly #path: string;
  readonly #now: () => number;
  #content: Content;
  #lastUsed = new Map<string, number>();
  #savedAtMs = 0;

  constructor(path: string, now: () => number) {
    this.#path = path;
    this.#now = now;
    this.#content = parseContent(readFileIfPresent(path));
  }

  get moved(): PortMove | null {
    return this.#content.moved;
  }

  get revoked(): readonly RevokedKey[] {
    return this.#content.revoked;
  }

  list(): readonly PageKey[] {
    return this.#content.keys.map((key) => {
      const usedMs = this.#lastUsed.get(key.id);
      return usedMs === undefined ? key : { ...key, last_used_at: new Date(usedMs).toISOString() };
    });
  }

  find(id: string): PageKey | undefined {
    return this.#content.keys.find((key) => key.id === id);
  }

  /** Throws if the file cannot be written. No key exists then. */
  add(given: Pick<PageKey, 'public_key' | 'origin' | 'daemon_key'>, editor?: string): PageKey {
    const { next, keys } = this.#content;
    const name = `${editor === undefined ? 'page' : `acp-${editor}`}-${next}`;
    const id = `${name}-${hash('sha256', Buffer.from(given.public_key, 'base64url')).slice(0, 8)}`;
    const created_at = new Date(this.#now()).toISOString();
    const key: PageKey = { id, name, ...given, created_at, last_used_at: null };
    // A page was opened at the new port, so `baton web` no longer reports the move.
    const moved = editor === undefined ? null : this.#content.moved;
    this.#save({ next: next + 1, keys: [...keys, key], moved });
    return key;
  }

  /** Written to the file once a minute, and when the daemon stops. */
  noteUse(id: string): void {
    const now = this.#now();
    this.#lastUsed.set(id, now);
    if (now - this.#savedAtMs >= SAVE_MS) this.saveUses();
  }

  saveUses(): void {
    if (this.#lastUsed.size === 0) return;
    try {
      this.#save({});
    } catch {
      // Only the time of the last use is lost.
    }
  }

  /** Returns the revoked keys. */
  revoke(isMeant: (key: PageKey) => boolean, reason: string): readonly RevokedKey[] {
    const { keys, revoked } = this.#content;
    const ended = keys.filter(isMeant);
    if (ended.length === 0) return [];
    const revoked_at = new Date(this.#now()).toISOString();
    const added = ended.map(({ id, name }): RevokedKey => ({ id, name, reason, revoked_at }));
    this.#save({
      keys: keys.filter((key) => !ended.includes(key)),
      revoked: [...revoked, ...added].slice(-MAX_REVOKED),
    });
    return added;
  }

  noteMove(moved: PortMove): void {
    this.#save({ moved });
  }

  #save(change: Partial<Content>): void {
    const changed = { ...this.#content, ...change };
    const keys = changed.keys.map((key) => {
      const usedMs = this.#lastUsed.get(key.id);
      return usedMs === undefined ? key : { ...key, last_used_at: new Date(usedMs).toISOString() };
    });
    const content = { ...changed, keys };
    this.#savedAtMs = this.#now();
    // Changed in memory first, so that a revoked key is invalid even if the disk is full.
    if (keys.length < this.#content.keys.length) this.#content = content;
    writeFileAtomically(this.#path, `${JSON.stringify({ v: 1, ...content }, null, 2)}\n`);
    this.#content = content;
    this.#lastUsed = new Map();
  }
}

/** The system refused to write the file, for example because the disk is full. */
export function isFileFault(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}

/** A damaged file counts as having no keys, so pages must be opened again. */
function parseContent(text: string): Content {
  const { next, keys, revoked, moved } = fieldsInJson(text);
  return {
    next: typeof next === 'number' && Number.isSafeInteger(next) && next > 0 ? next : 1,
    keys: listOf(keys, isPageKey),
    revoked: listOf(revoked, isRevokedKey),
    moved: isPortMove(moved) ? moved : null,
  };
}

function listOf<T>(value: unknown, isOne: (item: unknown) => item is T): readonly T[] {
  return Array.isArray(value) ? value.filter(isOne) : [];
}

function isPageKey(value: unknown): value is PageKey {
  return hasTexts(value, ['id', 'name', 'public_key', 'origin', 'daemon_key', 'created_at']);
}

function isRevokedKey(value: unknown): value is RevokedKey {
  return hasTexts(value, ['id', 'name', 'reason', 'revoked_at']);
}

function isPortMove(value: unknown): value is PortMove {
  return hasTexts(value, ['at']);
}

function hasTexts(value: unknown, names: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const fields = new Map<string, unknown>(Object.entries(value));
  return names.every((name) => typeof fields.get(name) === 'string');
}

const SAVE_MS = 60_000;
/** Older ones are still in the ledgers. */
const MAX_REVOKED = 500;
