import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { headOf, makeCommit } from '../../../test/postgres/make-commit.ts';
import { requireStore } from '../../../test/postgres/open-store.ts';
import { type PostgresServer, startPostgres } from '../../../test/postgres/server.ts';
import { GENESIS } from '../format/chain.ts';
import type { Store } from '../store.ts';
import { nodeSha256 } from '../writer/keys.ts';
import { openPostgresStore } from './postgres-store.ts';

let server: PostgresServer;
let url: string;
let store: Store;
let attacker: Client;

beforeAll(async () => {
  server = await startPostgres();
});

afterAll(async () => {
  await server.stop();
});

describe('append-only by the database itself', () => {
  beforeAll(async () => {
    await open();
    await fill();
    return close;
  });

  it.each(['project', 'entry', 'tile', 'blob'])('refuses to change %s', async (table) => {
    await expect(attacker.query(`DELETE FROM baton.${table}`)).rejects.toThrow('append-only');
    await expect(attacker.query(`TRUNCATE baton.${table} CASCADE`)).rejects.toThrow('append-only');
    const column = { project: 'name' }[table] ?? 'hash';
    const change = `UPDATE baton.${table} SET ${column} = ${column}`;
    await expect(attacker.query(change)).rejects.toThrow('append-only');
    expect(await store.inspect()).toEqual([]);
  });

  it('is not evaded by a session in the role of a replica', async () => {
    await attacker.query('SET session_replication_role = replica');
    await expect(attacker.query('DELETE FROM baton.entry')).rejects.toThrow('append-only');
    await attacker.query('RESET session_replication_role');
  });

  it('is not evaded by an upsert', async () => {
    const upsert = `INSERT INTO baton.entry VALUES (1, 1, sha256('x'), NULL, NULL, 'x') ON CONFLICT (project, seq) DO UPDATE SET bytes = 'x'`;
    await expect(attacker.query(upsert)).rejects.toThrow('append-only');
  });
});

describe('inspect', () => {
  beforeEach(openForOne);

  it.each([
    ['ALTER TABLE baton.entry DISABLE TRIGGER append_only', 'the trigger append_only on baton.entry is missing'],
    ['DROP TRIGGER append_only ON baton.blob', 'the trigger append_only on baton.blob is missing'],
    ['ALTER TABLE baton.tile ENABLE TRIGGER append_only', 'the trigger append_only on baton.tile is missing'],
    [
      `INSERT INTO baton.entry VALUES (1, 9, sha256('x'), NULL, NULL, 'x')`,
      'there are 3 entries, numbered from 1 to 9',
    ],
    [`INSERT INTO baton.tile VALUES (1, 8, 0, sha256('x'))`, 'there is a tile at level 8, number 0'],
  ])('finds what %s did', async (sql, finding) => {
    await fill();
    expect(await store.inspect()).toEqual([]);
    await attacker.query(sql);
    expect((await store.inspect()).join('\n')).toContain(finding);
  });
});

describe('append', () => {
  beforeEach(openForOne);

  it('returns the real head if the commit was made for another one', async () => {
    const head = await fill();
    await store.head();
    await attacker.query('ALTER TABLE baton.entry DISABLE TRIGGER append_only');
    await attacker.query(`UPDATE baton.entry SET hash = sha256('x') WHERE seq = 2`);
    expect(await store.append(makeCommit('demo', head, { n: 3 }))).toMatchObject({
      ok: false,
      conflict: { size: 2, hash: nodeSha256(Buffer.from('x')) },
    });
    expect((await store.head()).size).toBe(2);
  });

  it('writes nothing if foreign entries are in the way', async () => {
    const head = await fill();
    await attacker.query(`INSERT INTO baton.entry VALUES (1, 4, sha256('x'), NULL, NULL, 'x')`);
    expect(await store.append(makeCommit('demo', head, { n: 3 }, { n: 4 }))).toMatchObject({
      ok: false,
      problem: { code: 'ledger/damaged' },
    });
    expect((await attacker.query('SELECT seq::int FROM baton.entry ORDER BY seq')).rows).toEqual([
      { seq: 1 },
      { seq: 2 },
      { seq: 4 },
    ]);
  });

  it('refuses numbers with a gap, and lists that do not match', async () => {
    const commit = makeCommit('demo', GENESIS, { n: 1 }, { n: 2 }, { n: 3 });
    const [first, , third] = commit.entries;
    if (third === undefined) throw new Error('three entries');
    await expect(store.append({ ...commit, entries: [first, third] })).rejects.toThrow('does not follow');
    const call = `SELECT baton.append(1, 0, decode(repeat('00', 32), 'hex'), gen_random_uuid(),
      array_fill(sha256('x'), '{3}'), array_fill('x'::bytea, '{2}'), 'note')`;
    await expect(attacker.query(call)).rejects.toThrow('has 3 hashes and 2 entries');
    expect((await store.head()).size).toBe(0);
  });

  it("waits for the disk regardless of the database's setting", async () => {
    await attacker.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET synchronous_commit = off`);
    const other = await requireStore({ url, project: 'demo' });
    await attacker.query(`
      CREATE TABLE seen (setting text);
      CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN INSERT INTO public.seen VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$;
      CREATE TRIGGER look AFTER INSERT ON baton.entry FOR EACH ROW EXECUTE FUNCTION look()`);
    const first = makeCommit('demo', GENESIS, { n: 1 });
    await other.append(first);
    await attacker.query(`SET synchronous_commit = off`);
    const second = makeCommit('demo', headOf(first), { n: 2 });
    await attacker.query({
      text: `SELECT baton.append(1, 1, $1, gen_random_uuid(), ARRAY[$2::bytea], ARRAY[$3::bytea], 'note')`,
      values: [second.after.hash, second.entries[0].hash, second.entries[0].bytes],
    });
    expect((await attacker.query('SELECT setting FROM seen')).rows).toEqual([{ setting: 'on' }, { setting: 'on' }]);
    await other.close();
  });
});

describe('opening', () => {
  beforeEach(openForOne);

  it('lets daemons that start together migrate once', async () => {
    const fresh = await server.createDatabase();
    const names = ['a', 'b', 'a', 'b', 'a', 'b'];
    const stores = await Promise.all(names.map((project) => requireStore({ url: fresh, project })));
    await Promise.all(stores.map((each) => each.close()));
    const client = new Client({ connectionString: fresh });
    await client.connect();
    expect((await client.query('SELECT number FROM baton.migration')).rows).toEqual([
      { number: 1 },
      { number: 2 },
      { number: 3 },
    ]);
    expect((await client.query('SELECT name FROM baton.project ORDER BY name')).rows).toEqual([
      { name: 'a' },
      { name: 'b' },
    ]);
    await client.end();
  });

  it('accepts a newer schema that only adds, and refuses one that this Baton cannot read', async () => {
    await attacker.query(`INSERT INTO baton.migration VALUES (9998, 'adds only', now(), 3)`);
    await (await requireStore({ url, project: 'demo' })).close();
    await attacker.query(`INSERT INTO baton.migration VALUES (9999, 'later', now(), 9999)`);
    expect(await openPostgresStore({ url, project: 'demo' })).toMatchObject({
      ok: false,
      problem: { code: 'ledger/newer-ledger' },
    });
  });

  it('reports a wrong address at once, and an unreachable server after a while', async () => {
    const wrong = url.replace(/[^/]+$/, 'nowhere');
    expect(await openPostgresStore({ url: wrong, project: 'demo' })).toMatchObject({
      problem: { code: 'ledger/cannot-open', hint: 'Create the database that `store` names.' },
    });
    const silent = 'postgres://postgres@%2Fnowhere/demo';
    expect(await openPostgresStore({ url: silent, project: 'demo', patienceMs: 20 })).toMatchObject({
      problem: { code: 'ledger/unavailable', message: expect.stringContaining('does not answer') },
    });
  });
});

async function openForOne(): Promise<() => Promise<void>> {
  await open();
  return close;
}

async function open(): Promise<void> {
  url = await server.createDatabase();
  store = await requireStore({ url, project: 'demo' });
  attacker = new Client({ connectionString: url });
  await attacker.connect();
}

async function close(): Promise<void> {
  await store.close();
  await attacker.end();
}

async function fill(): Promise<{ size: number; hash: Uint8Array }> {
  const commit = makeCommit('demo', GENESIS, { n: 1 }, { n: 2 });
  await store.putBlob(nodeSha256(Buffer.from('blob')), Buffer.from('blob'));
  expect(await store.append(commit)).toMatchObject({ ok: true });
  return headOf(commit);
}
