import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeFileAtomically } from '../../api/files.ts';
import { findUpstream, readRefFingerprint, type RefFingerprint } from '../../git/main-branch.ts';
import { findMainBranch, findRepository, findSha } from '../../git/repository.ts';
import { CLAIM_ENDS, type RecordedEvent } from '../../state/event.ts';
import { findMain, type MainBranchState } from '../../state/main/main-branch.ts';
import { hasNoSessionSince, type ObservedMove, type ObserveResult } from '../../state/main/observe-main.ts';
import type { CommandLoop } from '../loop/command-loop.ts';
import { measureMain, type MeasureMain } from './measure-main.ts';

interface MainWatchOptions extends Omit<MeasureMain, 'branch'> {
  readonly id: string;
  readonly stateDir: string;
  readonly commandLoop: Pick<CommandLoop, 'read' | 'submitCommand'>;
  /** The main branch, if the project names it. */
  readonly into: () => string | undefined;
  readonly now: () => Date;
  readonly onMistake: (error: unknown) => void;
}

/**
 * Detects every move of the main branch that Baton did not make: at start-up, once a second by looking at a few files, when a session
 * begins or ends, and before each merge. `state/main` and `engine/on-main-moved.ts` decide what follows.
 */
export class MainWatch {
  readonly #options: MainWatchOptions;
  #commonDir: string | undefined;
  /** The branch of the last look, and its files at that time. */
  #last: { readonly branch: string; readonly into: string | undefined; readonly mark: RefFingerprint } | undefined;
  /** The last time at which the branch was where the ledger has it; undefined before the first look. */
  #seenAt: string | undefined;
  #isBegun = false;
  /** Whether the time must be written to its file again, because a session has ended since. */
  #isToKeep = true;
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;
  #glancedMs = Number.NEGATIVE_INFINITY;

  constructor(options: MainWatchOptions) {
    this.#options = options;
  }

  /** Starts looking by itself. */
  start(): void {
    this.#isBegun = true;
  }

  /** Looks at the files, at most once a second; asks git only if they have changed. */
  pollIfDue(nowMs: number): void {
    if (!this.#isBegun || nowMs - this.#glancedMs < POLL_MS) return;
    this.#glancedMs = nowMs;
    if (this.#next === undefined) void this.poll();
  }

  follow(recorded: readonly RecordedEvent[]): void {
    if (!this.#isBegun) return;
    if (recorded.some(({ type }) => SESSION_ENDS.has(type))) this.#isToKeep = true;
    if (recorded.some(({ type }) => POLL_AFTER.has(type))) void this.poll();
  }

  /** Looks once, beginning after this call; several calls share one look. */
  async poll(): Promise<void> {
    this.#next ??= this.#running.then(async () => {
      this.#next = undefined;
      this.#running = this.#tryLook();
      return this.#running;
    });
    return this.#next;
  }

  /**
   * Called before a request that may begin a session, so that a commit made before it is not attributed to that session. If a session was
   * alive since the last look, every commit since then is suspect anyway.
   */
  async pollBeforeSession(): Promise<void> {
    if (!this.#isBegun) return;
    const read = await this.#options.commandLoop.read(({ state }) => {
      const main = findMain(state);
      return main !== undefined && hasNoSessionSince(state, this.#since(main));
    });
    if (read.ok && read.answer) await this.poll();
  }

  async close(): Promise<void> {
    this.#isBegun = false;
    await (this.#next ?? this.#running);
  }

  async #tryLook(): Promise<void> {
    try {
      for (let tries = 0; tries < MAX_TRIES; tries += 1) if ((await this.#lookOnce()) !== 'stale') return;
    } catch (error) {
      this.#options.onMistake(error);
    }
  }

  async #lookOnce(): Promise<ObserveResult | undefined> {
    const { path, into, now } = this.#options;
    const at = now().toISOString();
    const configured = into();
    const known = this.#last?.into === configured ? this.#last : undefined;
    const mark = known && this.#mark(known.branch);
    if (known?.mark.isSettled === true && known.mark.text === mark?.text) return this.#confirm(at);
    const found = await findMainBranch(path, configured);
    if (!found.ok) return undefined;
    const branch = found.value.name;
    const before = await this.#markOf(branch);
    const sha = await findSha(path, `refs/heads/${branch}`);
    if (sha === null || before === undefined) return undefined;
    const seen = await this.#record(branch, sha, configured !== undefined);
    if (seen === undefined || seen === 'stale') return seen;
    this.#last = { branch, into: configured, mark: before };
    return this.#confirm(at);
  }

  async #record(branch: string, sha: string, isConfigured: boolean): Promise<ObserveResult | undefined> {
    const { commandLoop: keeper } = this.#options;
    const read = await keeper.read(({ state }) => {
      const main = findMain(state);
      return { main, isSuspect: main !== undefined && !hasNoSessionSince(state, this.#since(main)) };
    });
    if (!read.ok) return undefined;
    const { main, isSuspect } = read.answer;
    const isSame = main?.branch === branch || (main !== undefined && !isConfigured);
    if (main?.branch === branch && (main.sha === sha || main.prepared?.sha === sha)) return 'known';
    const scene = { ...this.#options, branch };
    const upstream = await findUpstream(scene.path, branch);
    const move: ObservedMove | null =
      main === undefined || !isSame ? null : await measureMain(scene, { main, sha, isSuspect, upstream });
    const seenAt = main === undefined ? '' : this.#since(main);
    const command = { branch, sha, upstream: upstream?.digest ?? null, isConfigured, seenAt, move };
    const settled = await keeper.submitCommand({ kind: 'see-main', command }, SYSTEM);
    return settled.ok ? settled.answer : undefined;
  }

  /** The branch was where the ledger has it at this time. */
  async #confirm(at: string): Promise<ObserveResult> {
    this.#seenAt = at;
    if (!this.#isToKeep) return 'known';
    const read = await this.#options.commandLoop.read(({ state }) => ({
      main: findMain(state),
      isQuiet: hasNoSessionSince(state, at),
    }));
    if (!read.ok || read.answer.main === undefined || !read.answer.isQuiet) return 'known';
    saveSeen(this.#options, read.answer.main, at);
    this.#isToKeep = false;
    return 'known';
  }

  /** Sessions that were alive after this time are suspects: then the branch was last seen where the ledger has it. */
  #since(main: MainBranchState): string {
    return this.#seenAt ?? readSeen(this.#options, main) ?? main.at;
  }

  #mark(branch: string): RefFingerprint | undefined {
    return this.#commonDir === undefined
      ? undefined
      : readRefFingerprint(this.#commonDir, branch, this.#options.now().getTime());
  }

  async #markOf(branch: string): Promise<RefFingerprint | undefined> {
    const found = this.#commonDir === undefined ? await findRepository(this.#options.path) : undefined;
    if (found?.ok === true) this.#commonDir = found.value.commonDir;
    return this.#mark(branch);
  }
}

const POLL_MS = 1000;
const MAX_TRIES = 5;
const SYSTEM = { kind: 'system', name: 'main' } as const;

/** Commands are treated like sessions, because they run code of a branch. */
const COMMAND_ENDS = [
  'AgentStartFailed',
  'AgentKillRequested',
  'CommandFinished',
  'CommandCancelled',
  'ChecksFinished',
  'MergeHeld',
  'MergeFinished',
];
const SESSION_ENDS: ReadonlySet<string> = new Set(['AgentExited', ...COMMAND_ENDS, ...Object.values(CLAIM_ENDS)]);
const POLL_AFTER: ReadonlySet<string> = new Set([
  ...SESSION_ENDS,
  'TaskClaimed',
  'AgentRequested',
  'CommandRequested',
  'ChecksRequested',
  'MergeRequested',
]);

type SeenFile = Pick<MainWatchOptions, 'stateDir' | 'id'>;

/**
 * Keeps the time of the last look over a restart. It is written when no session is alive, so that a person's commit made while the daemon
 * was down is not attributed to a session that had ended long before. Without the file, Baton asks more often.
 */
function saveSeen(kept: SeenFile, { branch, sha }: MainBranchState, at: string): void {
  const path = seenPath(kept);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileAtomically(path, `${JSON.stringify({ branch, sha, at })}\n`);
}

function readSeen(kept: SeenFile, { branch, sha, at }: MainBranchState): string | undefined {
  try {
    const seen: unknown = JSON.parse(readFileSync(seenPath(kept), 'utf8'));
    if (typeof seen !== 'object' || seen === null || !('at' in seen) || typeof seen.at !== 'string') return undefined;
    const isThis = 'branch' in seen && seen.branch === branch && 'sha' in seen && seen.sha === sha;
    return isThis && seen.at > at ? seen.at : undefined;
  } catch {
    return undefined;
  }
}

function seenPath({ stateDir, id }: SeenFile): string {
  return join(stateDir, 'main-seen', encodeURIComponent(id).replace(/^\./, '%2E'));
}
