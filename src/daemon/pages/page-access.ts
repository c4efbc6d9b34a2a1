import { hash, randomBytes } from 'node:crypto';
import type { OrError } from '../../api/answer.ts';
import {
  answerText,
  greetingText,
  keyRequestText,
  MAX_PAGE_SKEW_MS,
  requestText,
  type SignedRequest,
} from '../../api/page-access.ts';
import { stateFiles } from '../../api/state-folder.ts';
import { VERSION } from '../../api/version.ts';
import type { Signer } from '../../ledger/format/crypto.ts';
import { nodeVerifier } from '../../ledger/writer/keys.ts';
import type { PortHolder } from '../http/port-holder.ts';
import type { Refusal } from '../http/refusals.ts';
import { isFileFault, KeyFile, type PageKey, type RevokedKey } from './key-file.ts';
import { Nonces } from './nonces.ts';
import { type CodeUse, PageCodes } from './page-codes.ts';
import * as refusals from './page-refusals.ts';

export interface PageAccessOptions {
  readonly stateDir: string;
  /** The key of the state folder, by which pages recognise this daemon. */
  readonly signer: Signer;
  readonly now?: () => number;
}

/** What a request carries besides the signed text. */
export interface PageSignature {
  readonly time: string;
  readonly nonce: string;
  readonly signature: string;
}

export type KeyRequestResult = OrError<{ readonly key: PageKey; readonly use: CodeUse }>;

/** The keys of pages, and everything that the daemon and pages sign for each other. */
export class PageAccess {
  readonly daemonKey: string;
  /** Random for each start, so that signatures for an earlier start are invalid. */
  readonly instance: string = randomBytes(16).toString('base64url');
  readonly #signer: Signer;
  readonly #now: () => number;
  readonly #codes: PageCodes;
  readonly #nonces: Nonces;
  readonly #keys: KeyFile;
  readonly #active = new Map<string, Set<AbortController>>();
  #wrongCodes: number[] = [];
  #port = 0;

  constructor({ stateDir, signer, now = Date.now }: PageAccessOptions) {
    this.#signer = signer;
    this.#now = now;
    this.daemonKey = Buffer.from(signer.publicKey).toString('base64url');
    this.#codes = new PageCodes(now);
    this.#nonces = new Nonces(now);
    this.#keys = new KeyFile(stateFiles(stateDir).pageKeys, now);
  }

  /** The page has only one name: `localhost` may be another server on IPv6, and would be another origin. */
  get origin(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get revoked(): readonly RevokedKey[] {
    return this.#keys.revoked;
  }

  /** Revokes keys that are bound to another port or to another key of the daemon. */
  listensOn(port: number, taken?: { readonly from: number; readonly holder: PortHolder | undefined }): void {
    this.#port = port;
    const holder = taken?.holder;
    // The reason is recorded in ledgers, and a command line may contain a secret.
    const by = holder === undefined ? 'another program' : `${holder.program} (process ${holder.pid})`;
    const reason =
      taken === undefined ? 'the port or the key of the daemon changed' : `port ${taken.from} was taken by ${by}`;
    try {
      this.#keys.revoke((key) => !this.#isBound(key), reason);
      if (taken === undefined) return;
      const taken_by = holder === undefined ? null : `process ${holder.pid}: ${holder.command}`;
      this.#keys.noteMove({ from: taken.from, to: port, taken_by, at: new Date(this.#now()).toISOString() });
    } catch (error) {
      // A full disk does not stop the daemon: a key of another origin is refused, whatever the file contains.
      if (!isFileFault(error)) throw error;
    }
  }

  open(projectPath: string | undefined, editor?: string) {
    const { code, expiresAtMs } = this.#codes.make({ projectPath, editor });
    const place = new URLSearchParams({ code, daemon: this.daemonKey, project: projectPath ?? '' });
    return {
      // After the #, because a browser does not send that part.
      url: `${this.origin}/#${place.toString()}`,
      code_expires_at: new Date(expiresAtMs).toISOString(),
      port: this.#port,
      daemon_key: this.daemonKey,
      port_moved: this.#keys.moved,
    };
  }

  greet(challenge: string) {
    const { instance, origin } = this;
    const signature = this.#sign(greetingText({ origin, challenge, instance }));
    return { instance, public_key: this.daemonKey, signature, version: VERSION, origin };
  }

  /** Consumes the code even if the rest of the request is wrong. */
  requestKey({ code, publicKey, signature }: { code: string; publicKey: string; signature: string }): KeyRequestResult {
    const use = this.#codes.use(code);
    if (use === undefined) return this.#refuseCode();
    const { origin, instance } = this;
    const raw = decodeKey(publicKey);
    const text = keyRequestText({ origin, instance, code, publicKey });
    if (raw === undefined || !isSigned(raw, text, signature)) return refusals.BAD_SIGNATURE;
    try {
      this.#makeRoom();
      const given = { public_key: publicKey, origin, daemon_key: this.daemonKey };
      return { ok: true, use, key: this.#keys.add(given, use.editor) };
    } catch (error) {
      if (!isFileFault(error)) throw error;
      return refusals.NOT_WRITTEN;
    }
  }

  listKeys(): readonly PageKey[] {
    return this.#keys.list();
  }

  findKey(id: string): PageKey | undefined {
    const key = this.#keys.find(id);
    return key !== undefined && this.#isBound(key) ? key : undefined;
  }

  /** Refuses a request with an invalid time before its body is read. */
  findStale(time: string): Refusal | undefined {
    const isFresh = /^\d{1,15}$/.test(time) && Math.abs(this.#now() - Number(time)) <= MAX_PAGE_SKEW_MS;
    return isFresh ? undefined : refusals.STALE_REQUEST;
  }

  /** A nonce counts as used only if the signature is valid, so nobody can use up a page's nonces. */
  check(
    key: PageKey,
    { time, nonce, signature }: PageSignature,
    request: Omit<SignedRequest, 'instance' | 'time' | 'nonce' | 'body'> & { readonly body: Uint8Array },
  ): Refusal | undefined {
    const stale = this.findStale(time);
    if (stale !== undefined) return stale;
    // The key may have been revoked while the body was sent.
    if (this.findKey(key.id) === undefined) return refusals.BAD_KEY;
    const raw = decodeKey(key.public_key);
    const text = requestText({ ...request, instance: this.instance, time, nonce, body: hash('sha256', request.body) });
    if (!isNonce(nonce) || raw === undefined || !isSigned(raw, text, signature)) return refusals.BAD_SIGNATURE;
    const state = this.#nonces.add(nonce);
    if (state !== 'new') return state === 'used' ? refusals.REPLAYED_REQUEST : refusals.TOO_MANY_NONCES;
    this.#keys.noteUse(key.id);
    return undefined;
  }

  signAnswer(nonce: string, status: number, body: Uint8Array | string): string {
    return this.#sign(answerText(nonce, status, hash('sha256', body)));
  }

  /** Tracks a running request, so that revoking the key ends it. The returned function stops tracking. */
  track(id: string, controller: AbortController): () => void {
    const active = this.#active.get(id) ?? new Set();
    this.#active.set(id, active.add(controller));
    return () => {
      active.delete(controller);
      if (active.size === 0 && this.#active.get(id) === active) this.#active.delete(id);
    };
  }

  /** Throws if the file cannot be written. The keys are still invalid until the next start. */
  revoke(isMeant: (key: PageKey) => boolean, reason: string): readonly RevokedKey[] {
    const ids = this.#keys.list().filter(isMeant);
    try {
      return this.#keys.revoke(isMeant, reason);
    } finally {
      for (const { id } of ids) for (const controller of this.#active.get(id) ?? []) controller.abort();
    }
  }

  close(): void {
    this.#keys.saveUses();
  }

  #isBound({ origin, daemon_key }: PageKey): boolean {
    return origin === this.origin && daemon_key === this.daemonKey;
  }

  #makeRoom(): void {
    const keys = this.#keys.list();
    if (keys.length < MAX_KEYS) return;
    const [oldest] = keys.toSorted((a, b) => (lastUse(a) < lastUse(b) ? -1 : 1));
    this.revoke(
      (key) => key.id === oldest?.id,
      `the limit of ${MAX_KEYS} keys was reached, and this key was unused for longest`,
    );
  }

  /** Counts only wrong codes, so that an attacker cannot keep people from opening the page. */
  #refuseCode(): Refusal {
    const now = this.#now();
    this.#wrongCodes = [...this.#wrongCodes.filter((at) => now - at < 60_000), now].slice(-MAX_WRONG_CODES - 1);
    return this.#wrongCodes.length > MAX_WRONG_CODES ? refusals.TOO_MANY_CODES : refusals.BAD_CODE;
  }

  #sign(text: string): string {
    return Buffer.from(this.#signer.sign(Buffer.from(text))).toString('base64url');
  }
}

function isNonce(nonce: string): boolean {
  return /^[A-Za-z0-9_-]{16,64}$/.test(nonce);
}

export function isChallenge(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z0-9_-]{16,128}$/.test(value);
}

/** Accepts only the canonical encoding. */
function decodeKey(publicKey: string): Buffer | undefined {
  const raw = Buffer.from(publicKey, 'base64url');
  return raw.length === 32 && raw.toString('base64url') === publicKey ? raw : undefined;
}

function isSigned(publicKey: Uint8Array, text: string, signature: string): boolean {
  try {
    return nodeVerifier.verifyEd25519(publicKey, Buffer.from(text), Buffer.from(signature, 'base64url')) === true;
  } catch {
    // Not every 32 bytes are a valid key.
    return false;
  }
}

function lastUse({ last_used_at, created_at }: PageKey): string {
  return last_used_at ?? created_at;
}

const MAX_KEYS = 64;
/** Per minute. */
const MAX_WRONG_CODES = 20;
