import { setTimeout } from 'node:timers/promises';
import type { Store } from '../../ledger/store.ts';
import { type HostOnRecord, readFleetOnRecord } from '../store/fleet-on-record.ts';

/** Resolves when the ledger has the host with this key, these labels and this number of agents. */
export async function waitUntilAdmitted(
  store: Pick<Store, 'entries' | 'head'>,
  { host, key, labels, agents }: HostOnRecord & { readonly host: string },
  everyMs = 500,
): Promise<void> {
  for (let seen = -1; ; await setTimeout(everyMs)) {
    const { size } = await store.head();
    if (size === seen) continue;
    seen = size;
    const known = (await readFleetOnRecord(store))?.hosts.get(host);
    if (known?.key === key && known.agents === agents && known.labels.join() === labels.join()) return;
  }
}
