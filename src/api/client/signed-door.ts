import { createPublicKey, generateKeyPairSync, hash, type KeyObject, randomBytes, sign, verify } from 'node:crypto';
import { fieldsInJson, fieldsOf, textOf } from '../../protocol/shape/read-unknown.ts';
import type { ApiError, OrError } from '../answer.ts';
import {
  answerText,
  greetingText,
  keyRequestText,
  PAGE_HEADERS,
  PAGE_PATHS,
  PAGE_SCHEME,
  requestText,
} from '../page-access.ts';
import { VERSION } from '../version.ts';
import { noResponseError, parseAnswer } from './http.ts';

export interface SignedRequestOptions {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly project: string;
  readonly key: string;
  readonly body: string;
  readonly lastEventId?: number;
  readonly signal?: AbortSignal | undefined;
}

export type Sent = OrError<{ readonly response: Response; readonly text: string }>;

/**
 * A signing key of this process, like the one that the page has in its browser. The private half stays in memory. The
 * daemon proves itself before anything is sent, and only answers that it has signed count.
 */
export class SignedDoor {
  readonly #keys = generateKeyPairSync('ed25519');
  readonly #origin: string;
  readonly #daemon: KeyObject;
  #instance: string | undefined;
  #id = '';
  /** The name in `baton web keys`, such as `acp-zed-2`. */
  #name = '';

  private constructor(origin: string, daemonKey: string) {
    this.#origin = origin;
    this.#daemon = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: daemonKey }, format: 'jwk' });
  }

  /** Consumes the code in the address that `page_open` returned. */
  static async open(url: string): Promise<OrError<{ readonly door: SignedDoor }>> {
    const { hash: place, origin } = new URL(url);
    const given = new URLSearchParams(place.slice(1));
    const door = new SignedDoor(origin, given.get('daemon') ?? '');
    const error = (await door.#greet()) ?? (await door.#register(given.get('code') ?? ''));
    return error === undefined ? { ok: true, door } : { ok: false, error };
  }

  get id(): string {
    return this.#id;
  }

  async send(sending: SignedRequestOptions): Promise<Sent> {
    // A signature is valid for one start of the daemon. After a restart the second try greets the new one.
    for (let tries = 1; ; tries += 1) {
      const error = this.#instance === undefined ? await this.#greet(sending.signal) : undefined;
      if (error !== undefined) return { ok: false, error };
      const sent = await this.#sendSigned(sending, this.#instance ?? '');
      const isOfOtherStart = sent.ok && sent.response.status === 403 && sent.text.includes('"bad-signature"');
      if (tries === 2 || !(isOfOtherStart || (!sent.ok && sent.error === NOT_PROVED))) return sent;
      this.#instance = undefined;
    }
  }

  async #sendSigned({ lastEventId, signal, ...sending }: SignedRequestOptions, instance: string): Promise<Sent> {
    const [time, nonce] = [String(Date.now()), randomText()];
    const signed = { ...sending, instance, after: '', time, nonce, body: hash('sha256', sending.body) };
    const headers = {
      'baton-version': VERSION,
      authorization: `${PAGE_SCHEME} ${this.#id}`,
      [PAGE_HEADERS.time]: time,
      [PAGE_HEADERS.nonce]: nonce,
      [PAGE_HEADERS.signature]: this.#sign(requestText(signed)),
      ...(sending.project === '' ? {} : { 'baton-project-path': sending.project }),
      ...(sending.key === '' ? {} : { 'idempotency-key': sending.key }),
      ...(lastEventId === undefined ? {} : { accept: 'text/event-stream', 'last-event-id': String(lastEventId) }),
    };
    const { method, body } = sending;
    const got = await this.#fetch(sending.path, { method, headers, ...(method === 'POST' ? { body } : {}) }, signal);
    if (!got.ok) return got;
    const { response, text } = got;
    const proof = response.headers.get(PAGE_HEADERS.answer) ?? '';
    if (this.#isOfDaemon(answerText(nonce, response.status, hash('sha256', text)), proof)) return got;
    // The daemon signs its answers to keys that it knows. It has just proved itself, so an unsigned 401 means that it
    // refuses the key.
    const isRefused = proof === '' && response.status === 401;
    return { ok: false, error: isRefused && (await this.#greet(signal)) === undefined ? this.#lostKey() : NOT_PROVED };
  }

  /** Returns undefined if the server on the port is the daemon of the state folder. */
  async #greet(signal?: AbortSignal): Promise<ApiError | undefined> {
    const challenge = randomText();
    const got = await this.#fetch(PAGE_PATHS.greeting, post({ challenge }), signal);
    if (!got.ok) return got.error;
    const { result } = fieldsInJson(got.text);
    const [instance, signature] = [textOf(fieldsOf(result)['instance']), textOf(fieldsOf(result)['signature'])];
    const text = greetingText({ origin: this.#origin, challenge, instance });
    if (!this.#isOfDaemon(text, signature)) return NOT_PROVED;
    this.#instance = instance;
    return undefined;
  }

  async #register(code: string): Promise<ApiError | undefined> {
    const publicKey = this.#keys.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64url');
    const text = keyRequestText({ origin: this.#origin, instance: this.#instance ?? '', code, publicKey });
    const got = await this.#fetch(PAGE_PATHS.key, post({ code, public_key: publicKey, signature: this.#sign(text) }));
    const answer = got.ok ? parseAnswer(got.text) : got;
    if (!answer.ok) return answer.error;
    const { key_id: id, name } = fieldsOf(answer.result);
    [this.#id, this.#name] = [textOf(id), textOf(name)];
    return undefined;
  }

  async #fetch(path: string, request: RequestInit, signal?: AbortSignal): Promise<Sent> {
    try {
      const response = await fetch(`${this.#origin}${path}`, {
        ...request,
        redirect: 'error',
        ...(signal === undefined ? {} : { signal }),
      });
      const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
      return { ok: true, response, text: isStream ? '' : await response.text() };
    } catch (error) {
      if (signal?.aborted !== true) return { ok: false, error: DAEMON_AWAY };
      const isTimeout = error instanceof DOMException && error.name === 'TimeoutError';
      return { ok: false, error: noResponseError(isTimeout ? 'timeout' : 'aborted') };
    }
  }

  #lostKey(): ApiError {
    return {
      code: 'bad-page-key',
      message: `the key ${this.#name} was revoked, or its port has changed`,
      hint: NEW_KEY,
    };
  }

  #sign(text: string): string {
    return sign(null, Buffer.from(text), this.#keys.privateKey).toString('base64url');
  }

  #isOfDaemon(text: string, signature: string): boolean {
    return verify(null, Buffer.from(text), this.#daemon, Buffer.from(signature, 'base64url'));
  }
}

function post(body: object): RequestInit {
  return { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
}

function randomText(): string {
  return randomBytes(16).toString('base64url');
}

const NEW_KEY = 'Start the agent again in the editor, or run baton acp again: it gets a new key.';

const DAEMON_AWAY: ApiError = {
  code: 'daemon-away',
  message: 'no daemon answers for this state folder',
  hint: 'Run: baton up',
};

const NOT_PROVED: ApiError = {
  code: 'no-answer',
  message: 'the server on the port of the daemon has not proved that it is the daemon',
  hint: 'Start the daemon, or see that it runs: baton up',
};
