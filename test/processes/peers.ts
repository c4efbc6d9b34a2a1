import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Answer } from '../../src/api/answer.ts';
import type { CallOptions } from '../../src/api/client/client.ts';

/** A request to a peer, and its answer. */
export interface Asked {
  readonly id: number;
  readonly deed: string;
  readonly args: readonly unknown[];
}
export interface Told {
  readonly id: number;
  readonly said?: unknown;
  readonly threw?: string;
}

/** Another process, as seen by its parent. It can be frozen and continued. */
export class Peer {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #ids = 0;

  constructor(child: ChildProcess) {
    this.#child = child;
    child.on('message', (told: Told) => {
      const { said, threw } = told;
      if (threw === undefined) this.#waiting.get(told.id)?.resolve(said);
      else this.#waiting.get(told.id)?.reject(new Error(threw));
      this.#waiting.delete(told.id);
    });
    child.once('exit', (code, signal) => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`the peer has ended: ${code ?? signal}`));
    });
  }

  async ask<A = unknown>(deed: string, ...args: readonly unknown[]): Promise<A> {
    const id = ++this.#ids;
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting.set(id, waiting);
    this.#child.send({ id, deed, args } satisfies Asked);
    return waiting.promise as Promise<A>; // oxlint-disable-line typescript/no-unsafe-type-assertion
  }

  async call(operation: string, input: unknown, options: CallOptions = {}): Promise<Answer> {
    return this.ask('call', operation, input, options);
  }

  freeze(): void {
    this.#child.kill('SIGSTOP');
  }

  thaw(): void {
    this.#child.kill('SIGCONT');
  }

  async kill(): Promise<void> {
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }
}
