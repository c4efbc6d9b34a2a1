import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { headOf, makeCommit } from '../../../test/postgres/make-commit.ts';
import { requireStore } from '../../../test/postgres/open-store.ts';
import { type PostgresServer, startPostgres } from '../../../test/postgres/server.ts';
import { GENESIS } from '../format/chain.ts';
import { nodeSha256 } from '../writer/keys.ts';
import { initStore } from './init-store.ts';
import { openPostgresStore } from './postgres-store.ts';

let server: PostgresServer;
let url: string;
let daemon: Client;

beforeAll(async () => {
  server = await startPostgres();
  url = await server.createDatabase();
});

afterAll(async () => {
  await daemon.end();
  await server.stop();
});

describe('a store with a role for daemons', () => {
  let daemonUrl: string;

  beforeAll(async () => {
    const made = await initStore(url, { role: 'baton_daemon' });
    if (!made.ok) throw new Error(made.problem.message);
    daemonUrl = made.url;
    daemon = new Client({ connectionString: daemonUrl });
    await daemon.connect();
  });

  it('can be created again', async () => {
    expect(await initStore(url, { role: 'baton_daemon' })).toMatchObject({ ok: true, isRoleNew: false });
  });

  it('lets daemons record', async () => {
    const store = await requireStore({ url: daemonUrl, project: 'demo' });
    const commit = makeCommit('demo', GENESIS, { n: 1 });
    expect(await store.append(commit)).toMatchObject({ ok: true });
    await store.putBlob(nodeSha256(Buffer.from('blob')), Buffer.from('blob'));
    expect(await store.append(makeCommit('demo', headOf(commit), { n: 2 }, { n: 3 }))).toMatchObject({ ok: true });
    expect(await store.inspect()).toEqual([]);
    await store.close();
  });

  it.each([
    `INSERT INTO baton.entry VALUES (1, 4, sha256('x'), NULL, NULL, 'x')`,
    `INSERT INTO baton.blob VALUES (1, sha256('x'), 'x')`,
    `INSERT INTO baton.tile VALUES (1, 8, 0, sha256('x'))`,
    `INSERT INTO baton.project (name) VALUES ('x')`,
    `SELECT baton.quarantine_after(1, 0, '')`,
    `UPDATE baton.login SET disabled_at = NULL`,
    `INSERT INTO baton.shared_role VALUES ('baton_daemon')`,
    'UPDATE baton.entry SET note = NULL',
    'DELETE FROM baton.blob',
    'TRUNCATE baton.tile',
    'ALTER TABLE baton.entry DISABLE TRIGGER append_only',
    'DROP TABLE baton.snapshot',
    'CREATE TABLE baton.more (x int)',
    `INSERT INTO baton.migration VALUES (99, 'x')`,
    `CREATE OR REPLACE FUNCTION baton.refuse() RETURNS trigger LANGUAGE sql AS 'SELECT 1'`,
  ])('does not let them run %s', async (statement) => {
    await expect(daemon.query(statement)).rejects.toThrow(/permission denied|must be owner/);
  });

  it.each(['host', 'caretaker', 'lease', 'join_request', 'generation', 'replica_report'])(
    'lets them change baton.%s',
    async (table) => {
      await expect(daemon.query(`DELETE FROM baton.${table} WHERE false`)).resolves.toMatchObject({ rowCount: 0 });
    },
  );
});

describe('initStore refuses', () => {
  it.each([
    ['a role that could change the ledger', 'postgres', 'store/role'],
    ['a name that is no role', 'x; DROP TABLE y', 'store/role'],
  ])('%s', async (_name, role, code) => {
    expect(await initStore(url, { role })).toMatchObject({ ok: false, problem: { code } });
  });

  it('to make a role if the owner may not, and accepts one that exists', async () => {
    const other = await server.createDatabase();
    const client = new Client({ connectionString: other });
    await client.connect();
    await client.query(
      `CREATE ROLE plain_owner LOGIN; ALTER DATABASE ${new URL(other).pathname.slice(1)} OWNER TO plain_owner`,
    );
    const ownerUrl = other.replace('postgres@', 'plain_owner@');
    expect(await initStore(ownerUrl, { role: 'made_later' })).toMatchObject({
      problem: { code: 'store/role', hint: expect.stringContaining('CREATE ROLE made_later LOGIN') },
    });
    await client.query('CREATE ROLE made_later LOGIN');
    await client.end();
    expect(await initStore(ownerUrl, { role: 'made_later' })).toMatchObject({ ok: true, isRoleNew: false });
  });

  it('a URL with a password', async () => {
    const secret = url.replace('postgres@', 'postgres:geheim@');
    expect(await initStore(secret, { role: 'baton' })).toMatchObject({
      ok: false,
      problem: { code: 'store/password-in-url' },
    });
  });

  it('a server that does not answer', async () => {
    expect(await initStore('postgres://postgres@%2Fnowhere/demo', { role: 'baton' })).toMatchObject({
      ok: false,
      problem: { code: 'ledger/unavailable' },
    });
  });
});

it('names the command if the schema is missing or old, and the role may not make it', async () => {
  const empty = await server.createDatabase();
  const asDaemon = (address: string): string => address.replace('postgres@', 'baton_daemon@');
  const expected = {
    problem: { code: 'ledger/cannot-open', hint: 'As the owner of the database, run: baton store init URL' },
  };
  expect(await openPostgresStore({ url: asDaemon(empty), project: 'demo' })).toMatchObject(expected);
  await initStore(empty, { role: 'baton_daemon' });
  const owner = new Client({ connectionString: empty });
  await owner.connect();
  await owner.query('DELETE FROM baton.migration WHERE number > 1');
  await owner.end();
  expect(await openPostgresStore({ url: asDaemon(empty), project: 'demo' })).toMatchObject(expected);
});
