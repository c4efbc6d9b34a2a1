import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { answerText, greetingText, PAGE_HEADERS, PAGE_PATHS } from '../../api/page-access.ts';
import { sha256Hex, toBase64Url, utf8 } from './bytes.ts';
import { openDoor } from './door.ts';
import * as store from './page-store.ts';

vi.mock('./page-store.ts');

const ORIGIN = 'http://127.0.0.1:20001';
const INSTANCE = 'i'.repeat(22);
const daemon = await makeKeys();
const daemonKey = toBase64Url(new Uint8Array(await crypto.subtle.exportKey('raw', daemon.publicKey)));

async function makeKeys(): Promise<CryptoKeyPair> {
  const pair = await crypto.subtle.generateKey('Ed25519', false, ['sign', 'verify']);
  if (!('privateKey' in pair)) throw new Error('a key pair was expected');
  return pair;
}

async function signed(text: string): Promise<string> {
  return toBase64Url(new Uint8Array(await crypto.subtle.sign('Ed25519', daemon.privateKey, utf8(text))));
}

/** Makes the daemon answer with this status, signed if it knows the page's key. */
function serve(status: number, isSigned: boolean): void {
  vi.stubGlobal('location', { origin: ORIGIN });
  vi.stubGlobal('fetch', async (path: string, request: { body: string; headers: Record<string, string> }) => {
    if (path === PAGE_PATHS.greeting) {
      const { challenge } = JSON.parse(request.body) as { challenge: string };
      const signature = await signed(greetingText({ origin: ORIGIN, challenge, instance: INSTANCE }));
      return Response.json({ ok: true, result: { instance: INSTANCE, signature } });
    }
    const nonce = request.headers[PAGE_HEADERS.nonce] ?? '';
    const answer = await signed(answerText(nonce, status, await sha256Hex(utf8('{}'))));
    return new Response('{}', { status, headers: isSigned ? { [PAGE_HEADERS.answer]: answer } : {} });
  });
}

beforeEach(async () => {
  const { privateKey } = await makeKeys();
  vi.mocked(store.readKept).mockResolvedValue({ id: 'page-1-00000000', name: 'page-1', privateKey, daemonKey });
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.clearAllMocks();
});

const open = async () => openDoor({}, AbortSignal.timeout(5000));

it('opens with a key that the daemon accepts', async () => {
  serve(200, true);
  expect(await open()).toMatchObject({ instance: INSTANCE, key: { id: 'page-1-00000000' } });
});

it('forgets a key that the daemon does not know', async () => {
  serve(401, false);
  await expect(open()).rejects.toThrow('no longer accepts');
  expect(store.removeKept).toHaveBeenCalledOnce();
});

it('keeps a key that the daemon knows, even if this request is refused', async () => {
  serve(403, true);
  await expect(open()).rejects.toMatchObject({ why: 'failing' });
  expect(store.removeKept).not.toHaveBeenCalled();
});

it('sends nothing but a challenge to a server that cannot prove itself', async () => {
  serve(200, true);
  const stranger = openDoor({ code: 'c', daemonKey: 'A'.repeat(43) }, AbortSignal.timeout(5000));
  await expect(stranger).rejects.toMatchObject({ why: 'foreign' });
  expect(store.writeKept).not.toHaveBeenCalled();
});
