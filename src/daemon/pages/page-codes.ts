import { hash, randomBytes } from 'node:crypto';

/** The purpose of a code. */
export interface CodeUse {
  /** The project in which `baton web` or `baton acp` was run, if any. */
  readonly projectPath: string | undefined;
  /** The editor that gets the key; absent for a page. */
  readonly editor?: string | undefined;
}

export interface PageCode {
  readonly code: string;
  readonly expiresAtMs: number;
}

/** One-time codes that are exchanged for the key of a page. Only their hashes are kept, and only in memory. */
export class PageCodes {
  readonly #now: () => number;
  readonly #codes = new Map<string, CodeUse & { readonly expiresAtMs: number }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  make(use: CodeUse): PageCode {
    const code = randomBytes(32).toString('base64url');
    const expiresAtMs = this.#now() + CODE_MS;
    this.#codes.set(hashOf(code), { ...use, expiresAtMs });
    const [oldest] = this.#codes.keys();
    if (this.#codes.size > MAX_CODES && oldest !== undefined) this.#codes.delete(oldest);
    return { code, expiresAtMs };
  }

  /** Consumes the code, whatever happens next. Undefined if the code is unknown, expired or used. */
  use(code: string): CodeUse | undefined {
    const key = hashOf(code);
    const found = this.#codes.get(key);
    this.#codes.delete(key);
    return found !== undefined && this.#now() < found.expiresAtMs ? found : undefined;
  }
}

function hashOf(code: string): string {
  return hash('sha256', code);
}

export const CODE_MS = 60_000;
const MAX_CODES = 16;
