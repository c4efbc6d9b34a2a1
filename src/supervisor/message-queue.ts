import type { Launch } from './contract.ts';
import { type HeldMessage, HeldMessages, type Permission, PermissionRequests } from './held-messages.ts';
import type { Child } from './process/child.ts';

export interface MessageQueueOptions {
  readonly launch: Pick<Launch, 'input' | 'terminal' | 'held'>;
  /** Where what it has not heard is kept. */
  readonly heldPath: string;
  /** It is told something that it will hear in this process. */
  readonly onDelivered: () => void;
}

/** What is said to a process: it hears that at once, at its next stop, or its next process begins with it. */
export class MessageQueue {
  readonly #options: MessageQueueOptions;
  readonly #held: HeldMessages;
  readonly #permissions = new PermissionRequests();
  readonly #gone = Promise.withResolvers<void>();
  #child: Child | undefined;
  #isTold = false;
  #isLeaving = false;

  constructor(options: MessageQueueOptions) {
    this.#options = options;
    this.#held = new HeldMessages(options.heldPath);
  }

  /** It was told something that no stop has followed yet. */
  get isAwaitingStop(): boolean {
    return this.#isTold;
  }

  /** Nothing more is said to it: it may leave, and does. */
  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  /** What earlier processes did not hear stands in its prompt. One that cannot even read that has not heard it either. */
  async begin(child: Child | undefined, prompt: string | null): Promise<void> {
    this.#child = child;
    if (child === undefined || prompt === null) return;
    if ((await child.writeMessage(prompt)) || this.#options.launch.input === 'none') this.#forgetEarlier();
  }

  /** The client runs in a person's terminal, with what earlier processes did not hear on its command line. */
  onTerminalOpened(): void {
    this.#forgetEarlier();
  }

  #forgetEarlier(): void {
    this.#held.remove(this.#options.launch.held ?? []);
  }

  /** One that is leaving does not hear it. Its end is on record before that is said, and its next process, if there is one, begins with it. */
  async deliver({ id, text }: HeldMessage, permission?: Permission): Promise<boolean> {
    const { launch, onDelivered: onTold } = this.#options;
    if (launch.terminal === true) return false;
    if (this.#isLeaving) {
      this.#held.add({ id, text });
      await this.#gone.promise;
      return false;
    }
    // Whatever else it is told while it asks is no yes. It hears a yes at its hook, and goes on in its turn.
    if (this.#permissions.answer(permission ?? 'deny', text) && permission !== undefined) return true;
    this.#isTold = true;
    onTold();
    if (launch.input !== 'once') return (await this.#child?.writeMessage(text)) ?? false;
    this.#held.add({ id, text });
    return true;
  }

  /** Resolves to the answer of its hook, when a person has decided: the client waits for it as long as that takes. */
  async askPermission(): Promise<object> {
    return this.#permissions.ask();
  }

  /** It tries to stop: what it hears instead of being let go, if there is anything. */
  takeMessagesAtStop(): string | undefined {
    const told = this.#held.takeWaiting();
    if (told.length === 0) return undefined;
    // When the answer has left: whoever is killed before that has not heard it.
    setImmediate(() => this.#held.remove(told.map(({ id }) => id)));
    return told.map(({ text }) => text).join('\n\n');
  }

  /** Its stop was answered. A client that has one turn a process is on its way out where it may go. */
  stopAnswered(mayGo: boolean): void {
    this.#isTold = false;
    if (mayGo) this.turnEnded();
  }

  /** Clients that have one turn a process leave by themselves. */
  turnEnded(): void {
    if (this.#options.launch.input === 'once') this.#isLeaving = true;
  }

  /** Nobody has anything more to say to it: it is let go. */
  endInput(): void {
    this.#isLeaving = true;
    this.#child?.endInput();
  }

  /** It has ended by itself. */
  onProcessGone(): void {
    this.#isLeaving = true;
  }

  /** What it was told in this process and did not hear. */
  takeUndelivered(): readonly HeldMessage[] {
    return this.#held.takeWaiting();
  }

  /** Its end is on record: whoever wanted to tell it something hears that it was not heard. */
  onExitRecorded(): void {
    this.#gone.resolve();
  }
}
