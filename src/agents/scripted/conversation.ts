import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomically } from '../../api/files.ts';
import { isDiskFault, isShortage } from '../../protocol/resource-faults.ts';

export interface Conversation {
  readonly id: string;
  /** How many steps have begun. A step that killed the agent is not repeated. */
  readonly position: number;
  readonly messages: readonly { readonly from: 'user' | 'agent'; readonly text: string }[];
}

/** Keeps the conversation in a file that is rewritten after each change. Without a folder it stays in memory. */
export class ConversationFile {
  readonly #path: string | undefined;
  /** Whether there is a conversation to resume. */
  readonly isFound: boolean;
  now: Conversation;

  constructor(folder: string | undefined, id: string, isResume: boolean) {
    this.#path = folder === undefined ? undefined : join(folder, `scripted-${id}.json`);
    const kept = isResume ? this.#read() : undefined;
    this.isFound = kept !== undefined;
    this.now = kept ?? { id, position: 0, messages: [] };
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
      // Other clients do the same: if the disk is full the conversation continues, and the next change is written.
      if (!isDiskFault(error) && !isShortage(error)) throw error;
    }
  }

  #read(): Conversation | undefined {
    try {
      // Only this program writes the file.
      return JSON.parse(readFileSync(this.#path ?? '', 'utf8')) as Conversation; // oxlint-disable-line typescript/no-unsafe-type-assertion
    } catch {
      return undefined;
    }
  }
}

const MAX_MESSAGES = 1000;
