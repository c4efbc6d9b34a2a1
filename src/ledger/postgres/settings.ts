import type { Client } from 'pg';

export interface PostgresSettings {
  /** Commits wait for the disk (and for a synchronous standby, where there is one). */
  readonly durable: boolean;
}

/**
 * The settings that the store's statements rely on, whatever the server's defaults are. A standby counts as a server
 * that is away: state is read from the primary only.
 */
export async function applySettings(client: Client, { durable }: PostgresSettings): Promise<void> {
  const { rows } = await client.query<{ standby: boolean }>({ text: APPLY, values: [durable] });
  if (rows[0]?.standby !== false)
    throw new Error('the server is a standby, and entries are read from the primary only');
}

// `remote_apply` is even stricter than `on`: where the server asks for it, it stays.
const APPLY = `
  SELECT set_config('synchronous_commit', CASE
           WHEN NOT $1::boolean THEN 'off'
           WHEN current_setting('synchronous_commit') = 'remote_apply' THEN 'remote_apply'
           ELSE 'on' END, false),
         set_config('default_transaction_isolation', 'read committed', false),
         set_config('bytea_output', 'hex', false),
         pg_is_in_recovery() AS standby`;
