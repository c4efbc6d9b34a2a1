import { makePostgresDatabase } from '../../../ledger/postgres/postgres-store.ts';
import { sql } from '../../../ledger/postgres/statement.ts';
import { StoreProblem } from '../../../ledger/store.ts';
import { findStoreUrlProblem, renderStoreUrl } from '../../../protocol/store-url.ts';
import type { DatabaseFacts } from '../checks/store.ts';

/** Reads a database's clock and the size of the chain. Migrates nothing. */
export async function readDatabase(url: string, project: string, patienceMs = PATIENCE_MS): Promise<DatabaseFacts> {
  const wrong = findStoreUrlProblem(url);
  if (wrong !== undefined) return { url: 'the URL', answer: { ok: false, message: wrong.message, hint: wrong.hint } };
  const shown = renderStoreUrl(url);
  const database = makePostgresDatabase({ url, patienceMs, silenceMs: patienceMs });
  const connection = database.connect('doctor');
  try {
    const [schema] = await connection.query(SCHEMA);
    if (schema?.['is_there'] !== true) return { url: shown, answer: { ok: false, ...NOT_PREPARED } };
    const sentMs = Date.now();
    const [clock] = await connection.query(CLOCK);
    const tripMs = Date.now() - sentMs;
    const [head] = await connection.query(SIZE, [project]);
    const [rights] = await connection.query(RIGHTS);
    const offsetMs = Math.round(sentMs + tripMs / 2 - Number(clock?.['now_ms'] ?? 0));
    return {
      url: shown,
      answer: {
        ok: true,
        latencyMs: tripMs,
        entries: Number(head?.['size'] ?? 0),
        offsetMs,
        rights: rightsOf(rights?.['rights']),
      },
    };
  } catch (error) {
    return { url: shown, answer: { ok: false, ...describe(error) } };
  } finally {
    await connection.close();
    await database.close();
  }
}

function rightsOf(rights: unknown): 'owner' | 'own' | 'shared' {
  return rights === 'owner' || rights === 'own' ? rights : 'shared';
}

function describe(error: unknown): { readonly message: string; readonly hint: string } {
  if (!(error instanceof StoreProblem)) throw error;
  const { message, hint } = error.problem;
  return { message, hint };
}

const NOT_PREPARED = {
  message: 'the database has no tables of Baton',
  hint: 'Prepare it: baton store init. A daemon whose role may create tables does it when it starts: baton up',
} as const;

const SCHEMA = sql('doctor_schema')`SELECT to_regclass('baton.entry') IS NOT NULL AS is_there`;

const CLOCK = sql('doctor_clock')`SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::text AS now_ms`;

const SIZE = sql('doctor_size')`
  SELECT coalesce(max(e.seq), 0)::text AS size
  FROM baton.project p LEFT JOIN baton.entry e ON e.project = p.id WHERE p.name = $1`;

const RIGHTS = sql('doctor_rights')`SELECT baton.my_rights() AS rights`;

const PATIENCE_MS = 4000;
