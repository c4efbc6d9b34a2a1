import { createHash } from 'node:crypto';
import type { Draft } from '../format/draft.ts';
import type { Store } from '../store.ts';
import { KEY_REVOKED, renderProjectKey } from '../verify/keyring.ts';
import { nodeSha256 } from '../writer/keys.ts';
import { testDraft, testSigner } from '../writer/ledger.cases.ts';

/** A digest of everything that a copy must have in common with its ledger, and the number of entries. */
export async function contentOf(store: Store): Promise<string> {
  const digest = createHash('sha256');
  let count = 0;
  for await (const batch of store.entries({ from: 1 })) {
    for (const { seq, hash, bytes, note = '' } of batch) digest.update(`${seq} ${note}`).update(hash).update(bytes);
    count += batch.length;
  }
  for (const level of [8, 16]) for (const hash of await store.tiles(level, { from: 0 })) digest.update(hash);
  return `${count} entries ${digest.digest('hex')}`;
}

export function drafts(count: number, from = 0): Draft[] {
  return Array.from({ length: count }, (_, i) => testDraft(from + i));
}

export function revocationOf(key: number): Draft {
  const { publicKey } = testSigner(key);
  return { actor: 'operator:ada', type: KEY_REVOKED, data: { key: renderProjectKey(nodeSha256, 'demo', publicKey) } };
}
