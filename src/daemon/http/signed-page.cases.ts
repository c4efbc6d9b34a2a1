import { generateKeyPairSync, hash, type KeyObject, randomBytes, sign, verify, createPublicKey } from 'node:crypto';
import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { gunzipSync } from 'node:zlib';
import {
  answerText,
  greetingText,
  keyRequestText,
  PAGE_HEADERS,
  PAGE_PATHS,
  PAGE_SCHEME,
  requestText,
  type SignedRequest,
} from '../../api/page-access.ts';

export interface PageAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly answer: { readonly ok: boolean; readonly result?: unknown; readonly error?: { readonly code: string } };
  /** Whether the daemon signed the response; undefined without a signature. */
  readonly isSigned: boolean | undefined;
}

export interface Sending {
  readonly method?: string;
  readonly body?: string;
  readonly project?: string;
  readonly after?: string;
  /** Replaces headers or body after signing, as another program would. */
  readonly changed?: { readonly headers?: Record<string, string>; readonly body?: string; readonly path?: string };
  readonly signs?: Partial<SignedRequest>;
  readonly port?: number;
}

/** Imitates the page in a browser, with the same texts and Node's cryptography. */
export class SignedPage {
  readonly port: number;
  readonly #keys = generateKeyPairSync('ed25519');
  readonly #daemon: KeyObject;
  instance = '';
  keyId = '';

  constructor(port: number, daemonKey: string) {
    this.port = port;
    this.#daemon = importKey(daemonKey);
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get publicKey(): string {
    return this.#keys.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64url');
  }

  /** Opens the address that `page_open` returned. */
  static async open(url: string): Promise<SignedPage> {
    const { code, daemon, port } = parseAddress(url);
    const page = new SignedPage(port, daemon);
    if (!(await page.greet())) throw new Error('the greeting is not the daemon’s');
    const { answer } = await page.requestKey(code);
    if (!answer.ok) throw new Error(`the code was refused: ${answer.error?.code}`);
    const { key_id } = answer.result as { key_id: string };
    page.keyId = key_id;
    return page;
  }

  /** Whether the server on the page's port proves that it is the daemon. */
  async greet(headers: Record<string, string> = {}): Promise<boolean> {
    const challenge = randomBytes(16).toString('base64url');
    const { answer } = await this.#post(PAGE_PATHS.greeting, { challenge }, { origin: this.origin, ...headers });
    const { instance, signature } = answer.result as { instance: string; signature: string };
    this.instance = instance;
    return this.#isOfDaemon(greetingText({ origin: this.origin, challenge, instance }), signature);
  }

  async requestKey(code: string, changed: Record<string, string> = {}, headers: Record<string, string> = {}) {
    const { origin, instance, publicKey } = this;
    const signature = this.#sign(keyRequestText({ origin, instance, code, publicKey }));
    return this.#post(PAGE_PATHS.key, { code, public_key: publicKey, signature, ...changed }, { origin, ...headers });
  }

  async call(operation: string, input: object = {}, more: Sending = {}): Promise<PageAnswer> {
    return readAnswer(
      await this.send(`/v1/${operation}`, { method: 'POST', body: JSON.stringify(input), ...more }),
      this.#check,
    );
  }

  async get(path: string, more: Sending = {}): Promise<PageAnswer> {
    return readAnswer(await this.send(path, more), this.#check);
  }

  /** The response before its body, for event streams too. */
  async send(path: string, sending: Sending = {}): Promise<IncomingMessage & { nonce: string }> {
    const { method = 'GET', body = '', project = '', after = '', changed = {}, signs = {}, port = this.port } = sending;
    const [time, nonce] = [String(Date.now()), randomBytes(16).toString('base64url')];
    const idempotency = method === 'POST' ? randomBytes(8).toString('hex') : '';
    const signed: SignedRequest = {
      instance: this.instance,
      method,
      path,
      project: encodeURI(project),
      key: idempotency,
      after,
      time,
      nonce,
      body: hash('sha256', body),
      ...signs,
    };
    const headers = {
      ...(method === 'POST' ? { origin: this.origin, 'idempotency-key': signed.key } : {}),
      ...(project === '' ? {} : { 'baton-project-path': signed.project }),
      ...(after === '' ? {} : { [PAGE_HEADERS.after]: after }),
      authorization: `${PAGE_SCHEME} ${this.keyId}`,
      [PAGE_HEADERS.time]: signed.time,
      [PAGE_HEADERS.nonce]: signed.nonce,
      [PAGE_HEADERS.signature]: this.#sign(requestText(signed)),
      ...changed.headers,
    };
    const response = await send(port, { method, path: changed.path ?? path, headers }, changed.body ?? body);
    return Object.assign(response, { nonce: signed.nonce });
  }

  /** Whether the daemon signed this status and body for the request. */
  isAnswerOf(response: IncomingMessage & { nonce: string }, body: string): boolean | undefined {
    return this.#check(response, body);
  }

  readonly #check = (response: IncomingMessage & { nonce?: string }, body: string): boolean | undefined => {
    const signature = response.headers[PAGE_HEADERS.answer];
    if (typeof signature !== 'string') return undefined;
    const text = answerText(response.nonce ?? '', response.statusCode ?? 0, hash('sha256', body));
    return this.#isOfDaemon(text, signature);
  };

  async #post(path: string, body: object, headers: Record<string, string>): Promise<PageAnswer> {
    return readAnswer(await send(this.port, { method: 'POST', path, headers }, JSON.stringify(body)), this.#check);
  }

  #sign(text: string): string {
    return sign(null, Buffer.from(text), this.#keys.privateKey).toString('base64url');
  }

  #isOfDaemon(text: string, signature: string): boolean {
    return verify(null, Buffer.from(text), this.#daemon, Buffer.from(signature, 'base64url'));
  }
}

export function parseAddress(url: string): { code: string; daemon: string; project: string; port: number } {
  const { hash: place, port } = new URL(url);
  const fields = new URLSearchParams(place.slice(1));
  const text = (name: string): string => fields.get(name) ?? '';
  return { code: text('code'), daemon: text('daemon'), project: text('project'), port: Number(port) };
}

function importKey(raw: string): KeyObject {
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: raw }, format: 'jwk' });
}

async function send(
  port: number,
  what: { method: string; path: string; headers: Record<string, string> },
  body: string,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request({ agent: false, host: '127.0.0.1', port, ...what }, resolve);
    sent.on('error', reject);
    sent.end(body);
  });
}

async function readAnswer(
  response: IncomingMessage,
  check: (response: IncomingMessage, body: string) => boolean | undefined,
): Promise<PageAnswer> {
  const bytes = Buffer.concat(await response.toArray());
  const body = (response.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString('utf8');
  const isSigned = check(response, body);
  return { status: response.statusCode ?? 0, headers: response.headers, answer: JSON.parse(body), isSigned };
}
