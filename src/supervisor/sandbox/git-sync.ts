import { type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';
import { hasPrivateChanges, syncPrivateGit } from '../../git/private/sync.ts';
import { refreshPrivateGit } from '../../git/private/refresh.ts';
import type { PrivateGit } from '../../protocol/sandbox.ts';

/** Brings the session's commits into the user's repository: after each commit, and whenever the supervisor asks. */
export class GitSync {
  readonly #git: PrivateGit;
  readonly #print: (line: string) => void;
  #watcher: FSWatcher | undefined;
  #later: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #isAgain = false;
  #lastReason: string | undefined;

  constructor(git: PrivateGit, print: (line: string) => void) {
    this.#git = git;
    this.#print = print;
  }

  /** Git appends to the reflog at each commit. Without a watch the commits arrive with the next request. */
  begin(): void {
    try {
      this.#watcher = watch(join(this.#git.folder, 'git', 'logs'), () => this.#onLog());
      this.#watcher.on('error', () => this.#watcher?.close());
      this.#watcher.unref();
      // The process may have made a commit already.
      this.#onLog();
    } catch {
      // The folder does not exist before the first commit of an unborn branch.
    }
  }

  /** Git moves the branch just after it has written the log. */
  #onLog(): void {
    void this.sync();
    clearTimeout(this.#later);
    this.#later = setTimeout(() => void this.sync(), LATER_MS).unref();
  }

  /** One sync at a time; a call during one runs another afterwards, because the commit may have come later. */
  async sync(): Promise<void> {
    if (this.#running !== undefined) {
      this.#isAgain = true;
      return this.#running;
    }
    if (!hasPrivateChanges(this.#git)) return;
    this.#running = this.#syncAll().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** Shows the session the branches that others moved since it started. */
  async refresh(): Promise<void> {
    await this.#running;
    await refreshPrivateGit(this.#git);
  }

  /** Always tries: an import that failed is not tried again before the next change. */
  async close(): Promise<void> {
    this.#watcher?.close();
    clearTimeout(this.#later);
    await this.#running;
    await this.#syncOnce();
  }

  async #syncAll(): Promise<void> {
    do {
      this.#isAgain = false;
      await this.#syncOnce();
    } while (this.#isAgain && hasPrivateChanges(this.#git));
  }

  /** A failure is kept for the next try and printed once: the commits stay in the private folder meanwhile. */
  async #syncOnce(): Promise<void> {
    const synced = await syncPrivateGit(this.#git);
    const reason = synced.ok
      ? synced.value.refused.map(({ branch, reason }) => `${branch}: ${reason}`).join('; ')
      : synced.problem.message;
    if (reason !== '' && reason !== this.#lastReason)
      this.#print(`baton: commits did not reach the repository: ${reason}`);
    this.#lastReason = reason;
  }
}

/** For a git that was held up in between. */
const LATER_MS = 500;
