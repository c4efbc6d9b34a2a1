import { readFileSync } from 'node:fs';
import { writeFileAtomically } from '../api/files.ts';

export interface HeldMessage {
  readonly id: string;
  readonly text: string;
}

/**
 * What an agent was told while it could not listen: it hears that when it next tries to stop. Where its process goes before that, whatever
 * became of it and of us, the next one finds it in the agent's folder and begins with it.
 */
export class HeldMessages {
  readonly #path: string;
  #waiting: readonly HeldMessage[] = [];

  constructor(path: string) {
    this.#path = path;
  }

  /** On disk before whoever sent it is told that it will be heard. */
  add(message: HeldMessage): void {
    this.#waiting = [...this.#waiting, message];
    writeFileAtomically(this.#path, JSON.stringify([...readHeldMessages(this.#path), message]));
  }

  /** Those of this process that it has not heard yet. */
  takeWaiting(): readonly HeldMessage[] {
    const taken = this.#waiting;
    this.#waiting = [];
    return taken;
  }

  /** They were heard. */
  remove(ids: readonly string[]): void {
    if (ids.length === 0) return;
    writeFileAtomically(this.#path, JSON.stringify(readHeldMessages(this.#path).filter(({ id }) => !ids.includes(id))));
  }
}

/** All that no process of the agent has heard yet, oldest first. */
export function readHeldMessages(path: string): readonly HeldMessage[] {
  try {
    const kept: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return Array.isArray(kept) ? kept.filter(isHeld) : [];
  } catch {
    return [];
  }
}

function isHeld(value: unknown): value is HeldMessage {
  if (typeof value !== 'object' || value === null) return false;
  return 'id' in value && typeof value.id === 'string' && 'text' in value && typeof value.text === 'string';
}

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
