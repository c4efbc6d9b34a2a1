import type { Client } from 'pg';
import { checkStoreUrl } from '../../protocol/store-url.ts';
import { behindPooler } from './problems.ts';

/** Settings that the statements rely on. A standby counts as unavailable: state is read from the primary only. */
export async function applySettings(
  client: Client,
  { durable, url }: { readonly durable: boolean; readonly url: string },
): Promise<void> {
  const { rows } = await client.query<{ standby: boolean; pid: number }>({ text: APPLY, values: [durable] });
  const [row] = rows;
  if (row === undefined || row.standby)
    throw new Error('the server is a standby, and entries are read from the primary only');
  // Detects a pooler, which answers with its own process id. In transaction mode a pooler would lose settings, LISTEN
  // and prepared statements.
  const checked = checkStoreUrl(url);
  const accepts = checked.ok && checked.value.hasSessionPooler;
  if (!accepts && row.pid !== processIdOf(client)) throw behindPooler();
}

/** The process id of the server's BackendKeyData, which the driver's types do not declare. */
function processIdOf(client: Client): unknown {
  return 'processID' in client ? client.processID : undefined;
}

// Keeps a server's `remote_apply`, which is stricter than `on`.
const APPLY = `
  SELECT set_config('synchronous_commit', CASE
           WHEN NOT $1::boolean THEN 'off'
           WHEN current_setting('synchronous_commit') = 'remote_apply' THEN 'remote_apply'
           ELSE 'on' END, false),
         set_config('default_transaction_isolation', 'read committed', false),
         set_config('bytea_output', 'hex', false),
         pg_is_in_recovery() AS standby,
         pg_backend_pid() AS pid`;
