import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hash,
  type KeyObject,
  randomUUID,
  sign,
  verify,
} from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { accepted, type Parsed } from '../../protocol/shape/problem.ts';
import type { Sha256, Signer, Verifier } from '../format/crypto.ts';
import { refuse } from '../format/limits.ts';

/** The signing key of this machine: created at the first start with mode 0600. */
export function openKeyFile(path: string): Parsed<Signer> {
  return readKeyFile(path) ?? makeKeyFile(path);
}

/** Reads the key if there is one. A process that only reads a ledger must not create a key. */
export function readKeyFile(path: string): Parsed<Signer> | undefined {
  let pem: string;
  try {
    if ((statSync(path).mode & 0o077) !== 0) {
      return badKey(`the signing key ${path} can be read by other users`, `Run: chmod 600 ${path}`);
    }
    pem = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    return badKey(`the signing key ${path} cannot be read: ${reasonOf(error)}`, `See who owns it: ls -l ${path}`);
  }
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === 'ed25519') return accepted(signerOf(key));
  } catch {
    // Continues to the message for a key of another type.
  }
  return badKey(`${path} is not an Ed25519 key`, 'Restore the key from a backup; a new key is not trusted.');
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error && (error.code === 'EACCES' || error.code === 'EPERM') ? 'permission denied' : error.message;
}

function makeKeyFile(path: string): Parsed<Signer> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const { privateKey } = generateKeyPairSync('ed25519');
  const draft = `${path}.${randomUUID()}`;
  writeFileSync(draft, privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600, flush: true });
  try {
    // Creating a link fails if the name exists: of two simultaneous first starts, the second uses the first one's key.
    linkSync(draft, path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    rmSync(draft);
  }
  return readKeyFile(path) ?? badKey(`the signing key ${path} disappeared`, 'Start again.');
}

function badKey(message: string, hint: string): Parsed<Signer> {
  return refuse('ledger/bad-key-file', message, hint);
}

/**
 * Latin1 text is cheap, because its buffer comes from the pool; allocating a buffer result takes longer than hashing.
 */
export const nodeSha256: Sha256 = (bytes) => Buffer.from(hash('sha256', bytes, 'latin1'), 'latin1');

export const nodeVerifier: Verifier = {
  sha256: nodeSha256,
  verifyEd25519: (publicKey, message, signature) =>
    signature.length === 64 && verify(null, message, importPublicKey(publicKey), signature),
};

export function signerOf(privateKey: KeyObject): Signer {
  return {
    publicKey: new Uint8Array(createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(-32)),
    sign: (message) => sign(null, message, privateKey),
  };
}

/** The encoding that precedes the 32 bytes of every Ed25519 key (RFC 8410). */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

function importPublicKey(publicKey: Uint8Array): KeyObject {
  return createPublicKey({ key: Buffer.concat([SPKI_PREFIX, publicKey]), format: 'der', type: 'spki' });
}
