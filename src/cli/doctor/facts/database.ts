import { makePostgresDatabase } from '../../../ledger/postgres/postgres-store.ts';
import { sql } from '../../../ledger/postgres/statement.ts';
import { StoreProblem } from '../../../ledger/store.ts';
import { findStoreUrlProblem, renderStoreUrl } from '../../../protocol/store-url.ts';
import type { DatabaseFacts } from '../checks/store.ts';

/** Asks a database for its clock and the size of the chain. Migrates nothing. */
export async function readDatabase(url: string, project: string): Promise<DatabaseFacts> {
  const wrong = findStoreUrlProblem(url);
  if (wrong !== undefined) return { url: 'the URL', answer: { ok: false, ...wrong } };
  const shown = renderStoreUrl(url);
  const database = makePostgresDatabase({ url, patienceMs: PATIENCE_MS, silenceMs: PATIENCE_MS });
  const connection = database.connect('doctor');
  try {
    await connection.query(CLOCK);
    const sentMs = Date.now();
    const [clock] = await connection.query(CLOCK);
    const tripMs = Date.now() - sentMs;
    const [head] = await connection.query(SIZE, [project]);
    const offsetMs = Math.round(sentMs + tripMs / 2 - Number(clock?.['now_ms'] ?? 0));
    return { url: shown, answer: { ok: true, latencyMs: tripMs, entries: Number(head?.['size'] ?? 0), offsetMs } };
  } catch (error) {
    return { url: shown, answer: { ok: false, ...describe(error) } };
  } finally {
    await connection.close();
    await database.close();
  }
}

function describe(error: unknown): { readonly message: string; readonly hint: string } {
  if (error instanceof StoreProblem) return error.problem;
  const message = error instanceof Error ? error.message : String(error);
  return { message, hint: 'If the database was never prepared: baton store init' };
}

const CLOCK = sql('doctor_clock')`SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::text AS now_ms`;

const SIZE = sql('doctor_size')`
  SELECT coalesce(max(e.seq), 0)::text AS size
  FROM baton.project p LEFT JOIN baton.entry e ON e.project = p.id WHERE p.name = $1`;

const PATIENCE_MS = 4000;
