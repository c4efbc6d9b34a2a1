import type { Connection } from './connection.ts';
import { requireText, type Statement } from './statement.ts';

/** What nobody who reads entries would notice: guards that are gone, and rows outside of the numbering. */
export async function inspect(connection: Connection, project: number): Promise<readonly string[]> {
  const rows = await connection.query(INSPECT, [project]);
  return rows.map((row) => requireText(row, 'finding'));
}

// `tgenabled` is A for a trigger that fires always, the session's role notwithstanding.
const INSPECT: Statement = {
  name: 'inspect',
  isSlow: true,
  text: `
    WITH guard (name, tab) AS (VALUES
      ('append_only', 'project'), ('append_only', 'head'), ('only_grows', 'head'), ('append_only', 'entry'),
      ('append_only', 'tile'), ('append_only', 'checkpoint'), ('append_only', 'blob')
    ), tip AS (
      SELECT count(*) AS rows, min(seq) AS lowest, max(seq) AS highest FROM baton.entry WHERE project = $1
    )
    SELECT format('The trigger %s on baton.%s is missing or switched off.', g.name, g.tab) AS finding
      FROM guard g WHERE NOT EXISTS (
        SELECT FROM pg_trigger t
        WHERE t.tgrelid = to_regclass('baton.' || g.tab) AND t.tgname = g.name AND t.tgenabled = 'A')
    UNION ALL
    SELECT format('There are %s entries numbered from %s to %s.', rows, lowest, highest)
      FROM tip WHERE rows > 0 AND (lowest <> 1 OR highest <> rows)
    UNION ALL
    SELECT format('The head says %s entries, the last one has the number %s.', h.size, coalesce(t.highest, 0))
      FROM baton.head h, tip t WHERE h.project = $1 AND h.size <> coalesce(t.highest, 0)
    UNION ALL
    SELECT format('The head names another hash than entry %s has.', h.size)
      FROM baton.head h JOIN baton.entry e ON e.project = h.project AND e.seq = h.size
      WHERE h.project = $1 AND e.hash <> h.hash
    UNION ALL
    SELECT format('The project has %s heads.', count(*)) FROM baton.head WHERE project = $1 HAVING count(*) <> 1
    UNION ALL
    SELECT format('There is a tile at level %s, number %s, which does not exist.', x.level, x.index)
      FROM baton.tile x, tip t
      WHERE x.project = $1
        AND (x.level NOT IN (8, 16, 24, 32, 40, 48, 56) OR x.index < 0
          OR (x.index + 1)::numeric * power(2::numeric, x.level) > coalesce(t.highest, 0))
    UNION ALL
    SELECT format('There is a checkpoint of %s entries, and only %s are there.', c.size, coalesce(t.highest, 0))
      FROM baton.checkpoint c, tip t
      WHERE c.project = $1 AND (c.size < 1 OR c.size > coalesce(t.highest, 0))`,
};
