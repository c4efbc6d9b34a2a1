import type { Child } from './child.ts';
import type { Launch } from './contract.ts';
import { HeldMessages, type HeldMessage } from './held-messages.ts';
import { Permissions, type Permission } from './permissions.ts';

export interface TellingOptions {
  readonly launch: Pick<Launch, 'input' | 'terminal' | 'held'>;
  /** Where what it has not heard is kept. */
  readonly heldPath: string;
  /** It is told something that it will hear in this process. */
  readonly onTold: () => void;
}

/** What is said to a process: it hears that at once, at its next stop, or its next process begins with it. */
export class Telling {
  readonly #options: TellingOptions;
  readonly #held: HeldMessages;
  readonly #permissions = new Permissions();
  readonly #gone = Promise.withResolvers<void>();
  #child: Child | undefined;
  #isTold = false;
  #isLeaving = false;

  constructor(options: TellingOptions) {
    this.#options = options;
    this.#held = new HeldMessages(options.heldPath);
  }

  /** It was told something that no stop has followed yet. */
  get isTold(): boolean {
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
    if ((await child.tell(prompt)) || this.#options.launch.input === 'none') this.#forgetEarlier();
  }

  /** The client runs in a person's terminal, with what earlier processes did not hear on its command line. */
  opened(): void {
    this.#forgetEarlier();
  }

  #forgetEarlier(): void {
    this.#held.forget(this.#options.launch.held ?? []);
  }

  /** One that is leaving does not hear it. Its end is on record before that is said, and its next process, if there is one, begins with it. */
  async tell({ id, text }: HeldMessage, permission?: Permission): Promise<boolean> {
    const { launch, onTold } = this.#options;
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
    if (launch.input !== 'once') return (await this.#child?.tell(text)) ?? false;
    this.#held.add({ id, text });
    return true;
  }

  /** Resolves to the answer of its hook, when a person has decided: the client waits for it as long as that takes. */
  async askPermission(): Promise<object> {
    return this.#permissions.ask();
  }

  /** It tries to stop: what it hears instead of being let go, if there is anything. */
  atStop(): string | undefined {
    const told = this.#held.take();
    if (told.length === 0) return undefined;
    // When the answer has left: whoever is killed before that has not heard it.
    setImmediate(() => this.#held.forget(told.map(({ id }) => id)));
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
  letLeave(): void {
    this.#isLeaving = true;
    this.#child?.hangUp();
  }

  /** It has ended by itself. */
  left(): void {
    this.#isLeaving = true;
  }

  /** What it was told in this process and did not hear. */
  takeUnheard(): readonly HeldMessage[] {
    return this.#held.take();
  }

  /** Its end is on record: whoever wanted to tell it something hears that it was not heard. */
  farewell(): void {
    this.#gone.resolve();
  }
}
