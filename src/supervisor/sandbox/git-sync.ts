import { type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';
import { hasPrivateChanges, syncPrivateGit } from '../../git/private/sync.ts';
import { refreshPrivateGit } from '../../git/private/refresh.ts';
import type { PrivateGit } from '../../protocol/sandbox.ts';

/** Brings the session's commits into the user's repository after each commit, and on the supervisor's request. */
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

  /** Watches the reflog, to which git appends at each commit. Without a watch, commits arrive with the next request. */
  begin(): void {
    try {
      this.#watcher = watch(join(this.#git.folder, 'git', 'logs'), () => this.#onLog());
      this.#watcher.on('error', () => this.#watcher?.close());
      this.#watcher.unref();
      // The process may have made a commit already.
      this.#onLog();
    } catch {
      // On an unborn branch the folder does not exist before the first commit.
    }
  }

  /** Waits briefly, because git moves the branch just after it has written the log. */
  #onLog(): void {
    void this.sync();
    clearTimeout(this.#later);
    this.#later = setTimeout(() => void this.sync(), LATER_MS).unref();
  }

  /** Runs one sync at a time. A call during a sync runs another one afterwards, because its commit may be later. */
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

  /** Updates the branches in the session that others moved since it started. */
  async refresh(): Promise<void> {
    await this.#running;
    await refreshPrivateGit(this.#git);
  }

  /** Always runs a last sync: a failed import is not repeated before the next change. */
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

  /** A failure is printed once and retried at the next sync; the commits stay in the private folder meanwhile. */
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

/** Long enough for a git process that was delayed between the two steps. */
const LATER_MS = 500;
