import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nodeSha256, nodeVerifier } from '../writer/keys.ts';
import { testSigner } from '../writer/ledger.cases.ts';
import { toHex } from './bytes.ts';
import {
  findSigningKey,
  keyId,
  parseCheckpoint,
  parseKey,
  parseNote,
  renderKey,
  signCheckpoint,
} from './checkpoint.ts';

const signer = testSigner();
const key = { name: 'baton/demo', publicKey: signer.publicKey };
const root = nodeSha256(new Uint8Array(1));
const note = signCheckpoint(nodeSha256, 'demo', { size: 42, root }, 40, signer);

describe('a checkpoint', () => {
  it('is a signed note that others can read', () => {
    const [origin, size, , previous, empty, signature] = note.split('\n');
    expect([origin, size, previous, empty]).toEqual(['baton/demo', '42', 'previous 40', '']);
    expect(signature?.startsWith('— baton/demo ')).toBe(true);
  });

  it('is parsed and verified again', async () => {
    const checkpoint = parseCheckpoint(note);
    if (!checkpoint.ok) throw new Error(checkpoint.problems[0].message);
    expect(checkpoint.value.size).toBe(42);
    expect(toHex(checkpoint.value.root)).toBe(toHex(root));
    expect(await findSigningKey(nodeVerifier, checkpoint.value.note, [key])).toEqual(key);
    const other = { ...key, publicKey: testSigner(2).publicKey };
    expect(await findSigningKey(nodeVerifier, checkpoint.value.note, [other])).toBeUndefined();
  });

  it('does not survive a changed byte', async () => {
    const bytes = new TextEncoder().encode(note);
    for (const [at, byte] of bytes.entries()) {
      for (const mask of [1, 2, 4, 8, 16, 32, 64, 128]) {
        const changed = bytes.slice();
        changed[at] = byte ^ mask;
        const checkpoint = parseCheckpoint(new TextDecoder().decode(changed));
        const good = checkpoint.ok && (await findSigningKey(nodeVerifier, checkpoint.value.note, [key]));
        expect(good || undefined).toBeUndefined();
      }
    }
  });

  it('skips the signatures of unknown keys', async () => {
    const both = `${note}— witness.example ${Buffer.from('0123456789').toString('base64')}==\n`.replace('==\n', '\n');
    const parsed = parseNote(both);
    expect(parsed.ok && parsed.value.signatures.length).toBe(2);
    expect(parsed.ok && (await findSigningKey(nodeVerifier, parsed.value, [key]))).toEqual(key);
  });

  it.each(['', '\n', '\n\n', 'a\n1\nb\n', `${note}x`, `x${note.replaceAll('\n\n', '\n')}`, 'x'.repeat(9_000)])(
    'is not found in %j',
    (text) => {
      expect(parseCheckpoint(text).ok).toBe(false);
    },
  );

  it('never makes the parser throw', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(parseCheckpoint(text).ok).toBe(false);
      }),
    );
  });
});

describe('a public key', () => {
  it('has the id of the C2SP text', () => {
    const text = Buffer.concat([Buffer.from('baton/demo\n'), Buffer.of(1), signer.publicKey]);
    expect(toHex(keyId(nodeSha256, key))).toBe(toHex(nodeSha256(text)).slice(0, 8));
  });

  it('is written and read back', () => {
    const text = renderKey(nodeSha256, key);
    expect(text).toMatch(/^baton\/demo\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}$/);
    const parsed = parseKey(nodeSha256, text);
    expect(parsed.ok && { ...parsed.value, publicKey: toHex(parsed.value.publicKey) }).toEqual({
      name: key.name,
      publicKey: toHex(key.publicKey),
    });
    expect(parseKey(nodeSha256, text.replace('demo', 'other')).ok).toBe(false);
    expect(parseKey(nodeSha256, '').ok).toBe(false);
  });
});
