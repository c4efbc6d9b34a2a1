import { fieldOf, isObject } from '../../protocol/shape/read-unknown.ts';
import { parseHex, toHex } from '../format/bytes.ts';
import { type NoteKey, parseCheckpoint, parseKey, renderKey } from '../format/checkpoint.ts';
import type { Sha256, Verifier } from '../format/crypto.ts';
import { isProject } from '../format/entry.ts';
import { Frontier } from '../format/merkle.ts';
import { parseExportLine, projectIn } from './export-line.ts';
import { Keyring } from './keyring.ts';
import { type LedgerFault, ledgerFault, LedgerWalk, type WalkPosition } from './walk.ts';

/** A position that a trusted key has signed, as JSON: the entries before it need not be verified again. */
export interface RememberedPosition {
  readonly v: 1;
  readonly project: string;
  readonly size: number;
  /** The hash of the last entry. */
  readonly hash: string;
  /** The frontier of the tree, largest subtree first. */
  readonly subtrees: readonly string[];
  readonly keys: readonly string[];
  /** Set if the last entry is of version 2: all later ones are, too. */
  readonly numbered?: true;
}

/**
 * Verifies the lines of an export in parts, as `ledger_export` returns them, and continues from a remembered position.
 * After the first fault it accepts nothing more.
 */
export class ResumableVerification {
  readonly #verifier: Verifier;
  #walk: LedgerWalk | undefined;
  #project: string;
  #signed: RememberedPosition | undefined;
  #fault: LedgerFault | undefined;

  /** Without a project, the first entry names it. */
  constructor(verifier: Verifier, project = '') {
    this.#verifier = verifier;
    this.#project = project;
  }

  /** Undefined if the value is not what `remember` returned. */
  static resume(verifier: Verifier, remembered: unknown): ResumableVerification | undefined {
    const position = parseRemembered(verifier.sha256, remembered);
    if (position === undefined) return undefined;
    const { project, keys, start } = position;
    const resumed = new ResumableVerification(verifier, project);
    resumed.#walk = new LedgerWalk(verifier, project, new Keyring(verifier, project, keys), start);
    resumed.#signed = resumed.#currentPosition();
    return resumed;
  }

  /** The number of entries whose chain was verified. */
  get size(): number {
    return this.#walk?.position.head.size ?? 0;
  }

  /** The number of entries that a trusted key's signature covers. */
  get signedSize(): number {
    return this.#signed?.size ?? 0;
  }

  /** The trusted keys, oldest first. The user compares them with a trusted copy. */
  get keys(): readonly string[] {
    return this.#signed?.keys ?? [];
  }

  get fault(): LedgerFault | undefined {
    return this.#fault;
  }

  /** Adds lines. Returns the first fault, whose `seq` is the first entry that cannot be trusted. */
  async add(lines: readonly string[]): Promise<LedgerFault | undefined> {
    for (const line of lines) {
      this.#fault ??= await this.#addLine(line);
      if (this.#fault !== undefined) return this.#fault;
    }
    return this.#fault;
  }

  /** Adds the signed checkpoint of all entries so far. */
  async addCheckpoint(note: string): Promise<LedgerFault | undefined> {
    this.#fault ??= await this.#check(note);
    return this.#fault;
  }

  /** The newest signed position; undefined before the first. */
  remember(): RememberedPosition | undefined {
    return this.#signed;
  }

  async #addLine(line: string): Promise<LedgerFault | undefined> {
    const parsed = parseExportLine(this.#verifier.sha256, line);
    if (parsed === undefined)
      return ledgerFault(this.size + 1, 'ledger/bad-export', `entry ${this.size + 1} cannot be read`);
    if ('checkpoint' in parsed) return this.#check(parsed.checkpoint);
    this.#walk ??= this.#begin(this.#project === '' ? projectIn(parsed.hashed) : this.#project);
    const step = this.#walk.step(parsed.hashed);
    return step.ok ? undefined : step.finding;
  }

  #begin(project: string): LedgerWalk {
    this.#project = project;
    return new LedgerWalk(this.#verifier, project, new Keyring(this.#verifier, project));
  }

  async #check(note: string): Promise<LedgerFault | undefined> {
    const { size } = this;
    if (this.#walk === undefined)
      return ledgerFault(1, 'ledger/wrong-root', 'there is a checkpoint, but no entry before it');
    const stated = parseCheckpoint(note);
    if (stated.ok && stated.value.size < size) {
      const message = `the newest checkpoint covers ${stated.value.size} entries, but ${size} were recorded`;
      return ledgerFault(stated.value.size + 1, 'ledger/rolled-back', message);
    }
    if (stated.ok && stated.value.size > size) {
      const message = `entries ${size + 1} to ${stated.value.size} are missing, but a checkpoint covers them`;
      return ledgerFault(size + 1, 'ledger/rolled-back', message);
    }
    // An export omits checkpoints in between, except those that change the trusted keys.
    const fault = await this.#walk.findFault({ size, note }, 'check', 'unlinked');
    if (fault !== undefined) return fault;
    this.#signed = this.#currentPosition();
    return undefined;
  }

  #currentPosition(): RememberedPosition | undefined {
    if (this.#walk === undefined) return undefined;
    const { position, keyring } = this.#walk;
    const { sha256 } = this.#verifier;
    return {
      v: 1,
      project: this.#project,
      size: position.head.size,
      hash: toHex(position.head.hash),
      subtrees: position.frontier.subtrees.map(toHex),
      keys: keyring.trusted.map((key) => renderKey(sha256, key)),
      ...(position.isNumbered ? { numbered: true } : {}),
    };
  }
}

interface ParsedPosition {
  readonly project: string;
  readonly keys: readonly NoteKey[];
  readonly start: WalkPosition;
}

function parseRemembered(sha256: Sha256, value: unknown): ParsedPosition | undefined {
  const [project, size] = [fieldOf(value, 'project'), fieldOf(value, 'size')];
  const hash = parseHash(fieldOf(value, 'hash'));
  const subtrees = parseAll(fieldOf(value, 'subtrees'), parseHash);
  const keys = parseAll(fieldOf(value, 'keys'), (each) => parseKeyText(sha256, each));
  if (!isObject(value) || value.v !== 1 || !isProject(project) || typeof size !== 'number') return undefined;
  const frontier = subtrees && restoreFrontier(sha256, size, subtrees);
  if (hash === undefined || frontier === undefined || keys === undefined || keys.length === 0) return undefined;
  return { project, keys, start: { head: { size, hash }, frontier, isNumbered: value.numbered === true } };
}

/** A tree of `size` leaves has one complete subtree for each one bit of the size. */
function restoreFrontier(sha256: Sha256, size: number, subtrees: readonly Uint8Array[]): Frontier | undefined {
  if (!Number.isSafeInteger(size) || size < 1) return undefined;
  const bits = size.toString(2);
  const levels = bits.split('').flatMap((bit, i) => (bit === '1' ? bits.length - 1 - i : []));
  if (levels.length !== subtrees.length) return undefined;
  const frontier = new Frontier(sha256);
  for (const [i, level] of levels.entries()) {
    const root = subtrees[i];
    if (root !== undefined) frontier.addSubtree(level, root);
  }
  return frontier;
}

function parseAll<T>(value: unknown, parse: (each: unknown) => T | undefined): readonly T[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const parsed = value.map(parse);
  const known = parsed.filter((each) => each !== undefined);
  return known.length === parsed.length ? known : undefined;
}

function parseHash(value: unknown): Uint8Array | undefined {
  const bytes = typeof value === 'string' ? parseHex(value) : undefined;
  return bytes?.length === 32 ? bytes : undefined;
}

function parseKeyText(sha256: Sha256, value: unknown): NoteKey | undefined {
  const key = typeof value === 'string' ? parseKey(sha256, value) : undefined;
  return key?.ok === true ? key.value : undefined;
}
