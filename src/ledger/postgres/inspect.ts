import type { PostgresConnection } from './connection.ts';
import { requireText, type Statement } from './statement.ts';

/** What nobody who reads entries would notice: guards that are gone, and rows outside of the numbering. */
export async function findPostgresFaults(connection: PostgresConnection, project: number): Promise<readonly string[]> {
  const rows = await connection.query(INSPECT, [project]);
  return rows.map((row) => requireText(row, 'finding'));
}

// `tgenabled` is A for a trigger that fires always, the session's role notwithstanding.
const INSPECT: Statement = {
  name: 'inspect',
  isSlow: true,
  text: `
    WITH tip AS (
      SELECT count(*) AS rows, min(seq) AS lowest, max(seq) AS highest FROM baton.entry WHERE project = $1
    )
    SELECT format('the trigger append_only on baton.%s is missing or switched off', tab) AS finding
      FROM unnest('{project,entry,tile,blob}'::text[]) AS tab
      WHERE NOT EXISTS (
        SELECT FROM pg_trigger t
        WHERE t.tgrelid = to_regclass('baton.' || tab) AND t.tgname = 'append_only' AND t.tgenabled = 'A'
          AND t.tgfoid = to_regproc('baton.refuse'))
    UNION ALL
    SELECT format('there are %s entries, numbered from %s to %s', rows, lowest, highest)
      FROM tip WHERE rows > 0 AND (lowest <> 1 OR highest <> rows)
    UNION ALL
    SELECT format('there is a tile at level %s, number %s, which belongs to no entries', x.level, x.index)
      FROM baton.tile x, tip t
      WHERE x.project = $1
        AND (x.level NOT IN (8, 16, 24, 32, 40, 48) OR x.index < 0
          OR (x.index + 1)::numeric * power(2::numeric, x.level) > coalesce(t.highest, 0))`,
};
