import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readFileIfPresent, writeFileAtomically } from '../../api/files.ts';
import { findUpstream, readRefFingerprint, type RefFingerprint } from '../../git/main-branch.ts';
import { findMainBranch, findGitFolders, findSha } from '../../git/repository.ts';
import { fieldsInJson } from '../../protocol/shape/read-unknown.ts';
import { CLAIM_ENDS, type RecordedEvent } from '../../state/event.ts';
import { findMain, type MainBranchState } from '../../state/main/main-branch.ts';
import {
  ClientTasks,
  hasNoSessionSince,
  type ObservedMove,
  type ObserveResult,
} from '../../state/main/observe-main.ts';
import type { CommandLoop } from '../loop/command-loop.ts';
import type { State } from '../../state/state.ts';
import { type MeasureMain, measureMain, type TaskBranch } from './measure-main.ts';
import { recordRemoteMain, type SharedMain } from './remote-main.ts';

interface MainWatchOptions extends Omit<MeasureMain, 'branch'> {
  readonly id: string;
  readonly stateDir: string;
  readonly commandLoop: Pick<CommandLoop, 'read' | 'submitCommand'>;
  readonly into: () => string | undefined;
  /** Agents and commands that the daemon has started in a sandbox, and whose start or end is not recorded yet. */
  readonly isolated?: () => ReadonlySet<string>;
  /** Undefined on a single machine, and in a fleet without a remote: there the branch of this repository counts. */
  readonly shared?: () => SharedMain | undefined;
  readonly now: () => Date;
  readonly onMistake: (error: unknown) => void;
}

/** Detects moves of the main branch by others: at start-up, once a second, around sessions and before merges. */
export class MainWatch {
  readonly #options: MainWatchOptions;
  readonly #clients = new ClientTasks();
  #commonDir: string | undefined;
  #last: { readonly branch: string; readonly into: string | undefined; readonly mark: RefFingerprint } | undefined;
  /** The last time at which the branch was at the recorded position; undefined before the first check. */
  #seenAt: string | undefined;
  #isStarted = false;
  /** Whether `#seenAt` must be saved again, because a session has ended since. */
  #mustSave = true;
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;
  #polledMs = Number.NEGATIVE_INFINITY;
  /** When the remote last answered, in a fleet. */
  #fetchedMs = Number.NEGATIVE_INFINITY;

  constructor(options: MainWatchOptions) {
    this.#options = options;
  }

  start(): void {
    this.#isStarted = true;
  }

  /** Checks at most once a second. Runs git only if the files have changed. */
  pollIfDue(nowMs: number): void {
    const pauseMs = this.#options.shared?.() === undefined ? POLL_MS : REMOTE_MS;
    if (!this.#isStarted || nowMs - this.#polledMs < pauseMs) return;
    this.#polledMs = nowMs;
    if (this.#next === undefined) void this.poll();
  }

  follow(recorded: readonly RecordedEvent[]): void {
    for (const each of recorded) this.#clients.note(each);
    if (!this.#isStarted) return;
    if (recorded.some(({ type }) => SESSION_ENDS.has(type))) this.#mustSave = true;
    if (recorded.some(({ type }) => POLL_AFTER.has(type))) void this.poll();
  }

  /**
   * Checks once, starting after this call. Concurrent calls share one check. In a fleet only the caretaker checks, and
   * it reads the remote at most every 30 s unless the answer must be fresh.
   */
  async poll(how?: 'fresh'): Promise<void> {
    const shared = this.#options.shared?.();
    const isRecent = how !== 'fresh' && performance.now() - this.#fetchedMs < REMOTE_MS;
    if (shared !== undefined && (!shared.isCaretaker || isRecent)) return;
    this.#next ??= this.#running.then(async () => {
      this.#next = undefined;
      this.#running = this.#tryCheck();
      return this.#running;
    });
    return this.#next;
  }

  /**
   * Checks before a session starts, so that an earlier commit is not attributed to it. While a session is live, every
   * commit is suspect anyway.
   */
  async pollBeforeSession(): Promise<void> {
    if (!this.#isStarted || this.#options.shared?.() !== undefined) return;
    const read = await this.#options.commandLoop.read(({ state }) => {
      const main = findMain(state);
      return (
        main !== undefined && hasNoSessionSince(state, this.#since(main), this.#options.isolated?.(), this.#clients)
      );
    });
    if (read.ok && read.answer) await this.poll();
  }

  async close(): Promise<void> {
    this.#isStarted = false;
    await (this.#next ?? this.#running);
  }

  async #tryCheck(): Promise<void> {
    try {
      for (let tries = 0; tries < MAX_TRIES; tries += 1) if ((await this.#checkOnce()) !== 'stale') return;
    } catch (error) {
      this.#options.onMistake(error);
    }
  }

  async #checkOnce(): Promise<ObserveResult | undefined> {
    const shared = this.#options.shared?.();
    if (shared === undefined) return this.#checkHere();
    const result = await recordRemoteMain(this.#options, shared);
    if (result !== undefined && result !== 'stale') this.#fetchedMs = performance.now();
    // While the remote has no main branch, work starts at the caretaker's.
    return result === 'absent' ? this.#checkHere() : result;
  }

  async #checkHere(): Promise<ObserveResult | undefined> {
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
    const result = await this.#record(branch, sha, configured !== undefined);
    if (result === undefined || result === 'stale') return result;
    this.#last = { branch, into: configured, mark: before };
    return this.#confirm(at);
  }

  async #record(branch: string, sha: string, isConfigured: boolean): Promise<ObserveResult | undefined> {
    const { commandLoop } = this.#options;
    const isolated = this.#options.isolated?.();
    const read = await commandLoop.read(({ state }) => {
      const main = findMain(state);
      return {
        main,
        isSuspect: main !== undefined && !hasNoSessionSince(state, this.#since(main), isolated, this.#clients),
        branches: openBranches(state),
      };
    });
    if (!read.ok) return undefined;
    const { main, isSuspect, branches } = read.answer;
    const isSame = main?.branch === branch || (main !== undefined && !isConfigured);
    if (main?.branch === branch && (main.sha === sha || main.prepared?.sha === sha)) return 'known';
    const context = { ...this.#options, branch };
    const upstream = await findUpstream(context.path, branch);
    const move: ObservedMove | null =
      main === undefined || !isSame ? null : await measureMain(context, { main, sha, isSuspect, upstream, branches });
    const seenAt = main === undefined ? '' : this.#since(main);
    const known = isolated === undefined ? {} : { isolated: [...isolated] };
    const command = { branch, sha, upstream: upstream?.digest ?? null, isConfigured, seenAt, ...known, move };
    const settled = await commandLoop.submitCommand({ kind: 'see-main', command }, { kind: 'system', name: 'main' });
    return settled.ok ? settled.answer : undefined;
  }

  async #confirm(at: string): Promise<ObserveResult> {
    this.#seenAt = at;
    if (!this.#mustSave) return 'known';
    const read = await this.#options.commandLoop.read(({ state }) => ({
      main: findMain(state),
      isQuiet: hasNoSessionSince(state, at, this.#options.isolated?.(), this.#clients),
    }));
    if (!read.ok || read.answer.main === undefined || !read.answer.isQuiet) return 'known';
    saveSeen(this.#options, read.answer.main, at);
    this.#mustSave = false;
    return 'known';
  }

  #since(main: MainBranchState): string {
    return this.#seenAt ?? readSeen(this.#options, main) ?? main.at;
  }

  #mark(branch: string): RefFingerprint | undefined {
    return this.#commonDir === undefined
      ? undefined
      : readRefFingerprint(this.#commonDir, branch, this.#options.now().getTime());
  }

  async #markOf(branch: string): Promise<RefFingerprint | undefined> {
    const found = this.#commonDir === undefined ? await findGitFolders(this.#options.path) : undefined;
    if (found?.ok === true) this.#commonDir = found.value.commonDir;
    return this.#mark(branch);
  }
}

function openBranches({ tasks }: State): readonly TaskBranch[] {
  const open = [...tasks.values()].filter(({ phase, flow }) => phase !== 'COMPLETED' && flow.place !== null);
  return open.map(({ id, flow }) => ({ taskId: id, branch: flow.place?.branch ?? '' }));
}

/** Commands count like sessions, because they run a branch's code. */
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
 * Saved across restarts, so that a commit made while the daemon was down is not attributed to a session that had ended.
 */
function saveSeen(kept: SeenFile, { branch, sha }: MainBranchState, at: string): void {
  const path = seenPath(kept);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileAtomically(path, `${JSON.stringify({ branch, sha, at })}\n`);
}

function readSeen(kept: SeenFile, main: MainBranchState): string | undefined {
  const { branch, sha, at } = fieldsInJson(readFileIfPresent(seenPath(kept)));
  const isThis = branch === main.branch && sha === main.sha;
  return isThis && typeof at === 'string' && at > main.at ? at : undefined;
}

function seenPath({ stateDir, id }: SeenFile): string {
  return join(stateDir, 'main-seen', encodeURIComponent(id).replace(/^\./, '%2E'));
}

const POLL_MS = 1000;
const REMOTE_MS = 30_000;
const MAX_TRIES = 5;
