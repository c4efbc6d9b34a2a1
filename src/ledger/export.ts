import { toHex } from './hex.ts';
import type { Store } from './store.ts';

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * The ledger as NDJSON: one `{entry, hash}` a line, then the checkpoint that covers them. The canonical bytes are already
 * JSON, so they are put in as they are. What a running writer adds after the checkpoint is left out.
 */
export async function* exportLedger(store: Store): AsyncGenerator<string> {
  const newest = await store.findCheckpoint();
  if (!newest) return;
  for await (const batch of store.entries({ from: 1, to: newest.size })) {
    let lines = '';
    for (const { bytes, hash } of batch) {
      lines += `{"entry":${decoder.decode(bytes)},"hash":"${toHex(hash)}"}\n`;
    }
    yield lines;
  }
  yield `${JSON.stringify({ checkpoint: newest.note })}\n`;
}
