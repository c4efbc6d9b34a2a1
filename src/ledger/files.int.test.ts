import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { toHex } from './format/bytes.ts';
import { nodeVerifier, openKeyFile, readKeyFile } from './writer/keys.ts';
import { ledgerPlace, OutsideCopyFile } from './writer/ledger-files.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-ledger-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the key file', () => {
  it('is created at the first start, readable only by its owner, and stays the same', () => {
    const path = join(folder, 'keys', 'ledger.pem');
    expect(readKeyFile(path)).toBeUndefined();
    const [first, second] = [openKeyFile(path), openKeyFile(path)];
    if (!first.ok || !second.ok) throw new Error('no key');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(toHex(first.value.publicKey)).toBe(toHex(second.value.publicKey));
    const message = Buffer.from('message');
    const signature = first.value.sign(message);
    expect(nodeVerifier.verifyEd25519(second.value.publicKey, message, signature)).toBe(true);
    expect(nodeVerifier.verifyEd25519(second.value.publicKey, message, signature.subarray(1))).toBe(false);
  });

  it('is refused if others can read it, or if it is not a key', () => {
    const path = join(folder, 'ledger.pem');
    openKeyFile(path);
    chmodSync(path, 0o644);
    expect(openKeyFile(path)).toMatchObject({ ok: false, problems: [{ hint: `Run: chmod 600 ${path}` }] });
    chmodSync(path, 0o600);
    writeFileSync(path, 'no key');
    expect(openKeyFile(path)).toMatchObject({ ok: false, problems: [{ code: 'ledger/bad-key-file' }] });
    expect(readFileSync(path, 'utf8')).toBe('no key');
    expect(readKeyFile(folder)).toMatchObject({ ok: false });
  });
});

describe('the outside file', () => {
  it('holds the last copy, and nothing of a longer earlier one', () => {
    const path = join(folder, 'checkpoint');
    const file = new OutsideCopyFile(path);
    expect(file.read()).toBeUndefined();
    writeFileSync(path, 'somebody else’s, and longer than ours');
    for (const note of ['first\n', 'second, longer\n', 'third\n']) {
      file.write(note);
      expect(file.read()).toBe(note);
    }
    file.sync();
    file.close();
    expect(readFileSync(path, 'utf8')).toBe('third\n');
    expect(statSync(path).size).toBe(6);
  });
});

describe('the place of a ledger', () => {
  it('is inside the state folder', () => {
    expect(ledgerPlace('/state', 'demo')).toEqual({
      project: 'demo',
      ledger: '/state/projects/demo.db',
      outside: '/state/projects/demo.db.checkpoint',
      key: '/state/key.pem',
    });
  });
});
