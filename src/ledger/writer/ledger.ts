import { setImmediate as nextTurn } from 'node:timers/promises';
import { healthAfter, type StoreHealth, WRITABLE } from '../../protocol/resource-faults.ts';
import type { Problem } from '../../protocol/shape/problem.ts';
import { parseCheckpoint } from '../format/checkpoint.ts';
import type { Signer, Verifier } from '../format/crypto.ts';
import type { Draft, PreparedDraft } from '../format/draft.ts';
import type { Entry } from '../format/entry.ts';
import { LEDGER_LIMITS } from '../format/limits.ts';
import type { SnapshotSigner, SnapshotTrust } from '../snapshots-and-blobs.ts';
import { type Failure, hasHead, type Head, type Store } from '../store.ts';
import type { Keyring } from '../verify/keyring.ts';
import type { WalkPosition } from '../verify/walk.ts';
import {
  type AppendRefusal,
  type AppendRequest,
  type AppendResult,
  appendUnavailable,
  buildCommit,
  type BuiltCommit,
  dequeueGroup,
  headMissing,
  ledgerClosed,
  type PendingAppend,
  prepareAppends,
  queueFull,
  unexpectedFailure,
} from './commit-group.ts';
import type { OutsideCopy } from './ledger-files.ts';
import { type NewEntries, readNewEntries } from './recognize.ts';

export interface LedgerOptions {
  readonly store: Store;
  readonly project: string;
  readonly signer: Signer;
  readonly verifier: Verifier;
  readonly outside: OutsideCopy;
  readonly clock: () => Date;
  /** Values that must never be recorded: the secrets of the agents' environment (`findSecretValues`). */
  readonly secrets?: readonly string[];
  /** Receives every entry once, in order, after it is durable: those of this process and those of others. */
  readonly onEntries?: (entries: readonly Entry[]) => void;
}

/** The only writer of a project's ledger in this process. Create it with `openLedger`. */
export class Ledger {
  readonly project: string;
  readonly store: Store;
  readonly verifier: Verifier;
  readonly secrets: readonly string[];
  readonly #options: LedgerOptions;
  #keyring: Keyring;
  /** Callers whose drafts are not prepared yet, and callers that wait for a commit. */
  #asking: AppendRequest[] = [];
  readonly #queue: PendingAppend[] = [];
  readonly #followers: ((problem: Problem | undefined) => void)[] = [];
  #position: WalkPosition;
  #draining: Promise<void> | undefined;
  #inDoubt = false;
  #stopped: Problem | undefined;
  #stoppedHealth: StoreHealth = WRITABLE;
  #closing: Promise<void> | undefined;
  /** The checkpoint of the last commit; whether the outside copy is older, and whether this process has written one. */
  #note: string | undefined;
  #isCopyOld = false;
  #hasCopied = false;
  #turnedMs = -Infinity;

  constructor(options: LedgerOptions, position: WalkPosition, keyring: Keyring) {
    this.#options = options;
    this.project = options.project;
    this.store = options.store;
    this.verifier = options.verifier;
    this.secrets = options.secrets ?? [];
    this.#position = position;
    this.#keyring = keyring;
  }

  get sha256(): Verifier['sha256'] {
    return this.verifier.sha256;
  }

  get snapshotSigner(): SnapshotSigner {
    return { sha256: this.sha256, project: this.project, signer: this.#options.signer };
  }

  get snapshotTrust(): SnapshotTrust {
    return { project: this.project, verifier: this.verifier, keys: this.#keyring.trusted };
  }

  get head(): Head {
    return this.#position.head;
  }

  /** Whether entries can be recorded, as far as known without a write. A stopped ledger never records again. */
  get health(): StoreHealth {
    return this.#stoppedHealth.writable ? this.store.health() : this.#stoppedHealth;
  }

  async probe(freshMs = 0): Promise<StoreHealth> {
    if (this.#stoppedHealth.writable && this.#closing === undefined) await this.store.probe(freshMs);
    return this.health;
  }

  /** Records all drafts consecutively, or none; resolves after they are durable. Calls during a commit share the next one. */
  append(drafts: readonly Draft[]): Promise<AppendResult> {
    // One promise per caller: with a hundred callers, promises dominate the cost of an append.
    return new Promise((answer) => {
      const refusal = this.#refusal(drafts);
      if (refusal) return answer(refusal);
      this.#asking.push({ drafts, answer });
      if (this.#asking.length === 1) queueMicrotask(() => this.#admit());
    });
  }

  #refusal({ length }: readonly Draft[]): AppendResult | undefined {
    if (this.#stopped || this.#closing) return { ok: false, problem: this.#stopped ?? ledgerClosed() };
    if (length === 0) return { ok: true, entries: [] };
    const isTooMuch =
      length > LEDGER_LIMITS.draftsPerAppend ||
      this.#asking.length + this.#queue.length >= LEDGER_LIMITS.waitingCallers;
    return isTooMuch ? { ok: false, problem: queueFull() } : undefined;
  }

  #admit(): void {
    const callers = this.#asking;
    if (callers.length === 0) return;
    this.#asking = [];
    for (const waiting of prepareAppends(callers, this.head.size, this.secrets)) this.#queue.push(waiting);
    if (this.#queue.length > 0) this.#draining ??= this.#drain();
  }

  /** Reads and checks entries of other writers. The known head must still be stored. */
  async catchUp(): Promise<Problem | undefined> {
    if (this.#closing) return ledgerClosed();
    return new Promise((answer) => {
      this.#followers.push(answer);
      this.#draining ??= this.#drain();
    });
  }

  syncOutside(): void {
    if (this.#note !== undefined) this.#options.outside.write(this.#note);
    this.#isCopyOld = false;
    this.#options.outside.sync();
  }

  async close(): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async #close(): Promise<void> {
    this.#admit();
    await this.#draining;
    this.#writeOutside();
    this.#options.outside.close();
    await this.store.close();
  }

  /** Runs commits and catch-ups one at a time, because both move the position. */
  async #drain(): Promise<void> {
    while (this.#queue.length > 0 || this.#followers.length > 0) {
      if (this.#followers.length > 0) await this.#answerFollowers();
      if (this.#queue.length === 0) continue;
      const group = dequeueGroup(this.#queue);
      const answers = await this.#record(group.map(({ drafts }) => drafts)).catch((error: unknown) =>
        this.#stop(unexpectedFailure(error)),
      );
      let next = 0;
      for (const { answer } of group) {
        answer('linked' in answers ? { ok: true, entries: answers.linked[next] ?? [] } : answers);
        next += 1;
      }
      // Lets waiting requests join the next commit. A single caller yields only every few milliseconds.
      if (group.length === 1 && performance.now() - this.#turnedMs <= LONGEST_WITHOUT_TURN_MS) continue;
      await nextTurn();
      this.#turnedMs = performance.now();
    }
    this.#draining = undefined;
  }

  async #answerFollowers(): Promise<void> {
    const followers = this.#followers.splice(0);
    const problem =
      this.#stopped ?? (await this.#catchUp().catch((error: unknown) => this.#stop(unexpectedFailure(error)).problem));
    for (const answer of followers) answer(problem);
  }

  async #record(callers: readonly (readonly PreparedDraft[])[]): Promise<BuiltCommit | AppendRefusal> {
    if (this.#stopped) return { ok: false, problem: this.#stopped };
    if (this.#inDoubt) {
      const before = this.head.size;
      const problem = await this.#catchUp();
      if (problem) return { ok: false, problem };
      // The commit in doubt was recorded after all: callers that decided without it decide again.
      if (this.head.size > before) return { ok: false, conflict: this.head };
    }
    const at = this.#options.clock().toISOString();
    const built = buildCommit(this.snapshotSigner, at, this.#position, callers);
    const appended = await this.store.append(built.commit).catch(appendUnavailable);
    if (appended.ok) {
      await this.#accept(built);
      return built;
    }
    if ('problem' in appended) return this.#resolveDoubt(built, appended.problem);
    const problem = await this.#catchUp();
    return problem ? { ok: false, problem } : { ok: false, conflict: this.head };
  }

  async #accept({ commit, entries, position }: BuiltCommit): Promise<void> {
    this.#position = position;
    this.#note = commit.checkpoint.note;
    this.#writeOutsideSoon();
    for (const entry of entries) this.#keyring.read(entry);
    // A pending key becomes trusted by the signature of the commit that added it.
    const checkpoint = this.#keyring.hasWaiting ? parseCheckpoint(this.#note) : undefined;
    if (checkpoint?.ok) await this.#keyring.accepts(checkpoint.value);
    this.#options.onEntries?.(entries);
  }

  /** Once per turn of the event loop, so that no caller waits; the first at once, in case the process is killed right after. */
  #writeOutsideSoon(): void {
    if (this.#isCopyOld) return;
    this.#isCopyOld = true;
    if (this.#hasCopied) setImmediate(() => this.#writeOutside());
    else this.#writeOutside();
  }

  /** The commit is durable even if the copy cannot be written; an older copy is still a valid prefix. */
  #writeOutside(): void {
    const isOld = this.#isCopyOld;
    this.#isCopyOld = false;
    if (!isOld || this.#note === undefined) return;
    try {
      this.#options.outside.write(this.#note);
      this.#hasCopied = true;
    } catch {
      // The disk is full: `syncOutside` writes the copy again, and reports a failure.
    }
  }

  /** A failed store may have recorded the commit (the answer was lost): its head shows. */
  async #resolveDoubt(built: BuiltCommit, problem: Problem): Promise<BuiltCommit | AppendRefusal> {
    this.#inDoubt = true;
    const still = await this.#catchUp();
    const { head } = built.position;
    return !still && (await hasHead(this.store, head)) ? built : { ok: false, problem: this.#stopped ?? problem };
  }

  async #catchUp(): Promise<Problem | undefined> {
    let news: NewEntries;
    try {
      if (!(await hasHead(this.store, this.head))) return this.#stop(headMissing(this.head)).problem;
      news = await readNewEntries(this.#options, this.#position, this.#keyring);
      if (!news.ok) return this.#stop(news.problem).problem;
      this.#position = news.position;
      this.#keyring = news.keyring;
      this.#note = (await this.store.findCheckpoint(this.head.size))?.note;
    } catch (error) {
      // The store is unavailable, so nothing is known: the next call tries again.
      this.#inDoubt = true;
      return appendUnavailable(error).problem;
    }
    this.#inDoubt = false;
    this.#writeOutsideSoon();
    if (news.entries.length > 0) this.#options.onEntries?.(news.entries);
    return undefined;
  }

  /** Stops all writing: the stored ledger is not the one that was opened. */
  #stop(problem: Problem): Failure {
    this.#stopped ??= problem;
    this.#stoppedHealth = healthAfter(this.#stoppedHealth, this.#stopped, this.#options.clock().toISOString());
    return { ok: false, problem: this.#stopped };
  }
}

const LONGEST_WITHOUT_TURN_MS = 5;
