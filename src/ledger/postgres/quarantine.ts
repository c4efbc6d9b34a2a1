import type { Failure, Head } from '../store.ts';
import { asOwner } from './init-store.ts';

export interface Quarantined {
  readonly ok: true;
  readonly rows: number;
}

/** Moves every row after an entry into `baton.quarantine`, as the owner of the schema. */
export async function quarantineAfter(ownerUrl: string, project: number, head: Head): Promise<Quarantined | Failure> {
  return asOwner(ownerUrl, 'baton store repair', async (client): Promise<Quarantined> => {
    const text = 'SELECT baton.quarantine_after($1, $2, $3) AS rows';
    const { rows } = await client.query<{ rows: string }>({ text, values: [project, head.size, head.hash] });
    return { ok: true, rows: Number(rows[0]?.rows ?? 0) };
  });
}
