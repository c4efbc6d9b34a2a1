import { type Checkpoint, findSigningKey, type NoteKey, originOf, parseKey, renderKey } from '../format/checkpoint.ts';
import type { Sha256, Signer, Verifier } from '../format/crypto.ts';
import type { Draft } from '../format/draft.ts';
import type { Entry } from '../format/entry.ts';

export const KEY_ADDED = 'KeyAdded';

/** The first entry names the first key; another key is trusted after a trusted key has signed its entry. */
export class Keyring {
  readonly #verifier: Verifier;
  readonly #origin: string;
  readonly #trusted: NoteKey[] = [];
  #waiting: NoteKey[] = [];

  constructor(verifier: Verifier, project: string) {
    this.#verifier = verifier;
    this.#origin = originOf(project);
  }

  get trusted(): readonly NoteKey[] {
    return this.#trusted;
  }

  /** Keys were added since the last checked signature, so the next signature must be checked. */
  get hasWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  trusts(key: NoteKey): boolean {
    const text = renderKey(this.#verifier.sha256, key);
    return this.#trusted.some((each) => renderKey(this.#verifier.sha256, each) === text);
  }

  read(entry: Pick<Entry, 'type' | 'data'>): void {
    if (entry.type !== KEY_ADDED || typeof entry.data.key !== 'string') return;
    const key = parseKey(this.#verifier.sha256, entry.data.key);
    if (key.ok && key.value.name === this.#origin) this.#waiting.push(key.value);
  }

  /** Trusts a key known from another source: the machine's own key. */
  trust(key: NoteKey): void {
    this.#trusted.push(key);
  }

  /** Checks the signature, and trusts the keys that it covers. */
  async accepts(checkpoint: Checkpoint): Promise<boolean> {
    if (checkpoint.origin !== this.#origin) return false;
    const candidates = this.#trusted.length > 0 ? this.#trusted : this.#waiting.slice(0, 1);
    const key = await findSigningKey(this.#verifier, checkpoint.note, candidates);
    if (!key) return false;
    this.#trusted.push(...this.#waiting);
    this.#waiting = [];
    return true;
  }
}

export function createKeyAddedDraft(
  sha256: Sha256,
  project: string,
  signer: Pick<Signer, 'publicKey'>,
  actor: string,
): Draft {
  const key = { name: originOf(project), publicKey: signer.publicKey };
  return { actor, type: KEY_ADDED, data: { key: renderKey(sha256, key) } };
}
