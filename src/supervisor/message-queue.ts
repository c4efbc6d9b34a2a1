import type { Launch } from './contract.ts';
import { type HeldMessage, HeldMessages, type Permission, PermissionRequests } from './held-messages.ts';
import type { Child } from './process/child.ts';

export interface MessageQueueOptions {
  readonly launch: Pick<Launch, 'input' | 'terminal' | 'held'>;
  readonly heldPath: string;
  readonly onDelivered: () => void;
}

/** Messages to a process, delivered at once, at its next stop, or in the prompt of its next process. */
export class MessageQueue {
  readonly #options: MessageQueueOptions;
  readonly held: HeldMessages;
  readonly permissions = new PermissionRequests();
  readonly #gone = Promise.withResolvers<void>();
  #child: Child | undefined;
  /** Whether a message was delivered and the process has not stopped since. */
  isAwaitingStop = false;
  /** Whether the process may exit, so that it receives no further messages. */
  isLeaving = false;

  constructor(options: MessageQueueOptions) {
    this.#options = options;
    this.held = new HeldMessages(options.heldPath);
  }

  /**
   * Sends the prompt, which contains the messages that earlier processes did not receive. They are held again if it
   * cannot be written.
   */
  async begin(child: Child | undefined, prompt: string | null): Promise<void> {
    this.#child = child;
    if (child === undefined || prompt === null) return;
    if ((await child.writeMessage(prompt)) || this.#options.launch.input === 'none') this.onTerminalOpened();
  }

  /** Records that a client started in a user's terminal, with undelivered messages on its command line. */
  onTerminalOpened(): void {
    this.held.remove(this.#options.launch.held ?? []);
  }

  /**
   * Delivers a message. Returns false, after the exit is recorded, if the process is leaving; its next process starts
   * with the message.
   */
  async deliver({ id, text }: HeldMessage, permission?: Permission): Promise<boolean> {
    const { launch, onDelivered } = this.#options;
    if (launch.terminal === true) return false;
    if (this.isLeaving) {
      this.held.add({ id, text });
      await this.#gone.promise;
      return false;
    }
    // Any other message denies an open permission. An allowed agent continues its turn through the hook's response.
    if (this.permissions.answer(permission ?? 'deny', text) && permission !== undefined) return true;
    this.isAwaitingStop = true;
    onDelivered();
    if (launch.input !== 'once') return (await this.#child?.writeMessage(text)) ?? false;
    this.held.add({ id, text });
    return true;
  }

  /** Returns the messages that block the stop; undefined if there are none. */
  takeMessagesAtStop(): string | undefined {
    const waiting = this.held.takeWaiting();
    if (waiting.length === 0) return undefined;
    // The messages are removed only after the response is sent: a process killed before that has not received them.
    setImmediate(() => this.held.remove(waiting.map(({ id }) => id)));
    return waiting.map(({ text }) => text).join('\n\n');
  }

  /** Records that the stop was answered. A client with one turn per process exits now if it may. */
  stopAnswered(mayGo: boolean): void {
    this.isAwaitingStop = false;
    if (mayGo) this.turnEnded();
  }

  /** Records the end of a turn. Clients with one turn per process exit by themselves. */
  turnEnded(): void {
    if (this.#options.launch.input === 'once') this.isLeaving = true;
  }

  endInput(): void {
    this.isLeaving = true;
    this.#child?.endInput();
  }

  onProcessGone(): void {
    this.isLeaving = true;
  }

  /** Records the exit, and answers waiting senders that their message was not delivered. */
  onExitRecorded(): void {
    this.#gone.resolve();
  }
}
