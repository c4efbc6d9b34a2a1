import type { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';

export interface HttpSession {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  /** Whoever opened it: nobody else may speak in it, even knowing its id. */
  readonly token: string;
}

/** The open sessions, those used last at the end. When there are too many, the one that was silent longest goes. */
export class HttpSessions {
  readonly #sessions = new Map<string, HttpSession>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  add(id: string, session: HttpSession): void {
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size >= this.#most && oldest !== undefined) void this.#sessions.get(oldest)?.transport.close();
    this.#sessions.set(id, session);
  }

  find(id: string, token: string): HttpSession | undefined {
    const session = this.#sessions.get(id);
    if (session === undefined || session.token !== token) return undefined;
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
    return session;
  }

  remove(id: string | undefined): void {
    if (id !== undefined) this.#sessions.delete(id);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#sessions.values()].map(async ({ transport }) => transport.close()));
  }
}
