import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import { WakeSignal } from './wake-signal.ts';

/** Rings when a file changes. */
export class FileChangeSignal extends WakeSignal {
  readonly #path: string;
  readonly #names: ReadonlySet<string>;
  #watcher: FSWatcher | undefined;

  /** `others`: names of files in the same folder whose changes also ring. */
  constructor(path: string, others: readonly string[] = []) {
    super();
    this.#path = path;
    this.#names = new Set([basename(path), ...others]);
  }

  /** Watches the folder, because the file may not exist yet or may be replaced. */
  listen(): void {
    if (this.#watcher !== undefined) return;
    try {
      this.#watcher = watch(dirname(this.#path), (_, name) => {
        if (name === null || this.#names.has(name)) this.ring();
      });
      this.#watcher.on('error', () => undefined);
    } catch {
      // The folder does not exist yet. The next ring tries again.
    }
  }

  close(): void {
    this.#watcher?.close();
  }
}
