import { createPrivateKey, generateKeyPairSync, randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { accepted, refused, type Parsed } from '../../protocol/shape/problem.ts';
import type { Signer } from '../format/crypto.ts';
import { ledgerProblem } from '../format/ledger-problem.ts';
import { signerOf } from './node-crypto.ts';

/** The signing key of this machine: made at the first start, mode 0600, never leaving it. */
export function openKeyFile(path: string): Parsed<Signer> {
  return readKeyFile(path) ?? makeKeyFile(path);
}

/** The key where there is one. Somebody who only reads a ledger must not make one. */
export function readKeyFile(path: string): Parsed<Signer> | undefined {
  let pem: string;
  try {
    if ((statSync(path).mode & 0o077) !== 0) {
      return badKey(`the signing key ${path} can be read by others`, `Run: chmod 600 ${path}`);
    }
    pem = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    return badKey(`the signing key ${path} cannot be read: ${String(error)}`, 'Check who owns the file.');
  }
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === 'ed25519') return accepted(signerOf(key));
  } catch {
    // Said below, in the same words for every kind of rubbish.
  }
  return badKey(`${path} is not an Ed25519 key`, 'Put the key back from a backup; a new one is not trusted.');
}

function makeKeyFile(path: string): Parsed<Signer> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const { privateKey } = generateKeyPairSync('ed25519');
  const draft = `${path}.${randomUUID()}`;
  writeFileSync(draft, privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600, flush: true });
  try {
    // A link fails where the name is taken: of two first starts at once, the second uses the first one's key.
    linkSync(draft, path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    rmSync(draft);
  }
  return readKeyFile(path) ?? badKey(`the signing key ${path} has gone again`, 'Start once more.');
}

function badKey(message: string, hint: string): Parsed<Signer> {
  return refused(ledgerProblem('ledger/bad-key-file', message, hint));
}
