import { readFileSync } from 'node:fs';
import { writeFileAtomically } from '../api/files.ts';

export interface HeldMessage {
  readonly id: string;
  readonly text: string;
}

/** Messages for the agent's next stop; if the process exits before, its next process finds them in the folder. */
export class HeldMessages {
  readonly #path: string;
  #waiting: readonly HeldMessage[] = [];

  constructor(path: string) {
    this.#path = path;
  }

  /** Writes the message to disk before the sender is answered that it will be delivered. */
  add(message: HeldMessage): void {
    this.#waiting = [...this.#waiting, message];
    writeFileAtomically(this.#path, JSON.stringify([...readHeldMessages(this.#path), message]));
  }

  takeWaiting(): readonly HeldMessage[] {
    const taken = this.#waiting;
    this.#waiting = [];
    return taken;
  }

  remove(ids: readonly string[]): void {
    if (ids.length === 0) return;
    writeFileAtomically(this.#path, JSON.stringify(readHeldMessages(this.#path).filter(({ id }) => !ids.includes(id))));
  }
}

/** All messages that no process of the agent has received, oldest first. */
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

/** Permission questions of the client that wait for a person's answer. Without an answer the permission is denied. */
export class PermissionRequests {
  #answer: ((answer: object) => void) | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  /**
   * Asks one question at a time, each reported when the previous is answered: clients ask for several tools at once,
   * and a person who allows one has not seen the others.
   */
  async ask(report: () => Promise<unknown>): Promise<object> {
    const answered = this.#turn.then(async () => {
      const asked = Promise.withResolvers<object>();
      this.#answer = asked.resolve;
      await report();
      return asked.promise;
    });
    this.#turn = answered.catch(() => {});
    return answered;
  }

  /** Answers the open question. Returns whether there was one. */
  answer(permission: Permission, message: string): boolean {
    const answer = this.#answer;
    this.#answer = undefined;
    const decision = permission === 'allow' ? { behavior: 'allow' } : { behavior: 'deny', message };
    answer?.({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } });
    return answer !== undefined;
  }
}
