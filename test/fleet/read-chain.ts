import { type Entry, parseEntry } from '../../src/ledger/format/entry.ts';
import type { Store } from '../../src/ledger/store.ts';
import { verifyLedger } from '../../src/ledger/verify/verify-ledger.ts';
import { nodeVerifier } from '../../src/ledger/writer/keys.ts';
import { requireStore } from '../postgres/open-store.ts';

/** Reads every entry from the database itself. */
export async function readChain(url: string, project: string): Promise<Entry[]> {
  return withStore(url, project, async (store) => {
    const entries: Entry[] = [];
    const { size } = await store.head();
    for await (const batch of store.entries({ from: 1, to: size })) {
      for (const { bytes, seq } of batch) {
        const entry = parseEntry(bytes);
        if (!entry.ok) throw new Error(`entry ${seq} cannot be read`);
        entries.push(entry.value);
      }
    }
    return entries;
  });
}

/** Finds the first fault in the chain; undefined if all of it verifies, including every signature. */
export async function findChainFault(url: string, project: string): Promise<string | undefined> {
  return withStore(url, project, async (store) => {
    const verified = await verifyLedger(store, { project, verifier: nodeVerifier, allSignatures: true });
    return verified.ok ? undefined : `${verified.findings[0].seq}: ${verified.findings[0].problem.message}`;
  });
}

async function withStore<T>(url: string, project: string, use: (store: Store) => Promise<T>): Promise<T> {
  // A reader must not open a chain that the hosts have not compared.
  const store = await requireStore({ url, project, opening: 'daemons' });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}
