import { setImmediate as nextTurn } from 'node:timers/promises';
import type { StoreHealth } from '../../protocol/resource-faults.ts';
import type { Problem } from '../../protocol/shape/problem.ts';
import { originOf, parseCheckpoint } from '../format/checkpoint.ts';
import type { Signer, Verifier } from '../format/crypto.ts';
import type { Draft } from '../format/draft.ts';
import type { Entry } from '../format/entry.ts';
import { LEDGER_LIMITS } from '../format/limits.ts';
import { findLoss } from '../replica/compare.ts';
import type { ReplicaWriter } from '../replica/replica-writer.ts';
import type { SnapshotSigner, SnapshotTrust } from '../snapshots-and-blobs.ts';
import { type Failure, hasHead, type Head, type Store } from '../store.ts';
import type { VerifiedCommits } from '../verify/follow.ts';
import { changesKeys, type Keyring } from '../verify/keyring.ts';
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
  removeOutdated,
  unexpectedFailure,
} from './commit-group.ts';
import { LedgerStop } from './ledger-stop.ts';
import { OutsideCheckpoint, type OutsideCopy } from './ledger-files.ts';
import { followLedger, keyNotTrusted } from './recognize.ts';

export interface LedgerOptions {
  readonly store: Store;
  readonly project: string;
  readonly signer: Signer;
  readonly verifier: Verifier;
  readonly outside: OutsideCopy;
  readonly clock: () => Date;
  /** Values that must never be recorded: the secrets of the agents' environment (`findSecretValues`). */
  readonly secrets?: readonly string[];
  /** Called before entries of other writers are adopted. If it throws, the next call tries again. */
  readonly beforeForeign?: (entries: readonly Entry[], ledger: Pick<Ledger, 'store' | 'sha256'>) => Promise<void>;
  /** Called once for every durable entry, in order, whether this process or another one wrote it. */
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
  /** `#asking`: callers whose drafts are not prepared yet. `#queue`: callers that wait for a commit. */
  #asking: AppendRequest[] = [];
  readonly #queue: PendingAppend[] = [];
  readonly #followers: ((problem: Problem | undefined) => void)[] = [];
  #position: WalkPosition;
  #draining: Promise<void> | undefined;
  #inDoubt = false;
  readonly #stopped = new LedgerStop();
  #closing: Promise<void> | undefined;
  readonly #outside: OutsideCheckpoint;
  readonly #replica: ReplicaWriter | undefined;
  #turnedMs = -Infinity;

  constructor(options: LedgerOptions, position: WalkPosition, keyring: Keyring, replica?: ReplicaWriter) {
    this.#options = options;
    this.project = options.project;
    this.store = options.store;
    this.verifier = options.verifier;
    this.secrets = options.secrets ?? [];
    this.#outside = new OutsideCheckpoint(options.outside);
    this.#replica = replica;
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

  /** Whether entries can be recorded, as far as known without a write. */
  get health(): StoreHealth {
    return this.#stopped.health.writable ? this.store.health() : this.#stopped.health;
  }

  /** Why the replica of this machine is behind; undefined if it is not, or there is none. */
  get replicaProblem(): Problem | undefined {
    return this.#replica?.problem;
  }

  async probe(freshMs = 0): Promise<StoreHealth> {
    if (this.#closing !== undefined) return this.health;
    if (this.#stopped.problem === undefined) await this.store.probe(freshMs);
    else if (this.#stopped.isRepairable) await this.#stopped.lookAgain(async () => this.catchUp(), this.#options.clock);
    return this.health;
  }

  /**
   * Records all drafts consecutively, or none; resolves after they are durable. Calls during a commit share the next
   * one. `after` is the size of the ledger that the caller decided on: any other entry in between is a conflict.
   */
  append(drafts: readonly Draft[], after?: number): Promise<AppendResult> {
    // One promise per caller: with a hundred callers, promises dominate the cost of an append.
    return new Promise((answer) => {
      const refusal = this.#refusal(drafts);
      if (refusal) return answer(refusal);
      this.#asking.push({ drafts, after, answer });
      if (this.#asking.length === 1) queueMicrotask(() => this.#admit());
    });
  }

  #refusal({ length }: readonly Draft[]): AppendResult | undefined {
    const { problem } = this.#stopped;
    if (problem || this.#closing) return { ok: false, problem: problem ?? ledgerClosed() };
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
    this.#outside.sync();
  }

  async close(): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async #close(): Promise<void> {
    this.#admit();
    await this.#draining;
    this.#outside.close();
    await this.#replica?.close();
    await this.store.close();
  }

  /** Runs commits and catch-ups one at a time, because both move the position. */
  async #drain(): Promise<void> {
    while (this.#queue.length > 0 || this.#followers.length > 0) {
      if (this.#followers.length > 0) await this.#answerFollowers();
      if (this.#queue.length === 0) continue;
      const group = dequeueGroup(this.#queue);
      const outdated: PendingAppend[] = [];
      const answers = await this.#record(group, outdated).catch((error: unknown) =>
        this.#stop(unexpectedFailure(error)),
      );
      for (const { answer } of outdated) answer({ ok: false, conflict: this.head });
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
      this.#stopped.problem ??
      (await this.#catchUp().catch((error: unknown) => this.#stop(unexpectedFailure(error)).problem));
    for (const answer of followers) answer(problem);
  }

  /** Moves callers that decided on another ledger from the group to `outdated`. */
  async #record(group: PendingAppend[], outdated: PendingAppend[]): Promise<BuiltCommit | AppendRefusal> {
    if (this.#stopped.problem) return { ok: false, problem: this.#stopped.problem };
    if (this.#inDoubt) {
      const before = this.head.size;
      const problem = await this.#catchUp();
      if (problem) return { ok: false, problem };
      // The commit in doubt was recorded after all, so callers that decided without it decide again.
      if (this.head.size > before) return { ok: false, conflict: this.head };
    }
    // Checked here and not at the call, because only now it is known which entry the drafts follow.
    outdated.push(...removeOutdated(group, this.head.size));
    if (group.length === 0) return { ok: false, conflict: this.head };
    const at = this.#options.clock().toISOString();
    const callers = group.map(({ drafts }) => drafts);
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
    this.#outside.write(commit.checkpoint.note);
    for (const entry of entries) this.#keyring.read(entry);
    // The signature of the commit that added a key makes it trusted.
    const checkpoint = this.#keyring.hasWaiting ? parseCheckpoint(commit.checkpoint.note) : undefined;
    if (checkpoint?.ok) await this.#keyring.accepts(checkpoint.value);
    this.#replica?.add(commit, this.#keyring.trusted);
    this.#options.onEntries?.(entries);
    if (checkpoint) this.#stopIfRevoked();
  }

  /** Reads the head of a failed store: the store may have recorded the commit although the answer was lost. */
  async #resolveDoubt(built: BuiltCommit, problem: Problem): Promise<BuiltCommit | AppendRefusal> {
    this.#inDoubt = true;
    const still = await this.#catchUp();
    const { head } = built.position;
    const isRecorded = !still && (await hasHead(this.store, head));
    return isRecorded ? built : { ok: false, problem: this.#stopped.problem ?? problem };
  }

  async #catchUp(): Promise<Problem | undefined> {
    try {
      const start = { position: this.#position, keyring: this.#keyring };
      const end = await followLedger(this.#options, start, async (commits, keyring) => {
        await this.#options.beforeForeign?.(commits.entries, this);
        this.#adopt(commits, keyring);
      });
      if (end === 'head-missing')
        return this.#stop((await findLoss(this.store)) ?? headMissing(this.head), true).problem;
      if (end) return this.#stop(end.problem, true).problem;
    } catch (error) {
      // The store is unavailable, so the outcome is unknown: the next call tries again.
      this.#inDoubt = true;
      return appendUnavailable(error).problem;
    }
    this.#inDoubt = false;
    return this.#stopped.problem;
  }

  /** Adopts verified entries of other writers, or of this ledger's own commit whose answer was lost. */
  #adopt({ entries, commit, position }: VerifiedCommits, keyring: Keyring): void {
    this.#position = position;
    this.#keyring = keyring;
    this.#outside.write(commit.checkpoint.note);
    this.#replica?.add(commit, keyring.trusted);
    try {
      this.#options.onEntries?.(entries);
    } catch (error) {
      this.#stop(unexpectedFailure(error));
    }
    if (entries.some(({ type }) => changesKeys(type))) this.#stopIfRevoked();
  }

  /** Other machines refuse the signatures of a revoked key, and so would this one after a restart. */
  #stopIfRevoked(): void {
    const { project, signer } = this.#options;
    const own = { name: originOf(project), publicKey: signer.publicKey };
    if (!this.#keyring.trusts(own)) this.#stop(keyNotTrusted());
  }

  /** Stops all writing, because the stored ledger is not the one that was opened. */
  #stop(problem: Problem, isRepairable = false): Failure {
    return this.#stopped.begin(problem, this.#options.clock(), isRepairable);
  }
}

const LONGEST_WITHOUT_TURN_MS = 5;
