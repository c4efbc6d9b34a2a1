import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { headOf, makeCommit } from '../../../test/postgres/make-commit.ts';
import { requireStore } from '../../../test/postgres/open-store.ts';
import { type PostgresServer, startPostgres } from '../../../test/postgres/server.ts';
import { GENESIS } from '../format/chain.ts';
import type { Commit } from '../store.ts';
import { createLogin } from './create-login.ts';
import { initStore } from './init-store.ts';
import { quarantineAfter } from './quarantine.ts';

/** What the database itself refuses to a program that has the login of a host. */
let server: PostgresServer;
let url: string;
const clients: Client[] = [];
const first = makeCommit('demo', GENESIS, { n: 1 });

beforeAll(async () => {
  server = await startPostgres();
  url = await server.createDatabase();
  await initStore(url, { role: 'baton_shared' });
  for (const project of ['demo', 'other']) {
    const store = await requireStore({ url, project });
    await store.append(first);
    await store.close();
  }
});

afterAll(async () => {
  await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
  await server.stop();
});

describe('the login of a host', () => {
  it('records in its project, with everything checked that the database can know', async () => {
    const { client, store } = await hostOf('alpha');
    const commit = makeCommit('demo', headOf(first), { n: 2 }, { n: 3 });
    expect(await store.append(commit)).toMatchObject({ ok: true });
    await store.close();
    const next = makeCommit('demo', headOf(commit), { n: 4 });
    const [entry] = next.entries;
    const elsewhere = makeCommit('demo', { ...headOf(commit), hash: headOf(first).hash }, { n: 4 });
    const later = makeCommit('demo', { ...headOf(commit), size: 8 }, { n: 4 });
    const call = (bytes: Uint8Array, hash: Uint8Array, after: Commit['after'] = next.after, project = 1) =>
      client.query({
        text: `SELECT baton.append($1, $2, $3, gen_random_uuid(), ARRAY[$4::bytea], ARRAY[$5::bytea], 'note')`,
        values: [project, after.size, after.hash, hash, bytes],
      });
    await expect(call(entry.bytes, headOf(first).hash)).rejects.toThrow('is not that of its bytes');
    for (const { entries } of [elsewhere, later])
      await expect(call(entries[0].bytes, entries[0].hash)).rejects.toThrow('do not follow entry 3');
    const large = Buffer.alloc(65_536, 'x');
    await expect(call(large, entry.hash)).rejects.toThrow('entry 4 has 65536 bytes');
    await expect(call(Buffer.alloc(0), entry.hash)).rejects.toThrow('entry 4 has 0 bytes');
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await expect(call(entry.bytes, entry.hash)).rejects.toThrow('READ COMMITTED');
    await client.query('ROLLBACK');
    await expect(call(entry.bytes, entry.hash, headOf(first))).rejects.toThrow('do not follow entry 1');
    // The row that was refused is correct in itself.
    expect((await call(entry.bytes, entry.hash)).rows).toEqual([{ append: null }]);
  });

  it.each([
    `INSERT INTO baton.entry VALUES (1, 5, sha256('x'), NULL, NULL, 'x')`,
    `INSERT INTO baton.blob VALUES (1, sha256('x'), 'x')`,
    `UPDATE baton.login SET disabled_at = NULL`,
    `INSERT INTO baton.shared_role VALUES (session_user)`,
    `SELECT baton.quarantine_after(1, 0, '')`,
  ])('may not run %s', async (statement) => {
    const { client, store } = await hostOf('alpha');
    await store.close();
    await expect(client.query(statement)).rejects.toThrow(/permission denied|row-level security/);
  });

  it('does not see, open or change another project, and begins none', async () => {
    const { client, store } = await hostOf('alpha');
    await store.close();
    const projects = await client.query('SELECT DISTINCT project FROM baton.entry');
    expect(projects.rows).toEqual([{ project: 1 }]);
    expect((await client.query('SELECT name FROM baton.project')).rows).toEqual([{ name: 'demo' }]);
    for (const name of ['other', 'new'])
      await expect(client.query('SELECT baton.open_project($1)', [name])).rejects.toThrow('may not use this project');
    expect((await owner().then((all) => all.query(`SELECT FROM baton.project WHERE name = 'new'`))).rowCount).toBe(0);
    const commit = makeCommit('other', headOf(first), { n: 2 });
    const [{ hash, bytes }] = commit.entries;
    const append = client.query({
      text: `SELECT baton.append(2, 1, $1, gen_random_uuid(), ARRAY[$2::bytea], ARRAY[$3::bytea], 'note')`,
      values: [commit.after.hash, hash, bytes],
    });
    await expect(append).rejects.toThrow('may not use this project');
    await expect(client.query(`SELECT baton.put_blob(2, sha256('x'), 'x')`)).rejects.toThrow('may not use');
    await expect(client.query(`SELECT baton.disable_login(2, 'beta')`)).rejects.toThrow('may not use');
    await expect(client.query(`INSERT INTO baton.lease VALUES (2, 'T1', 1, 'alpha', now(), false)`)).rejects.toThrow(
      'row-level security',
    );
  });

  it('ends with the removal of the host, and so do its open sessions', async () => {
    const { client, store, url: own } = await hostOf('beta');
    await store.close();
    client.on('error', () => undefined);
    const idle = await connect(own);
    idle.on('error', () => undefined);
    const { client: alpha, store: others } = await hostOf('alpha');
    await alpha.query(`SELECT baton.forget_host(1, 'beta')`);
    for (const session of [client, idle])
      await expect(session.query('SELECT 1')).rejects.toThrow(/terminat|not queryable|closed|EPIPE|ECONNRESET/i);
    await expect(connect(own)).rejects.toThrow('not permitted to log in');
    expect((await others.head()).size).toBeGreaterThan(0);
    await others.close();
    // Admitted again, it gets its login back.
    expect(await createLogin(url, { project: 'demo', host: 'beta' })).toMatchObject({ ok: true, isNew: false });
    await (await connect(own)).query(`SELECT baton.open_project('demo')`);
  });

  it('ends even if the owner may not close the role', async () => {
    const { client, store } = await hostOf('gamma');
    await store.close();
    const all = await owner();
    await all.query(`UPDATE baton.login SET disabled_at = now() WHERE host = 'gamma'`);
    expect((await client.query('SELECT FROM baton.entry')).rowCount).toBe(0);
    await expect(client.query(`SELECT baton.open_project('demo')`)).rejects.toThrow('may not use this project');
  });
});

describe('quarantine', () => {
  it('moves the rows after an entry out of the ledger, keeps them, and leaves the triggers on', async () => {
    const all = await owner();
    const head = headOf(first);
    await all.query(
      `INSERT INTO baton.entry VALUES (2, 2, sha256('x'), NULL, NULL, 'junk'), (2, 9, sha256('y'), NULL, NULL, 'y')`,
    );
    expect(await quarantineAfter(url, 2, { ...head, hash: Buffer.alloc(32) })).toMatchObject({ ok: false });
    expect(await quarantineAfter(url, 2, head)).toEqual({ ok: true, rows: 2 });
    const kept = await all.query(
      `SELECT project, seq::int, convert_from(bytes, 'UTF8') AS bytes FROM baton.quarantine`,
    );
    expect(kept.rows).toEqual([
      { project: 2, seq: 2, bytes: 'junk' },
      { project: 2, seq: 9, bytes: 'y' },
    ]);
    const store = await requireStore({ url, project: 'other' });
    expect(await store.inspect()).toEqual([]);
    expect(await store.append(makeCommit('other', head, { n: 2 }))).toMatchObject({ ok: true });
    await store.close();
    for (const table of ['entry', 'tile', 'quarantine'])
      await expect(all.query(`DELETE FROM baton.${table}`)).rejects.toThrow('append-only');
  });
});

async function hostOf(host: string) {
  const made = await createLogin(url, { project: 'demo', host });
  if (!made.ok) throw new Error(made.problem.message);
  return {
    url: made.url,
    client: await connect(made.url),
    store: await requireStore({ url: made.url, project: 'demo' }),
  };
}

async function owner(): Promise<Client> {
  return connect(url);
}

async function connect(address: string): Promise<Client> {
  const client = new Client({ connectionString: address });
  clients.push(client);
  await client.connect();
  return client;
}
