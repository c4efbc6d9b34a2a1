import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requireStore } from '../../../test/postgres/open-store.ts';
import { type PostgresServer, startPostgres } from '../../../test/postgres/server.ts';
import { createKeyAddedDraft } from '../verify/keyring.ts';
import { verifyLedger } from '../verify/verify-ledger.ts';
import { nodeSha256, nodeVerifier } from '../writer/keys.ts';
import { openTestLedger, record, testDraft, testSigner } from '../writer/ledger.cases.ts';
import type { Ledger } from '../writer/ledger.ts';

const options = { project: 'demo', verifier: nodeVerifier, allSignatures: true } as const;
let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres();
});

afterAll(async () => {
  await server.stop();
});

it('is written by two daemons with keys of their own, each catching up with the other', async () => {
  const url = await server.createDatabase();
  const first = await openTestLedger({ store: await requireStore({ url, project: 'demo' }) });
  await record(first, [createKeyAddedDraft(nodeSha256, 'demo', testSigner(2), 'system:ledger')]);
  const second = await openTestLedger({
    store: await requireStore({ url, project: 'demo' }),
    signer: testSigner(2),
  });
  await Promise.all([recordUntilIn(first, 30), recordUntilIn(second, 30)]);
  expect(await verifyLedger(first.store, options)).toMatchObject({ ok: true, size: 62 });
  await first.close();
  await second.close();
});

describe('verify, which names the first faulty entry', () => {
  let url: string;
  let ledger: Ledger;
  let attacker: Client;

  beforeAll(async () => {
    url = await server.createDatabase();
    ledger = await openTestLedger({ store: await requireStore({ url, project: 'demo' }) });
    await ledger.store.putBlob(nodeSha256(Buffer.from('blob')), Buffer.from('blob'));
    for (let n = 1; n < 260; n += 37) {
      await record(
        ledger,
        Array.from({ length: 37 }, (_, i) => testDraft(n + i)),
      );
    }
    attacker = new Client({ connectionString: url });
    await attacker.connect();
  });

  afterAll(async () => {
    await attacker.end();
    await ledger.close();
  });

  it.each([
    ['a changed entry', `UPDATE baton.entry SET bytes = overlay(bytes PLACING 'x' FROM 9) WHERE seq = 7`, 7],
    ['a changed hash', `UPDATE baton.entry SET hash = sha256('x') WHERE seq = 7`, 7],
    ['a changed number', `UPDATE baton.entry SET seq = 900 WHERE seq = 7`, 7],
    ['a missing entry', `DELETE FROM baton.entry WHERE seq = 7`, 7],
    ['an added entry', `INSERT INTO baton.entry VALUES (1, 261, sha256('x'), NULL, NULL, 'x')`, 261],
    ['a missing end', `DELETE FROM baton.entry WHERE seq > 250`, 224],
    ['a changed signature', `UPDATE baton.entry SET note = overlay(note PLACING 'AAAA' FROM 120)`, 1],
    ['a missing checkpoint', `UPDATE baton.entry SET note = NULL WHERE seq = 75`, 112],
    ['a changed tile', `UPDATE baton.tile SET hash = sha256('x')`, 1],
    ['a missing tile', `DELETE FROM baton.tile`, 1],
    ['a changed blob', `UPDATE baton.blob SET bytes = 'x'`, null],
    ['a missing trigger', `DROP TRIGGER append_only ON baton.tile`, null],
  ])('finds %s', async (_name, tampering, seq) => {
    expect(await verifyLedger(ledger.store, options)).toMatchObject({ ok: true, size: 260 });
    await withTampering(attacker, tampering, async () => {
      const store = await requireStore({ url, project: 'demo' });
      const verified = await verifyLedger(store, options);
      await store.close();
      expect(verified.ok ? 'missed' : verified.findings[0].seq).toBe(seq);
    });
  });
});

/** Records `count` entries. Repeats an append that conflicts with the other writer. */
async function recordUntilIn(ledger: Ledger, count: number): Promise<void> {
  for (let n = 0; n < count;) {
    const recorded = await ledger.append([testDraft(n)]);
    if (recorded.ok) n += 1;
    else if ('problem' in recorded) throw new Error(recorded.problem.message);
  }
}

const TABLES = ['entry', 'tile', 'blob'];

/** Runs `check` on a ledger that a superuser has tampered with, and restores the ledger afterwards. */
async function withTampering(attacker: Client, tampering: string, check: () => Promise<void>): Promise<void> {
  const each = (sql: (table: string) => string): Promise<unknown> => attacker.query(TABLES.map(sql).join(';'));
  await each((table) => `CREATE TEMP TABLE ${table} AS TABLE baton.${table}`);
  await each((table) => `ALTER TABLE baton.${table} DISABLE TRIGGER append_only`);
  await attacker.query(tampering);
  await each((table) => enable(table));
  try {
    await check();
  } finally {
    await each((table) => `DROP TRIGGER IF EXISTS append_only ON baton.${table}`);
    await each((table) => `TRUNCATE baton.${table}; INSERT INTO baton.${table} TABLE pg_temp.${table}`);
    await each(
      (table) => `CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON baton.${table}
        FOR EACH STATEMENT EXECUTE FUNCTION baton.refuse(); ${enable(table)}; DROP TABLE pg_temp.${table}`,
    );
  }
}

/** Enables the triggers again, except those that were dropped. */
function enable(table: string): string {
  return `DO $$ BEGIN ALTER TABLE baton.${table} ENABLE ALWAYS TRIGGER append_only;
    EXCEPTION WHEN undefined_object THEN NULL; END $$`;
}
