import { GENESIS } from '../format/chain.ts';
import type { Verifier } from '../format/crypto.ts';
import { toHex } from '../format/bytes.ts';
import { Frontier } from '../format/merkle.ts';
import type { Store } from '../store.ts';
import { KEY_ADDED, Keyring } from './keyring.ts';
import { LedgerWalk, type LedgerFault } from './walk.ts';

/**
 * The ledger as NDJSON: one `{entry, hash}` a line, then the checkpoint that covers them. The canonical bytes are already
 * JSON, so they are put in as they are. Where a further key was added, the checkpoint that makes it trusted stands
 * right behind it. What a running writer adds after the newest checkpoint is left out.
 *
 * Everything is checked on its way out, since nobody should carry away an export that does not hold: it ends with what is
 * wrong, and before that entry.
 */
export async function* exportLedger(
  store: Store,
  verifier: Verifier,
  project: string,
): AsyncGenerator<string, LedgerFault | undefined> {
  const newest = await store.findCheckpoint();
  if (!newest) return undefined;
  const start = { head: GENESIS, frontier: new Frontier(verifier.sha256) };
  const walk = new LedgerWalk(verifier, project, new Keyring(verifier, project), start);
  let keyAdded = false;
  for await (const batch of store.entries({ from: 1, to: newest.size })) {
    let lines = '';
    for (const step of walk.steps(batch)) {
      if (!step.ok) return step.finding;
      const { seq, hash, note } = step.stored;
      lines += `{"entry":${step.text},"hash":"${toHex(hash)}"}\n`;
      keyAdded ||= seq > 1 && step.entry.type === KEY_ADDED;
      if (note === undefined) continue;
      const fault = await walk.findFault({ size: seq, note }, seq === newest.size ? 'check' : 'trust');
      if (fault) return fault;
      if (keyAdded && seq !== newest.size) lines += `${JSON.stringify({ checkpoint: note })}\n`;
      keyAdded = false;
    }
    yield lines;
  }
  yield `${JSON.stringify({ checkpoint: newest.note })}\n`;
  return undefined;
}
