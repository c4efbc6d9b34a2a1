import { sameBytes } from '../format/bytes.ts';
import { type Checkpoint, findSigningKey, type NoteKey, originOf, parseKey, renderKey } from '../format/checkpoint.ts';
import type { Sha256, Signer, Verifier } from '../format/crypto.ts';
import type { Draft } from '../format/draft.ts';
import type { Entry } from '../format/entry.ts';

export const KEY_ADDED = 'KeyAdded';
export const KEY_REVOKED = 'KeyRevoked';

/** Reports whether entries of this type change which keys are trusted. */
export function changesKeys(type: string): boolean {
  return type === KEY_ADDED || type === KEY_REVOKED;
}

interface KeyChange {
  readonly type: string;
  readonly key: NoteKey;
}

/**
 * The trusted keys of a chain. The first entry names the first key. Another key is trusted after a trusted key has
 * signed the entry that adds it, until a trusted key has signed the entry that revokes it. Its earlier signatures stay
 * valid.
 */
export class Keyring {
  readonly #verifier: Verifier;
  readonly #project: string;
  readonly #origin: string;
  #trusted: readonly NoteKey[];
  #known: readonly NoteKey[];
  #waiting: readonly KeyChange[] = [];
  #isPartial = false;

  constructor(verifier: Verifier, project: string, trusted: readonly NoteKey[] = []) {
    this.#verifier = verifier;
    this.#project = project;
    this.#origin = originOf(project);
    this.#trusted = trusted;
    this.#known = trusted;
  }

  /** Every key that was ever trusted since this keyring was created. */
  get known(): readonly NoteKey[] {
    return this.#known;
  }

  get trusted(): readonly NoteKey[] {
    return this.#trusted;
  }

  /** Whether keys changed since the last checked signature; if so, the next signature must be checked. */
  get hasWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Whether the chain may trust further keys that this keyring does not know. */
  get isPartial(): boolean {
    return this.#isPartial;
  }

  /** A copy to check entries with that may turn out to be faulty. */
  copy(): Keyring {
    const copy = new Keyring(this.#verifier, this.#project, this.#trusted);
    copy.#known = this.#known;
    copy.#waiting = this.#waiting;
    copy.#isPartial = this.#isPartial;
    return copy;
  }

  trusts(key: NoteKey): boolean {
    return this.#trusted.some((each) => isSameKey(each, key));
  }

  read({ type, data }: Pick<Entry, 'type' | 'data'>): void {
    if (!changesKeys(type) || typeof data.key !== 'string') return;
    const key = parseKey(this.#verifier.sha256, data.key);
    if (key.ok && key.value.name === this.#origin) this.#waiting = [...this.#waiting, { type, key: key.value }];
  }

  /** Trusts a key known from another source: the machine's own key. Other machines' keys stay unknown. */
  trust(key: NoteKey): void {
    this.#trusted = [...this.#trusted, key];
    this.#isPartial = true;
  }

  /** Checks the signature, and applies the key changes that it covers. */
  async accepts(checkpoint: Checkpoint): Promise<boolean> {
    const signer = await this.findSigner(checkpoint);
    // Without all keys it is unknown whether the revoked one is the last key.
    const isJudged = !this.#isPartial || this.#waiting.every(({ type }) => type === KEY_ADDED);
    if (!signer || !isJudged) return false;
    this.settle();
    return true;
  }

  /** Finds the trusted key that signed the checkpoint. Keys added by the same commit do not count yet. */
  async findSigner(checkpoint: Checkpoint): Promise<NoteKey | undefined> {
    if (checkpoint.origin !== this.#origin) return undefined;
    const first = this.#waiting.find(({ type }) => type === KEY_ADDED);
    const candidates = this.#trusted.length > 0 ? this.#trusted : first ? [first.key] : [];
    return findSigningKey(this.#verifier, checkpoint.note, candidates);
  }

  /** Applies the changes of a commit whose signature is covered by a later one. The last key cannot be revoked. */
  settle(): void {
    for (const { type, key } of this.#waiting) {
      const others = this.#trusted.filter((each) => !isSameKey(each, key));
      if (type === KEY_REVOKED) this.#trusted = others.length > 0 ? others : this.#trusted;
      else if (others.length === this.#trusted.length) {
        this.#trusted = [...this.#trusted, key];
        this.#known = [...this.#known, key];
      }
    }
    this.#waiting = [];
  }
}

function isSameKey(a: NoteKey, b: NoteKey): boolean {
  return a.name === b.name && sameBytes(a.publicKey, b.publicKey);
}

export function createKeyAddedDraft(
  sha256: Sha256,
  project: string,
  signer: Pick<Signer, 'publicKey'>,
  actor: string,
): Draft {
  return { actor, type: KEY_ADDED, data: { key: renderProjectKey(sha256, project, signer.publicKey) } };
}

/** A machine's public key as the entries of this project name it. */
export function renderProjectKey(sha256: Sha256, project: string, publicKey: Uint8Array): string {
  return renderKey(sha256, { name: originOf(project), publicKey });
}
