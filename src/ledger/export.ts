import { toHex } from './hex.ts';
import type { Store } from './store.ts';
import { KEY_ADDED } from './trust.ts';

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const KEY_MARK = `"type":"${KEY_ADDED}"`;

/**
 * The ledger as NDJSON: one `{entry, hash}` a line, then the checkpoint that covers them. The canonical bytes are already
 * JSON, so they are put in as they are. Where a further key was added, the checkpoint that makes it trusted stands
 * right behind it. What a running writer adds after the newest checkpoint is left out.
 */
export async function* exportLedger(store: Store): AsyncGenerator<string> {
  const newest = await store.findCheckpoint();
  if (!newest) return;
  let keyAdded = false;
  for await (const batch of store.entries({ from: 1, to: newest.size })) {
    let lines = '';
    for (const { seq, bytes, hash, note } of batch) {
      const entry = decoder.decode(bytes);
      lines += `{"entry":${entry},"hash":"${toHex(hash)}"}\n`;
      keyAdded ||= seq > 1 && entry.includes(KEY_MARK);
      if (note === undefined) continue;
      if (keyAdded && seq !== newest.size) lines += `${JSON.stringify({ checkpoint: note })}\n`;
      keyAdded = false;
    }
    yield lines;
  }
  yield `${JSON.stringify({ checkpoint: newest.note })}\n`;
}
