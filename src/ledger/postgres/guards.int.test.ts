import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { headOf, makeCommit } from '../../../test/postgres/make-commit.ts';
import { startPostgres, type PostgresServer } from '../../../test/postgres/server.ts';
import { GENESIS } from '../chain.ts';
import type { Store } from '../store.ts';
import { openPostgresStore } from './postgres-store.ts';

let server: PostgresServer;
let url: string;
let store: Store;
let attacker: Client;

beforeAll(async () => {
  server = await startPostgres();
});

beforeEach(async () => {
  url = await server.createDatabase();
  store = await openPostgresStore({ url, project: 'demo' });
  attacker = new Client({ connectionString: url });
  await attacker.connect();
  return async () => {
    await store.close();
    await attacker.end();
  };
});

afterAll(async () => {
  await server.stop();
});

describe('append-only by the database itself', () => {
  it.each(['project', 'head', 'entry', 'tile', 'checkpoint', 'blob'])(
    'refuses to change %s',
    async (table) => {
      await fill();
      await expect(attacker.query(`DELETE FROM baton.${table}`)).rejects.toThrow('append-only');
      await expect(attacker.query(`TRUNCATE baton.${table} CASCADE`)).rejects.toThrow('append-only');
      const column = { project: 'name', head: 'size', checkpoint: 'note' }[table] ?? 'hash';
      const value = { project: `'other'`, head: 'size - 1', checkpoint: `'x'` }[table] ?? `sha256('x')`;
      await expect(attacker.query(`UPDATE baton.${table} SET ${column} = ${value}`)).rejects.toThrow(
        'append-only',
      );
      expect(await store.inspect()).toEqual([]);
    },
  );

  it('is not evaded by a session in the role of a replica', async () => {
    await fill();
    await attacker.query('SET session_replication_role = replica');
    await expect(attacker.query('DELETE FROM baton.entry')).rejects.toThrow('append-only');
  });

  it('is not evaded by an upsert', async () => {
    await fill();
    const upsert = `INSERT INTO baton.entry VALUES (1, 1, sha256('x'), 'x') ON CONFLICT (project, seq) DO UPDATE SET bytes = 'x'`;
    await expect(attacker.query(upsert)).rejects.toThrow('append-only');
  });
});

describe('inspect', () => {
  it.each([
    [
      'ALTER TABLE baton.entry DISABLE TRIGGER append_only',
      'The trigger append_only on baton.entry is missing',
    ],
    ['DROP TRIGGER only_grows ON baton.head', 'The trigger only_grows on baton.head is missing'],
    [`INSERT INTO baton.entry VALUES (1, 9, sha256('x'), 'x')`, 'There are 3 entries numbered from 1 to 9'],
    [`INSERT INTO baton.tile VALUES (1, 8, 0, sha256('x'))`, 'There is a tile at level 8, number 0'],
    [
      `INSERT INTO baton.checkpoint VALUES (1, 9, 'x', gen_random_uuid())`,
      'There is a checkpoint of 9 entries',
    ],
    [`UPDATE baton.head SET size = 7`, 'The head says 7 entries, the last one has the number 2'],
  ])('finds what %s did', async (sql, finding) => {
    await fill();
    expect(await store.inspect()).toEqual([]);
    await attacker.query(sql);
    expect((await store.inspect()).join('\n')).toContain(finding);
  });
});

describe('append', () => {
  it('refuses to go on where the last entry is not the one that the head names', async () => {
    const head = await fill();
    expect(await store.head()).toMatchObject({ size: 2 });
    await attacker.query('ALTER TABLE baton.entry DISABLE TRIGGER append_only');
    await attacker.query(`UPDATE baton.entry SET hash = sha256('x') WHERE seq = 2`);
    expect(await store.append(makeCommit('demo', head, { n: 3 }))).toMatchObject({
      ok: false,
      problem: { code: 'ledger.damaged', message: expect.stringContaining('entry 2 is not the one') },
    });
    expect((await store.head()).size).toBe(2);
  });

  it('refuses numbers with a gap before it asks the server, and in the database too', async () => {
    const commit = makeCommit('demo', GENESIS, { n: 1 }, { n: 2 }, { n: 3 });
    const [first, , third] = commit.entries;
    if (third === undefined) throw new Error('three entries');
    await expect(store.append({ ...commit, entries: [first, third] })).rejects.toThrow('does not follow');
    const call = `SELECT baton.append(1, 0, decode(repeat('00', 32), 'hex'), gen_random_uuid(), '{1,3,3}',
      array_fill(sha256('x'), '{3}'), array_fill('x'::bytea, '{3}'), '{}', '{}', '{}', 'note')`;
    await expect(attacker.query(call)).rejects.toThrow('not numbered without a gap');
    expect((await store.head()).size).toBe(0);
  });

  it('waits for the disk even where the database says otherwise', async () => {
    await attacker.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET synchronous_commit = off`);
    const other = await openPostgresStore({ url, project: 'demo' });
    await attacker.query(`
      CREATE TABLE seen (setting text);
      CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN INSERT INTO seen VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$;
      CREATE TRIGGER look AFTER INSERT ON baton.entry FOR EACH ROW EXECUTE FUNCTION look()`);
    const first = makeCommit('demo', GENESIS, { n: 1 });
    await other.append(first);
    await attacker.query(`SET synchronous_commit = off`);
    const second = makeCommit('demo', headOf(first), { n: 2 });
    await attacker.query({
      text: `SELECT baton.append(1, 1, $1, gen_random_uuid(), '{2}', ARRAY[$2::bytea], ARRAY[$3::bytea], '{}', '{}', '{}', 'note')`,
      values: [second.after.hash, second.entries[0].hash, second.entries[0].bytes],
    });
    expect((await attacker.query('SELECT setting FROM seen')).rows).toEqual([
      { setting: 'on' },
      { setting: 'on' },
    ]);
    await other.close();
  });
});

describe('opening', () => {
  it('lets daemons that start together migrate once', async () => {
    const fresh = await server.createDatabase();
    const names = ['a', 'b', 'a', 'b', 'a', 'b'];
    const stores = await Promise.all(names.map((project) => openPostgresStore({ url: fresh, project })));
    await Promise.all(stores.map((each) => each.close()));
    const client = new Client({ connectionString: fresh });
    await client.connect();
    expect((await client.query('SELECT number FROM baton.migration')).rows).toEqual([{ number: 1 }]);
    expect((await client.query('SELECT name FROM baton.project ORDER BY name')).rows).toEqual([
      { name: 'a' },
      { name: 'b' },
    ]);
    await client.end();
  });

  it('refuses a database of a newer Baton', async () => {
    await attacker.query(`INSERT INTO baton.migration VALUES (9999, 'later')`);
    await expect(openPostgresStore({ url, project: 'demo' })).rejects.toMatchObject({
      problem: { code: 'ledger.schema_too_new' },
    });
  });

  it('says at once what is wrong with the address, and after a while that nobody answers', async () => {
    const wrong = url.replace(/[^/]+$/, 'nowhere');
    await expect(openPostgresStore({ url: wrong, project: 'demo' })).rejects.toMatchObject({
      problem: { code: 'ledger.store_unavailable', hint: 'Create the database that `store` names.' },
    });
    const silent = 'postgres://postgres@%2Fnowhere/demo';
    await expect(openPostgresStore({ url: silent, project: 'demo', patienceMs: 20 })).rejects.toMatchObject({
      problem: { code: 'ledger.server_away', message: expect.stringContaining('does not answer') },
    });
  });
});

async function fill(): Promise<{ size: number; hash: Uint8Array }> {
  const commit = makeCommit('demo', GENESIS, { n: 1 }, { n: 2 });
  await store.putBlob(Buffer.alloc(32, 1), Buffer.from('blob'));
  expect(await store.append(commit)).toMatchObject({ ok: true });
  return headOf(commit);
}
