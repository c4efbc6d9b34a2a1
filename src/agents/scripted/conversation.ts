import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomically } from '../../api/files.ts';
import { isDiskFault, isShortage } from '../../protocol/shortage.ts';

/** What a resumed agent must know: how far it has come, and what was said. */
export interface Conversation {
  readonly id: string;
  /** How many steps it has begun. A step is begun once: one that killed the agent is not begun again. */
  readonly position: number;
  readonly messages: readonly { readonly from: 'user' | 'agent'; readonly text: string }[];
}

/** Keeps a conversation in a file of its own, whole after every change; without a folder only as long as the process lives. */
export class ConversationFile {
  readonly #path: string | undefined;
  now: Conversation;

  constructor(folder: string | undefined, id: string, isResume: boolean) {
    this.#path = folder === undefined ? undefined : join(folder, `scripted-${id}.json`);
    this.now = (isResume ? this.#read() : undefined) ?? { id, position: 0, messages: [] };
  }

  begin(position: number): void {
    this.#change({ position });
  }

  add(from: 'user' | 'agent', text: string): void {
    this.#change({ messages: [...this.now.messages, { from, text }].slice(-MAX_MESSAGES) });
  }

  #change(change: Partial<Conversation>): void {
    this.now = { ...this.now, ...change };
    try {
      if (this.#path !== undefined) writeFileAtomically(this.#path, JSON.stringify(this.now));
    } catch (error) {
      // As the clients do: on a full disk the conversation goes on, and the next change writes it.
      if (!isDiskFault(error) && !isShortage(error)) throw error;
    }
  }

  #read(): Conversation | undefined {
    try {
      // Only this program writes it, whole.
      return JSON.parse(readFileSync(this.#path ?? '', 'utf8')) as Conversation; // oxlint-disable-line typescript/no-unsafe-type-assertion
    } catch {
      return undefined;
    }
  }
}

const MAX_MESSAGES = 1000;
