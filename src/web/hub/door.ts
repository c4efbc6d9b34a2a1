import {
  answerText,
  greetingText,
  keyRequestText,
  PAGE_HEADERS,
  PAGE_PATHS,
  PAGE_SCHEME,
  requestText,
} from '../../api/page-access.ts';
import { fieldsOf } from '../../protocol/shape/read-unknown.ts';
import { fromBase64Url, randomText, sha256Hex, toBase64Url, utf8 } from './bytes.ts';
import { Locked, NoAnswer } from './no-answer.ts';
import { type PageKey, readKept, removeKept, writeKept } from './page-store.ts';

export interface SignedFetch {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly project?: string;
  readonly key?: string;
  readonly after?: string;
  readonly body?: string;
  readonly signal: AbortSignal;
}

/**
 * An authenticated connection: the daemon has proved its identity, and this page has a key. Valid for one start of the
 * daemon.
 */
export interface OpenDoor {
  readonly key: PageKey;
  readonly instance: string;
}

const KEY = 'page-key';

/**
 * Authenticates the daemon before sending anything else: it must sign a fresh challenge with the key that `baton web`
 * named. With a one-time code the page then registers its own key.
 */
export async function openDoor(given: { code?: string; daemonKey?: string }, signal: AbortSignal): Promise<OpenDoor> {
  const kept = await readKept<PageKey>(KEY);
  const daemonKey = given.daemonKey ?? kept?.daemonKey;
  if (daemonKey === undefined) throw new Locked('This browser has no key for this page.', HINT);
  const instance = await greet(daemonKey, signal);
  const own = kept?.daemonKey === daemonKey ? { key: kept, instance } : undefined;
  const known = own === undefined ? 'unknown' : await askAbout(own, signal);
  if (own !== undefined && known === 'accepted') return own;
  if (given.code !== undefined) return { key: await register(given.code, daemonKey, instance, signal), instance };
  if (known === 'refused') throw new NoAnswer('failing');
  await removeKept(KEY);
  throw new Locked('The daemon no longer accepts the key of this page.', HINT);
}

const HINT = 'Run: baton web';

async function greet(daemonKey: string, signal: AbortSignal): Promise<string> {
  const challenge = randomText();
  const result = await post(PAGE_PATHS.greeting, { challenge }, signal);
  const { instance, signature } = result;
  if (typeof instance !== 'string' || typeof signature !== 'string') throw new NoAnswer('foreign');
  const signed = greetingText({ origin: location.origin, challenge, instance });
  if (!(await isSignedBy(daemonKey, signed, signature))) throw new NoAnswer('foreign');
  return instance;
}

async function register(code: string, daemonKey: string, instance: string, signal: AbortSignal): Promise<PageKey> {
  const pair = await crypto.subtle.generateKey('Ed25519', false, ['sign', 'verify']);
  if (!('privateKey' in pair)) throw new Error('a key pair was expected');
  const publicKey = toBase64Url(new Uint8Array(await crypto.subtle.exportKey('raw', pair.publicKey)));
  const signed = keyRequestText({ origin: location.origin, instance, code, publicKey });
  const signature = await sign(pair.privateKey, signed);
  const { key_id: id, name } = await post(PAGE_PATHS.key, { code, public_key: publicKey, signature }, signal);
  const key = { id: String(id), name: String(name), privateKey: pair.privateKey, daemonKey };
  await writeKept(KEY, key);
  return key;
}

/** Sends a request without a key, for the two requests that precede the key. */
async function post(path: string, body: object, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
  const request = { method: 'POST', body: JSON.stringify(body), signal, headers: JSON_HEADERS };
  const response = await send(path, request);
  const answer = fieldsOf(parseJson(await readText(response)));
  if (answer['ok'] === true) return fieldsOf(answer['result']);
  const { message } = fieldsOf(answer['error']);
  if (path === PAGE_PATHS.key && typeof message === 'string') throw new Locked(`${message}.`, HINT);
  throw new NoAnswer(response.status >= 500 ? 'failing' : 'foreign');
}

const JSON_HEADERS = { 'content-type': 'application/json' };

/**
 * Asks only whether the key is valid. The daemon signs only for keys that it knows: a signed refusal has another cause,
 * such as a changed clock or a restarted daemon, and the key is kept.
 */
async function askAbout(door: OpenDoor, signal: AbortSignal): Promise<'accepted' | 'refused' | 'unknown'> {
  try {
    const { response } = await fetchSigned(door, { method: 'POST', path: '/v1/projects_list', body: '{}', signal });
    return isRefusedKey(response) ? 'refused' : 'accepted';
  } catch (error) {
    // The daemon has just proved its identity, so this refusal is authentic.
    if (error instanceof NoAnswer && error.why === 'foreign') return 'unknown';
    throw error;
  }
}

/**
 * Sends a signed request, and checks the daemon's signature of the response. `text` is the body, which an event stream
 * does not have.
 */
export async function fetchSigned(door: OpenDoor, asked: SignedFetch): Promise<{ response: Response; text: string }> {
  const { method, path, project = '', key = '', after = '', body = '', signal } = asked;
  const [time, nonce] = [String(Date.now()), randomText()];
  const hash = await sha256Hex(utf8(body));
  const signed = requestText({ instance: door.instance, method, path, project, key, after, time, nonce, body: hash });
  const headers = {
    authorization: `${PAGE_SCHEME} ${door.key.id}`,
    [PAGE_HEADERS.time]: time,
    [PAGE_HEADERS.nonce]: nonce,
    [PAGE_HEADERS.signature]: await sign(door.key.privateKey, signed),
    ...(project === '' ? {} : { 'baton-project-path': project }),
    ...(key === '' ? {} : { 'idempotency-key': key }),
    ...(after === '' ? {} : { [PAGE_HEADERS.after]: after }),
    ...(method === 'POST' ? JSON_HEADERS : {}),
  };
  const response = await send(path, { method, headers, signal, ...(method === 'POST' ? { body } : {}) });
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const text = isStream ? '' : await readText(response);
  const proof = response.headers.get(PAGE_HEADERS.answer) ?? '';
  const said = answerText(nonce, response.status, await sha256Hex(utf8(text)));
  const isProved = proof !== '' && (await isSignedBy(door.key.daemonKey, said, proof));
  if (!isProved) throw new NoAnswer(isRefusedKey(response) ? 'foreign' : 'failing');
  return { response, text };
}

/**
 * Reports whether the daemon refused the key: it cannot sign for a page whose key it does not know, so the page
 * authenticates again.
 */
function isRefusedKey({ status }: Response): boolean {
  return status === 401 || status === 403;
}

async function send(path: string, request: RequestInit): Promise<Response> {
  try {
    return await fetch(path, { ...request, cache: 'no-store', credentials: 'omit', redirect: 'error' });
  } catch (error) {
    throw unreachable(error);
  }
}

async function readText(response: Response): Promise<string> {
  try {
    return await response.text();
  } catch (error) {
    throw unreachable(error);
  }
}

export function unreachable(error: unknown): NoAnswer {
  if (error instanceof NoAnswer) return error;
  return new NoAnswer(error instanceof DOMException && error.name === 'TimeoutError' ? 'hung' : 'gone');
}

async function sign(key: CryptoKey, text: string): Promise<string> {
  return toBase64Url(new Uint8Array(await crypto.subtle.sign('Ed25519', key, utf8(text))));
}

async function isSignedBy(publicKey: string, text: string, signature: string): Promise<boolean> {
  try {
    const key = await crypto.subtle.importKey('raw', fromBase64Url(publicKey), 'Ed25519', false, ['verify']);
    return await crypto.subtle.verify('Ed25519', key, fromBase64Url(signature), utf8(text));
  } catch {
    return false;
  }
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
