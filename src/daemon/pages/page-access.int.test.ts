import { generateKeyPairSync, hash, type KeyObject, sign } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { keyRequestText, requestText } from '../../api/page-access.ts';
import { stateFiles } from '../../api/state-folder.ts';
import { signerOf } from '../../ledger/writer/keys.ts';
import { PageAccess } from './page-access.ts';

/** A state folder whose clock the test sets. */
function scene() {
  const stateDir = mkdtempSync(join(tmpdir(), 'baton-pages-'));
  onTestFinished(() => rmSync(stateDir, { recursive: true }));
  const { privateKey } = generateKeyPairSync('ed25519');
  const clock = { now: Date.parse('2026-01-01T00:00:00.000Z') };
  const start = (port = 20_001, key: KeyObject = privateKey): PageAccess => {
    const pages = new PageAccess({ stateDir, signer: signerOf(key), now: () => clock.now });
    pages.listensOn(port);
    return pages;
  };
  return { stateDir, clock, start, file: stateFiles(stateDir).pageKeys };
}

function codeOf(pages: PageAccess): string {
  return new URLSearchParams(new URL(pages.open(undefined).url).hash.slice(1)).get('code') ?? '';
}

function request(pages: PageAccess, code = codeOf(pages)) {
  const keys = generateKeyPairSync('ed25519');
  const publicKey = keys.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64url');
  const { origin, instance } = pages;
  const text = keyRequestText({ origin, instance, code, publicKey });
  const signature = sign(null, Buffer.from(text), keys.privateKey).toString('base64url');
  return { ...pages.requestKey({ code, publicKey, signature }), privateKey: keys.privateKey };
}

/** The arguments of `check` for a request without a body. */
function signedGet({ instance }: PageAccess, privateKey: KeyObject, now: number) {
  const [time, nonce] = [String(now), 'n'.repeat(22)];
  const sent = { method: 'GET', path: '/', project: '', key: '', after: '' };
  const text = requestText({ ...sent, instance, time, nonce, body: hash('sha256', '') });
  const signature = sign(null, Buffer.from(text), privateKey).toString('base64url');
  return [
    { time, nonce, signature },
    { ...sent, body: Buffer.alloc(0) },
  ] as const;
}

function addKey(pages: PageAccess) {
  const added = request(pages);
  if (!added.ok) throw new Error(added.error.message);
  return added.key;
}

describe('the key of an editor', () => {
  it('is named after the editor, and numbered like those of pages', () => {
    const pages = scene().start();
    addKey(pages);
    const code = new URLSearchParams(new URL(pages.open('/repo', 'zed').url).hash.slice(1)).get('code') ?? '';
    const added = request(pages, code);
    expect(added).toMatchObject({ key: { name: 'acp-zed-2', id: expect.stringMatching(/^acp-zed-2-[0-9a-f]{8}$/) } });
  });
});

describe('the keys of pages', () => {
  it('survive a restart, with the time of their last use', () => {
    const { start, clock } = scene();
    const pages = start();
    const { privateKey, ...added } = request(pages);
    const key = 'key' in added ? added.key : undefined;
    if (key === undefined) throw new Error('there is no key');
    clock.now += 90_000;
    expect(pages.check(key, ...signedGet(pages, privateKey, clock.now))).toBeUndefined();
    pages.close();
    const again = start();
    expect(again.listKeys()).toEqual([{ ...key, last_used_at: '2026-01-01T00:01:30.000Z' }]);
    expect(again.findKey(key.id)).toMatchObject({ id: key.id });
    expect(addKey(start())).toMatchObject({ name: 'page-2' });
  });

  it('are revoked when the port or the key of the daemon is another one', () => {
    const { start } = scene();
    const key = addKey(start());
    const moved = start(20_002);
    expect([moved.findKey(key.id), moved.revoked]).toMatchObject([undefined, [{ id: key.id }]]);
    // The key stays revoked even if the port is the same again.
    expect(start().findKey(key.id)).toBeUndefined();
    const second = addKey(start());
    const { privateKey } = generateKeyPairSync('ed25519');
    expect(start(20_001, privateKey).findKey(second.id)).toBeUndefined();
  });

  it('are revoked with the reason, and without the command line of the other program', () => {
    const { start, stateDir, clock } = scene();
    addKey(start());
    const pages = new PageAccess({
      stateDir,
      signer: signerOf(generateKeyPairSync('ed25519').privateKey),
      now: () => clock.now,
    });
    pages.listensOn(20_002, { from: 20_001, holder: { pid: 7, program: 'node', command: 'node x --secret=y' } });
    expect(pages.revoked).toMatchObject([{ reason: 'port 20001 was taken by node (process 7)' }]);
    expect(pages.open(undefined).port_moved).toMatchObject({ from: 20_001, taken_by: 'process 7: node x --secret=y' });
  });

  it('are at most 64: the one that was unused for longest makes room', () => {
    const { start, clock } = scene();
    const pages = start();
    const keys = Array.from({ length: 64 }, () => {
      clock.now += 1000;
      return addKey(pages);
    });
    addKey(pages);
    expect(pages.listKeys()).toHaveLength(64);
    expect(pages.revoked.map(({ id }) => id)).toEqual([keys[0]?.id]);
  });

  it('are none if the file is damaged', () => {
    const { start, file } = scene();
    addKey(start());
    writeFileSync(file, `${readFileSync(file, 'utf8').slice(0, 40)}…`);
    expect(start().listKeys()).toEqual([]);
    writeFileSync(file, '{"keys":[{"id":7},null,"x"],"next":-1}');
    expect(addKey(start())).toMatchObject({ name: 'page-1' });
  });

  it('are invalid once they are revoked, even if the file cannot be written', () => {
    const { start, file } = scene();
    const pages = start();
    const key = addKey(pages);
    mkdirSync(`${file}.draft`);
    expect(() => pages.revoke(() => true, 'lost')).toThrow('EISDIR');
    expect(pages.findKey(key.id)).toBeUndefined();
  });

  it('are invalid for a request whose body was being sent when they were revoked', () => {
    const { start, clock } = scene();
    const pages = start();
    const { privateKey, ...added } = request(pages);
    const key = 'key' in added ? added.key : undefined;
    if (key === undefined) throw new Error('there is no key');
    const sent = signedGet(pages, privateKey, clock.now);
    pages.revoke(() => true, 'lost');
    expect(pages.check(key, ...sent)).toMatchObject({ error: { code: 'bad-page-key' } });
  });

  it('end their running requests when they are revoked, and no others', () => {
    const pages = scene().start();
    const [key, other] = [addKey(pages), addKey(pages)];
    const [ended, over, kept] = [new AbortController(), new AbortController(), new AbortController()];
    pages.track(key.id, ended);
    pages.track(key.id, over)();
    pages.track(other.id, kept);
    pages.revoke(({ id }) => id === key.id, 'lost');
    expect([ended, over, kept].map(({ signal }) => signal.aborted)).toEqual([true, false, false]);
  });
});

describe('codes', () => {
  it('are limited if they are wrong, and a right one still counts', () => {
    const { start, clock } = scene();
    const pages = start();
    const codes = Array.from({ length: 25 }, () => {
      const answer = request(pages, 'wrong');
      return answer.ok ? 'ok' : answer.error.code;
    });
    expect(codes.indexOf('rate-limited')).toBe(20);
    expect(request(pages)).toMatchObject({ ok: true });
    clock.now += 60_000;
    expect(request(pages, 'wrong')).toMatchObject({ error: { code: 'bad-page-code' } });
  });

  it('expire after a minute', () => {
    const { start, clock } = scene();
    const pages = start();
    const code = codeOf(pages);
    clock.now += 60_000;
    expect(request(pages, code)).toMatchObject({ error: { code: 'bad-page-code' } });
  });

  it('give no key if the file cannot be written', () => {
    const { start, file } = scene();
    const pages = start();
    mkdirSync(`${file}.draft`);
    expect(request(pages)).toMatchObject({ error: { code: 'store-unavailable' } });
    expect(pages.listKeys()).toEqual([]);
  });
});
