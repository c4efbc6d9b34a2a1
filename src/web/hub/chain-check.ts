import type { Answer, ApiError } from '../../api/answer.ts';
import type { Verifier } from '../../ledger/format/crypto.ts';
import { type RememberedPosition, ResumableVerification } from '../../ledger/verify/resumable.ts';
import { fieldOf, isObject, numberOf, textOf } from '../../protocol/shape/read-unknown.ts';
import { type LedgerPart, Slices, type TakeTurn } from '../model/ledger/ledger-parts.ts';
import { explainFault, gone, hashInLine, rewritten, type Witness } from './explain-fault.ts';
import type { BrokenChain, Verified, VerifyHow } from './messages.ts';

/** A part of the ledger, with the signed checkpoint of the entries up to its end if there is one. */
export interface SignedPart extends LedgerPart {
  readonly checkpoint: string | null;
}

export interface ChainSource {
  readonly verifier: Verifier;
  readonly readPart: (from: number) => Promise<Answer<SignedPart>>;
  readonly turn: TakeTurn;
  readonly now: () => number;
  /** Reads and stores this browser's record of the chain. */
  readonly read: () => Promise<unknown>;
  readonly write: (memory: ChainMemory) => Promise<void>;
  readonly onChange: () => void;
}

/** A browser's record of the chain: the newest signed position, and the fault if there was one. */
interface ChainMemory {
  readonly v: 1;
  readonly position?: RememberedPosition;
  /** When the position was reached. */
  readonly at?: number;
  readonly broken?: BrokenChain;
}

const REMEMBER_MS = 2000;

/**
 * Verifies one project's chain part by part, and remembers its progress. If the ledger no longer contains a remembered
 * position, the chain is broken, because entries were removed or rewritten. It stays broken until it is verified again
 * from the start.
 */
export class ChainCheck {
  readonly #project: string;
  readonly #source: ChainSource;
  #walk: ResumableVerification;
  /** The hash of the last valid entry. */
  #hash = '';
  #at: number | undefined;
  /** The furthest position that this browser has verified, which the ledger must always contain. */
  #kept: KeptPosition | undefined;
  #broken: BrokenChain | undefined;
  #paused: ApiError | undefined;
  #isRunning = false;
  #isLoaded = false;
  /** Whether the position was found in the ledger since the daemon was last away. */
  #isCompared = false;
  #rememberedAt = -Infinity;

  constructor(project: string, source: ChainSource) {
    this.#project = project;
    this.#source = source;
    this.#walk = new ResumableVerification(source.verifier, project);
  }

  get verified(): Verified {
    const { signedSize, keys } = this.#walk;
    return {
      to: signedSize,
      isRunning: this.#isRunning,
      keys,
      ...(this.#at === undefined ? {} : { at: this.#at }),
      ...(this.#broken === undefined ? {} : { broken: this.#broken }),
      ...(this.#paused === undefined ? {} : { paused: this.#paused }),
    };
  }

  /** Requires a new comparison, because the daemon was away. */
  compareAgain(): void {
    this.#isCompared = false;
  }

  /** Reports whether a ledger of `head` entries has some that should be verified without a request by the user. */
  isBehind(head: number): boolean {
    return !this.#isRunning && this.#broken === undefined && (!this.#isCompared || this.#walk.signedSize < head);
  }

  /** Reads the remembered progress, to show it before the verification starts. */
  async load(): Promise<void> {
    if (this.#isLoaded) return;
    const memory = await this.#source.read();
    if (this.#isLoaded) return;
    this.#isLoaded = true;
    this.#broken = brokenIn(memory);
    const resumed = ResumableVerification.resume(this.#source.verifier, fieldOf(memory, 'position'));
    const position = resumed?.remember();
    if (resumed !== undefined && position?.project === this.#project) {
      this.#walk = resumed;
      this.#hash = position.hash;
      this.#at = numberOf(fieldOf(memory, 'at'));
      this.#kept = { position, at: this.#at };
    }
    this.#source.onChange();
  }

  /** Verifies new entries; after a fault, all entries from the first. */
  async run(how: VerifyHow = 'on'): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      await this.#run(how);
    } catch (error) {
      // A fault of the page, for example a full disk, must not leave the chain's state at "verifying".
      const message = error instanceof Error ? error.message : String(error);
      this.#paused = { code: 'internal', message: `the page failed: ${message}`, hint: 'Reload the page.' };
    }
    this.#isRunning = false;
    this.#source.onChange();
  }

  async #run(how: VerifyHow): Promise<void> {
    await this.load();
    if (how === 'forget') {
      this.#kept = undefined;
      this.#broken = undefined;
    }
    if (how !== 'on' || this.#broken !== undefined) this.#startOver();
    this.#paused = undefined;
    this.#source.onChange();
    const end = await this.#verify();
    if (end.kind === 'paused') this.#paused = end.error;
    else this.#broken = end.kind === 'broken' ? end.broken : this.#findGone();
    await this.#remember();
  }

  #startOver(): void {
    this.#walk = new ResumableVerification(this.#source.verifier, this.#project);
    this.#hash = '';
    this.#at = undefined;
    this.#isCompared = true;
  }

  async #verify(): Promise<RunEnd> {
    const slices = new Slices(this.#source.turn);
    let ahead: Promise<Answer<SignedPart>> | undefined;
    for (;;) {
      const { size } = this.#walk;
      // Reads the last known entry again, because it must be unchanged.
      const isKnown = !this.#isCompared && size > 0;
      const answer = await (ahead ?? this.#source.readPart(isKnown ? size : size + 1));
      if (!answer.ok) return { kind: 'paused', error: answer.error };
      const { lines, next, checkpoint } = answer.result;
      // Requests the next part while this one is verified.
      ahead = next === null ? undefined : this.#source.readPart(next);
      const different = isKnown ? this.#compare(lines[0]) : undefined;
      if (different !== undefined) return { kind: 'broken', broken: different };
      this.#isCompared = true;
      const broken = await this.#add(isKnown ? lines.slice(1) : lines, slices);
      if (broken !== undefined) return { kind: 'broken', broken };
      const unsigned = checkpoint === null ? undefined : await this.#walk.addCheckpoint(checkpoint);
      if (unsigned !== undefined) return { kind: 'broken', broken: explainFault(unsigned) };
      this.#at = this.#source.now();
      if (next === null || lines.length === 0) return { kind: 'done' };
      if (this.#source.now() - this.#rememberedAt > REMEMBER_MS) await this.#remember();
    }
  }

  /** Checks that the ledger still contains the last verified entry. */
  #compare(line: string | undefined): BrokenChain | undefined {
    const known = { size: this.#walk.size, hash: this.#hash, at: this.#at ?? 0 };
    if (line === undefined) return gone(known);
    const found = hashInLine(line);
    return found === known.hash ? undefined : rewritten(known, found);
  }

  async #add(lines: readonly string[], slices: Slices): Promise<BrokenChain | undefined> {
    for (const line of lines) {
      const { size } = this.#walk;
      const fault = await this.#walk.add([line]);
      if (fault !== undefined) return explainFault(fault, { size, hash: this.#hash }, line);
      if (this.#walk.size > size) {
        this.#hash = hashInLine(line);
        const known = this.#witness();
        if (known?.size === this.#walk.size && known.hash !== this.#hash) return rewritten(known, this.#hash);
      }
      if (!slices.isOver) continue;
      this.#source.onChange();
      await slices.pause();
    }
    return undefined;
  }

  /** Returns a fault if entries at the end that this browser has verified are missing. */
  #findGone(): BrokenChain | undefined {
    const known = this.#witness();
    return known !== undefined && known.size > this.#walk.size ? gone(known, this.#walk.size) : undefined;
  }

  #witness(): Witness | undefined {
    if (this.#kept === undefined) return undefined;
    const { position, at } = this.#kept;
    return { size: position.size, hash: position.hash, at };
  }

  async #remember(): Promise<void> {
    this.#rememberedAt = this.#source.now();
    const position = this.#walk.remember();
    if (position !== undefined && this.#broken === undefined && position.size >= (this.#kept?.position.size ?? 0))
      this.#kept = { position, at: this.#at ?? this.#rememberedAt };
    await this.#source.write({ v: 1, ...this.#kept, ...(this.#broken === undefined ? {} : { broken: this.#broken }) });
  }
}

interface KeptPosition {
  readonly position: RememberedPosition;
  readonly at: number;
}

type RunEnd =
  | { readonly kind: 'done' }
  | { readonly kind: 'broken'; readonly broken: BrokenChain }
  | { readonly kind: 'paused'; readonly error: ApiError };

function brokenIn(memory: unknown): BrokenChain | undefined {
  const broken = fieldOf(memory, 'broken');
  return isObject(broken) && typeof broken['seq'] === 'number' && textOf(broken['message']) !== ''
    ? (broken as unknown as BrokenChain) // oxlint-disable-line typescript/no-unsafe-type-assertion -- as `write` kept it
    : undefined;
}
