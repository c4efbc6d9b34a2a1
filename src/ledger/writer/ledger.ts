import { healthAfter, type StoreHealth, WRITABLE } from '../../protocol/resource-faults.ts';
import type { Problem } from '../../protocol/shape/problem.ts';
import { sameBytes } from '../format/bytes.ts';
import { parseCheckpoint } from '../format/checkpoint.ts';
import type { Signer, Verifier } from '../format/crypto.ts';
import type { Draft, PreparedDraft } from '../format/draft.ts';
import type { Entry } from '../format/entry.ts';
import { LEDGER_LIMITS } from '../format/limits.ts';
import type { SnapshotSigner, SnapshotTrust } from '../snapshots-and-blobs.ts';
import type { Head, Store } from '../store.ts';
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
  /** Values that must never be recorded: those of the environment that agents are given (`secretsIn`). */
  readonly secrets?: readonly string[];
  /** Every entry, once, in order, after it is durable: those of this process and those of others. */
  readonly onEntries?: (entries: readonly Entry[]) => void;
}

/** The only writer of a project's ledger in this process. `openLedger` makes one. */
export class Ledger {
  readonly #options: LedgerOptions;
  #keyring: Keyring;
  /** Callers whose drafts are still to be prepared, and those who wait for a commit. */
  #asking: AppendRequest[] = [];
  readonly #queue: PendingAppend[] = [];
  readonly #followers: ((problem: Problem | undefined) => void)[] = [];
  #position: WalkPosition;
  #draining: Promise<void> | undefined;
  #inDoubt = false;
  #stopped: Problem | undefined;
  #stoppedHealth: StoreHealth = WRITABLE;
  #closing: Promise<void> | undefined;
  /** Of the last commit; whether the outside copy is an older one, and whether there is one of this process. */
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

  /** Who signs this ledger's snapshots: the daemon's own key. */
  get snapshotSigner(): SnapshotSigner {
    const { project, signer } = this.#options;
    return { sha256: this.sha256, project, signer };
  }

  /** Whose snapshots it reads: those of the keys that it trusts. */
  get snapshotTrust(): SnapshotTrust {
    return { project: this.project, verifier: this.verifier, keys: this.#keyring.trusted };
  }

  /** What it takes out of everything that is recorded, besides what looks like a credential. */
  get secrets(): readonly string[] {
    return this.#options.secrets ?? NO_SECRETS;
  }

  /** The end of what is durable and known here. */
  get head(): Head {
    return this.#position.head;
  }

  /** Whether anything can be recorded, as far as is known without trying. A ledger that has stopped never can. */
  get health(): StoreHealth {
    return this.#stoppedHealth.writable ? this.store.health() : this.#stoppedHealth;
  }

  /** The same after a try, unless a write has succeeded within `freshMs`. */
  async probe(freshMs = 0): Promise<StoreHealth> {
    if (this.#stoppedHealth.writable && this.#closing === undefined) await this.store.probe(freshMs);
    return this.health;
  }

  /**
   * Records all drafts next to each other, or none. The promise is kept only after they are durable. Calls are
   * recorded in the order in which they were made; those that arrive while a commit is under way share the next one.
   */
  append(drafts: readonly Draft[]): Promise<AppendResult> {
    // One promise a caller, no matter how it ends: among a hundred callers they are what an append costs.
    return new Promise((answer) => {
      const refusal = this.#refusal(drafts);
      if (refusal) return answer(refusal);
      this.#asking.push({ drafts, answer });
      if (this.#asking.length === 1) queueMicrotask(() => this.#admit());
    });
  }

  /** What is known without a look into the drafts. */
  #refusal({ length }: readonly Draft[]): AppendResult | undefined {
    if (this.#stopped || this.#closing) return { ok: false, problem: this.#stopped ?? ledgerClosed() };
    if (length === 0) return { ok: true, entries: [] };
    const isTooMuch =
      length > LEDGER_LIMITS.draftsPerAppend ||
      this.#asking.length + this.#queue.length >= LEDGER_LIMITS.waitingCallers;
    return isTooMuch ? { ok: false, problem: queueFull() } : undefined;
  }

  /** Lets the callers of this moment into the queue, all at once. */
  #admit(): void {
    const callers = this.#asking;
    if (callers.length === 0) return;
    this.#asking = [];
    for (const waiting of prepareAppends(callers, this.head.size, this.secrets)) this.#queue.push(waiting);
    if (this.#queue.length > 0) this.#draining ??= this.#drain();
  }

  /** Reads what others have recorded, and checks it. Also after a lost connection: the end known here must still be there. */
  async catchUp(): Promise<Problem | undefined> {
    if (this.#closing) return ledgerClosed();
    return new Promise((answer) => {
      this.#followers.push(answer);
      this.#draining ??= this.#drain();
    });
  }

  /** Makes the outside copy durable; a seal wants that. */
  syncOutside(): void {
    if (this.#note !== undefined) this.#options.outside.write(this.#note);
    this.#isCopyOld = false;
    this.#options.outside.sync();
  }

  /** Waits for the callers that are still in the queue, then lets go of the store. */
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

  /** One thing at a time: commits and catching up both move the position. Starts only where there is something to do. */
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

  /**
   * A turn of the event loop between two commits: those get in whose requests have arrived by now, and a caller in a
   * tight loop starves nobody. SQLite blocks while it writes; without this each commit would hold one caller. Somebody
   * who is alone pays for a turn only now and then.
   */
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
      // The commit that was in doubt is there after all: whoever decided without it decides again.
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

  /** A key that waits becomes trusted by the signature under its own entry. */
  async #acceptKeys({ commit }: BuiltCommit): Promise<void> {
    const checkpoint = parseCheckpoint(commit.checkpoint.note);
    if (checkpoint.ok) await this.#keyring.accepts(checkpoint.value);
  }

  /**
   * With the next turn of the event loop, once for all commits until then: nobody waits for the copy to be told. The first one at once,
   * so that nobody who is killed then leaves a ledger without any.
   */
  #writeOutsideSoon(): void {
    if (this.#isCopyOld) return;
    this.#isCopyOld = true;
    if (this.#hasCopied) setImmediate(() => this.#writeOutside());
    else this.#writeOutside();
  }

  /** The commit is durable whether or not the copy can be written; an older copy is still a valid prefix. */
  #writeOutside(): void {
    const isOld = this.#isCopyOld;
    this.#isCopyOld = false;
    if (!isOld || this.#note === undefined) return;
    try {
      this.#options.outside.write(this.#note);
      this.#hasCopied = true;
    } catch {
      // A full disk: `syncOutside` writes it again, and says so where that is not possible either.
    }
  }

  /** A store that failed may have written all the same (the answer was lost): its head tells. */
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
      // The store is away. Nothing is known, so nothing is concluded: the next call tries again.
      this.#inDoubt = true;
      return appendUnavailable(error).problem;
    }
    this.#inDoubt = false;
    this.#writeOutsideSoon();
    if (news.entries.length > 0) onEntries?.(news.entries);
    return undefined;
  }

  /** Is this entry, with this hash, in the store? */
  async #has(head: Head): Promise<boolean> {
    if (head.size === 0) return true;
    for await (const [hash] of this.store.hashes({ from: head.size, to: head.size })) {
      return hash !== undefined && sameBytes(hash, head.hash);
    }
    return false;
  }

  /** After this nothing is written any more: the ledger is not the one that was opened. */
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
