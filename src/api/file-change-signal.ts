import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import { WakeSignal } from './wake-signal.ts';

/** Rings when a file was changed. */
export class FileChangeSignal extends WakeSignal {
  readonly #path: string;
  readonly #names: ReadonlySet<string>;
  #watcher: FSWatcher | undefined;

  /** `others`: names of files beside it whose changes ring, too. */
  constructor(path: string, others: readonly string[] = []) {
    super();
    this.#path = path;
    this.#names = new Set([basename(path), ...others]);
  }

  /** Watches the folder, since the file may not exist yet or be replaced. */
  listen(): void {
    if (this.#watcher !== undefined) return;
    try {
      this.#watcher = watch(dirname(this.#path), (_, name) => {
        if (name === null || this.#names.has(name)) this.ring();
      });
      this.#watcher.on('error', () => undefined);
    } catch {
      // The folder does not exist yet: the next ring tries again.
    }
  }

  close(): void {
    this.#watcher?.close();
  }
}
