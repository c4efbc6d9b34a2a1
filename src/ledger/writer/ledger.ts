import { healthAfter, type StoreHealth, WRITABLE } from '../../protocol/resource-faults.ts';
import type { Problem } from '../../protocol/shape/problem.ts';
import { sameBytes } from '../format/bytes.ts';
import { parseCheckpoint } from '../format/checkpoint.ts';
import type { Signer, Verifier } from '../format/crypto.ts';
import type { Draft, PreparedDraft } from '../format/draft.ts';
import type { Entry } from '../format/entry.ts';
import { LEDGER_LIMITS } from '../format/limits.ts';
import type { SnapshotSigner, SnapshotTrust } from '../snapshots-and-blobs.ts';
import { findHash, type Head, type Store } from '../store.ts';
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

// Over 300 lines: one state machine, whose steps share the queue and the position.
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
    this.#position = position;
    this.#keyring = keyring;
  }

  get project(): string {
    return this.#options.project;
  }

  get store(): Store {
    return this.#options.store;
  }

  get sha256(): Verifier['sha256'] {
    return this.#options.verifier.sha256;
  }

  get verifier(): Verifier {
    return this.#options.verifier;
  }

  get snapshotSigner(): SnapshotSigner {
    const { project, signer } = this.#options;
    return { sha256: this.sha256, project, signer };
  }

  get snapshotTrust(): SnapshotTrust {
    return { project: this.project, verifier: this.verifier, keys: this.#keyring.trusted };
  }

  get secrets(): readonly string[] {
    return this.#options.secrets ?? NO_SECRETS;
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
    await this.#options.store.close();
  }

  /** Runs commits and catch-ups one at a time, because both move the position. */
  async #drain(): Promise<void> {
    while (this.#queue.length > 0 || this.#followers.length > 0) {
      if (this.#followers.length > 0) await this.#tellFollowers();
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
      if (group.length > 1 || performance.now() - this.#turnedMs > LONGEST_WITHOUT_TURN_MS) await this.#turn();
    }
    this.#draining = undefined;
  }

  /** Lets waiting requests join the next commit. A single caller yields only every few milliseconds. */
  async #turn(): Promise<void> {
    await nextTurn();
    this.#turnedMs = performance.now();
  }

  async #tellFollowers(): Promise<void> {
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
    const { clock, store, verifier, project, signer } = this.#options;
    const maker = { sha256: verifier.sha256, project, signer };
    const built = buildCommit(maker, clock().toISOString(), this.#position, callers);
    const appended = await store.append(built.commit).catch(appendUnavailable);
    if (appended.ok) {
      this.#accept(built);
      if (this.#keyring.hasWaiting) await this.#acceptKeys(built);
      this.#options.onEntries?.(built.entries);
      return built;
    }
    if ('problem' in appended) return this.#resolveDoubt(built, appended.problem);
    const problem = await this.#catchUp();
    return problem ? { ok: false, problem } : { ok: false, conflict: this.head };
  }

  #accept({ commit, entries, position }: BuiltCommit): void {
    this.#position = position;
    this.#note = commit.checkpoint.note;
    this.#writeOutsideSoon();
    for (const entry of entries) this.#keyring.read(entry);
  }

  /** A pending key becomes trusted by the signature of the commit that added it. */
  async #acceptKeys({ commit }: BuiltCommit): Promise<void> {
    const checkpoint = parseCheckpoint(commit.checkpoint.note);
    if (checkpoint.ok) await this.#keyring.accepts(checkpoint.value);
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
    return !still && (await this.#has(head)) ? built : { ok: false, problem: this.#stopped ?? problem };
  }

  async #catchUp(): Promise<Problem | undefined> {
    const { store, onEntries } = this.#options;
    let news: NewEntries;
    try {
      if (!(await this.#has(this.head))) return this.#stop(headMissing(this.head)).problem;
      news = await readNewEntries(this.#options, this.#position, this.#keyring);
      if (!news.ok) return this.#stop(news.problem).problem;
      this.#position = news.position;
      this.#keyring = news.keyring;
      this.#note = (await store.findCheckpoint(this.head.size))?.note;
    } catch (error) {
      // The store is unavailable, so nothing is known: the next call tries again.
      this.#inDoubt = true;
      return appendUnavailable(error).problem;
    }
    this.#inDoubt = false;
    this.#writeOutsideSoon();
    if (news.entries.length > 0) onEntries?.(news.entries);
    return undefined;
  }

  async #has(head: Head): Promise<boolean> {
    if (head.size === 0) return true;
    const hash = await findHash(this.store, head.size);
    return hash !== undefined && sameBytes(hash, head.hash);
  }

  /** Stops all writing: the stored ledger is not the one that was opened. */
  #stop(problem: Problem): { readonly ok: false; readonly problem: Problem } {
    this.#stopped ??= problem;
    this.#stoppedHealth = healthAfter(this.#stoppedHealth, this.#stopped, this.#options.clock().toISOString());
    return { ok: false, problem: this.#stopped };
  }
}

const NO_SECRETS: readonly string[] = [];
const LONGEST_WITHOUT_TURN_MS = 5;

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
