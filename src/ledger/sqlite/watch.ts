import { watch as watchFolder, type FSWatcher } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Head } from '../store.ts';

/** Delays of head reads after a file event, because the commit ends one sync after the event. */
const HEAD_CHECK_DELAYS_MS = [0, 1, 2, 5, 10, 25, 50, 100, 250];

/** Reports commits of all processes without polling: file events start a few reads of the head. */
export class SqliteHeadWatch {
  readonly #path: string;
  readonly #readHead: () => Head;
  readonly #listeners = new Set<(head: Head) => void>();
  #folder: FSWatcher | undefined;
  #timer: NodeJS.Timeout | undefined;
  #reads = 0;
  #seen = 0;

  constructor(path: string, readHead: () => Head) {
    this.#path = path;
    this.#readHead = readHead;
  }

  /** `others`: whether other processes may write. Commits of this process are reported by `announce`. */
  add(listener: (head: Head) => void, others: boolean): () => void {
    // Wrapped, so that a listener added twice is removed once per call.
    const own = (head: Head): void => listener(head);
    if (this.#listeners.size === 0) this.#start(others);
    this.#listeners.add(own);
    return () => {
      this.#listeners.delete(own);
      if (this.#listeners.size === 0) this.close();
    };
  }

  announce(head: Head): void {
    if (head.size === this.#seen) return;
    this.#seen = head.size;
    for (const listener of this.#listeners) queueMicrotask(() => this.#listeners.has(listener) && listener(head));
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#folder?.close();
    this.#folder = undefined;
  }

  #start(others: boolean): void {
    this.#seen = this.#findHead()?.size ?? 0;
    if (!others) return;
    const name = basename(this.#path);
    this.#folder = watchFolder(dirname(this.#path), { persistent: false }, (_event, changed) => {
      if (!changed?.startsWith(name)) return;
      this.#reads = 0;
      this.#timer ??= setTimeout(() => this.#check(), HEAD_CHECK_DELAYS_MS[0]).unref();
    });
  }

  /** Undefined if the file is locked or faulty: its readers report that, and a watcher must not end the process. */
  #findHead(): Head | undefined {
    try {
      return this.#readHead();
    } catch {
      return undefined;
    }
  }

  #check(): void {
    this.#timer = undefined;
    const head = this.#findHead();
    if (head) this.announce(head);
    this.#reads += 1;
    const delay = HEAD_CHECK_DELAYS_MS[this.#reads];
    if (delay !== undefined) this.#timer = setTimeout(() => this.#check(), delay).unref();
  }
}
