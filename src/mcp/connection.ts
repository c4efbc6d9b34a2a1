import { createHash, randomUUID } from 'node:crypto';
import type { Operation } from '../api/operation.ts';

/**
 * What a connection may do: the token it came with, and one for each task that it has claimed. Models never handle these
 * tokens: a call speaks for the task that it names, and one that names none for the newest claim.
 */
export class Connection {
  readonly id = randomUUID();
  readonly #token: string | undefined;
  readonly #claims = new Map<string, string>();
  #newest: string | undefined;

  /** Without a token of its own it is whatever worker its backend is. */
  constructor(token?: string) {
    this.#token = token;
  }

  tokenFor({ access }: Operation, input: unknown): { readonly token?: string } {
    const token = (access.includes('session') ? this.#claimFor(access, input) : undefined) ?? this.#token;
    return token === undefined ? {} : { token };
  }

  /** From now on this connection speaks for the task. Ended claims stay: the daemon says best how they ended. */
  claimed(answer: unknown): void {
    const taskId = textOf(answer, 'task_id');
    const token = textOf(answer, 'token');
    if (taskId === undefined || token === undefined) return;
    this.#claims.set(taskId, token);
    this.#newest = token;
  }

  /**
   * The same request, sent again, has the same key. The arguments are part of it, since some clients count their requests
   * carelessly, and the answer to another question would be worse than doing something twice.
   */
  keyFor(requestId: string | number, operation: string, input: unknown): string {
    const request = JSON.stringify([requestId, operation, input]);
    return `mcp:${this.id}:${createHash('sha256').update(request).digest('base64url')}`;
  }

  #claimFor(access: Operation['access'], input: unknown): string | undefined {
    const taskId = textOf(input, 'task_id');
    if (taskId === undefined) return this.#newest;
    // About a task that is not ours: what needs no claim is asked without one, the rest is said under the claim we have.
    return this.#claims.get(taskId) ?? (access.includes('worker') ? undefined : this.#newest);
  }
}

function textOf(value: unknown, field: string): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const found: unknown = Reflect.get(value, field);
  return typeof found === 'string' ? found : undefined;
}
