export type Permission = 'allow' | 'deny';

/** Questions of the client that wait for a person: each is answered with what they decide. Nobody who answers is a no. */
export class PermissionRequests {
  readonly #waiting = new Set<(answer: object) => void>();

  /** Resolves to what the client's hook is answered. */
  async ask(): Promise<object> {
    return new Promise((resolve) => {
      this.#waiting.add(resolve);
    });
  }

  /** True where somebody had asked. */
  answer(permission: Permission, message: string): boolean {
    const isAsked = this.#waiting.size > 0;
    const decision = permission === 'allow' ? { behavior: 'allow' } : { behavior: 'deny', message };
    const answer = { hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } };
    for (const resolve of this.#waiting) resolve(answer);
    this.#waiting.clear();
    return isAsked;
  }
}
