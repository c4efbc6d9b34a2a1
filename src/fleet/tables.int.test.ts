import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type PostgresServer, startPostgres } from '../../test/postgres/server.ts';
import { createLogin } from '../ledger/postgres/create-login.ts';
import { initStore } from '../ledger/postgres/init-store.ts';
import type { BeatAnswer, HostBeat, KnownClaim } from '../protocol/fleet.ts';
import { type FleetDatabase, makeFleetDatabase } from './database.ts';
import type { FleetTables } from './tables.ts';
import { makeBeat } from './beat.cases.ts';

let server: PostgresServer;
let database: FleetDatabase;
let owner: Client;
let ownerUrl: string;
let fleet: FleetTables;
let projects = 0;

beforeAll(async () => {
  server = await startPostgres();
  ownerUrl = await server.createDatabase();
  const url = ownerUrl;
  const made = await initStore(url, { role: 'baton_daemon' });
  if (!made.ok) throw new Error(made.problem.message);
  database = makeFleetDatabase({ url: made.url, patienceMs: 15_000 });
  owner = new Client({ connectionString: url });
  await owner.connect();
});

afterAll(async () => {
  await owner.end();
  await database.close();
  await server.stop();
});

beforeEach(async () => {
  projects += 1;
  const opened = await database.openProject(`p${projects}`, { host: 'a', replica: undefined, admitted: () => ['a'] });
  if (!opened.ok) throw new Error(opened.problem.message);
  ({ fleet } = opened);
  return () => opened.store.close();
});

describe('the caretaker', () => {
  it('is the first host that beats, and keeps its term while it does', async () => {
    expect(await beat('a')).toMatchObject({ caretaker: { host: 'a', term: 1 } });
    expect(await beat('b')).toMatchObject({ caretaker: { host: 'a', term: 1 } });
    expect(await beat('a')).toMatchObject({ caretaker: { host: 'a', term: 1 } });
  });

  it('is another host once its lease has lapsed, with the next term', async () => {
    await beat('a');
    await passTime('caretaker', 4001);
    expect(await beat('b')).toMatchObject({ caretaker: { host: 'b', term: 2 } });
    expect(await beat('a')).toMatchObject({ caretaker: { host: 'b', term: 2 } });
  });

  it('gets a new term if its own lease had lapsed', async () => {
    await beat('a');
    await passTime('caretaker', 4001);
    expect(await beat('a')).toMatchObject({ caretaker: { host: 'a', term: 2 } });
  });

  it('hands over at once if it may not be the caretaker', async () => {
    await beat('a');
    expect((await beat('a', { mayCare: false })).caretaker).toBeNull();
    expect(await beat('b')).toMatchObject({ caretaker: { host: 'b', term: 2 } });
  });

  it('has a term above that of the ledger, if the database was restored from an older copy', async () => {
    await beat('a');
    expect(await beat('a', { term: 57 })).toMatchObject({ caretaker: { host: 'a', term: 58 } });
    expect(await beat('a', { term: 58 })).toMatchObject({ caretaker: { host: 'a', term: 58 } });
  });

  it('is one host also if many beat at once', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `h${index}`);
    const answers = await Promise.all(names.map((name) => beat(name)));
    expect(new Set(answers.map(({ caretaker }) => JSON.stringify(caretaker))).size).toBe(1);
  });
});

describe('leases', () => {
  const claim = (epoch: number, host: string): KnownClaim => ({ taskId: 'T1', epoch, host, expiryMs: 60_000 });

  beforeEach(async () => {
    await beat('a', { graceMs: 0 });
    await beat('a', { claims: [claim(1, 'b')] });
  });

  it('expire by the clock of the database, and only the caretaker gets the list', async () => {
    await passTime('lease', 60_001);
    expect((await beat('b')).expired).toEqual([]);
    expect((await beat('a', { claims: null })).expired).toEqual([]);
    expect((await beat('a', { claims: [claim(1, 'b')] })).expired).toEqual([{ taskId: 'T1', epoch: 1 }]);
  });

  it('last as long as their host says', async () => {
    await passTime('lease', 59_000);
    expect((await beat('b', { leases: [{ taskId: 'T1', epoch: 1, remainingMs: 60_000 }] })).refused).toEqual([]);
    await passTime('lease', 59_000);
    expect((await beat('a', { claims: [claim(1, 'b')] })).expired).toEqual([]);
    await passTime('lease', 1001);
    expect((await beat('a', { claims: [claim(1, 'b')] })).expired).toHaveLength(1);
  });

  it('are never shortened', async () => {
    await beat('b', { leases: [{ taskId: 'T1', epoch: 1, remainingMs: 10 }] });
    await passTime('lease', 59_000);
    expect((await beat('a', { claims: [claim(1, 'b')] })).expired).toEqual([]);
  });

  it('cannot be renewed by another host, for another epoch, or after the caretaker got the order to end them', async () => {
    const own = { taskId: 'T1', epoch: 1, remainingMs: 60_000 };
    expect((await beat('c', { leases: [own] })).refused).toEqual([{ taskId: 'T1', epoch: 1 }]);
    expect((await beat('b', { leases: [{ ...own, epoch: 2 }] })).refused).toEqual([{ taskId: 'T1', epoch: 2 }]);
    await passTime('lease', 60_001);
    await beat('a', { claims: [claim(1, 'b')] });
    expect((await beat('b', { leases: [own] })).refused).toEqual([{ taskId: 'T1', epoch: 1 }]);
    expect((await beat('a', { claims: [claim(1, 'b')] })).expired).toEqual([{ taskId: 'T1', epoch: 1 }]);
  });

  it('can be renewed late, until the caretaker got the order to end them', async () => {
    await passTime('lease', 120_000);
    expect((await beat('b', { leases: [{ taskId: 'T1', epoch: 1, remainingMs: 60_000 }] })).refused).toEqual([]);
    expect((await beat('a', { claims: [claim(1, 'b')] })).expired).toEqual([]);
  });

  it('of ended claims are removed', async () => {
    await beat('a', { claims: [claim(2, 'c')] });
    const { rows } = await owner.query(`SELECT task, epoch::int, host FROM baton.lease WHERE project = ${projects}`);
    expect(rows).toEqual([{ task: 'T1', epoch: 2, host: 'c' }]);
  });

  it.each([
    ['a new term', () => passTime('caretaker', 4001)],
    ['a new generation', () => owner.query(`UPDATE baton.caretaker SET generation = 'x' WHERE project = ${projects}`)],
  ])('do not expire before the grace after %s', async (_name, happens) => {
    await passTime('lease', 60_001);
    await happens();
    expect((await beat('a', { graceMs: 30_000, claims: [claim(1, 'b')] })).expired).toEqual([]);
    expect((await beat('a', { graceMs: 30_000, claims: [claim(1, 'b')] })).expired).toEqual([]);
    await passTime('grace', 30_001);
    expect((await beat('a', { graceMs: 30_000, claims: [claim(1, 'b')] })).expired).toHaveLength(1);
  });
});

describe('hosts', () => {
  it('see each other, and how long each has been silent', async () => {
    await beat('b', { version: '1.2.3', level: 1, size: 9, offsetMs: -20 });
    await delay(20);
    const { hosts, nowMs, generation } = await beat('a');
    expect(hosts.map(({ host }) => host)).toEqual(['a', 'b']);
    expect(hosts[1]).toMatchObject({ key: 'key of b', version: '1.2.3', level: 1, size: 9, offsetMs: -20 });
    expect(hosts[1]?.silentMs).toBeGreaterThan(15);
    expect(Math.abs(nowMs - Date.now())).toBeLessThan(60_000);
    expect(generation).toMatch(/^\d+\/[0-9A-F]{8}\/\d+/);
  });

  it('cannot share a name', async () => {
    await beat('a');
    await expect(beat('a', { key: 'another key' })).rejects.toMatchObject({ problem: { code: 'fleet/name-taken' } });
    await fleet.forgetHost('a');
    expect((await beat('a', { key: 'another key' })).hosts).toHaveLength(1);
  });

  it('ask to join, and may ask again with the same key', async () => {
    const request = { host: 'new', publicKey: 'key', labels: ['gpu'], agents: 4, rootCommit: 'abc' };
    await fleet.requestJoin(request);
    await fleet.requestJoin({ ...request, agents: 8 });
    await expect(fleet.requestJoin({ ...request, publicKey: 'other' })).rejects.toMatchObject({
      problem: { code: 'fleet/name-taken' },
    });
    expect(await fleet.joinRequests()).toEqual([{ ...request, agents: 8 }]);
    expect((await beat('a')).joining).toBe(1);
    await fleet.dropJoinRequest('new');
    expect(await fleet.joinRequests()).toEqual([]);
  });
});

it('answers the login of one host in its project, and in no other', async () => {
  const made = await createLogin(ownerUrl, { project: `p${projects}`, host: 'b' });
  if (!made.ok) throw new Error(made.problem.message);
  const own = makeFleetDatabase({ url: made.url, patienceMs: 15_000 });
  const opening = { host: 'b', replica: undefined, admitted: () => ['a', 'b'] };
  const opened = await own.openProject(`p${projects}`, opening);
  if (!opened.ok) throw new Error(opened.problem.message);
  await beat('a');
  const answer = await opened.fleet.beat(makeBeat('b'));
  expect(answer.hosts.map(({ host }) => host)).toEqual(['a', 'b']);
  await opened.store.close();
  for (const other of ['p1', 'p-new']) expect(await own.openProject(other, opening)).toMatchObject({ ok: false });
  await own.close();
});

function beat(host: string, more: Partial<HostBeat> = {}): Promise<BeatAnswer> {
  return fleet.beat(makeBeat(host, more));
}

/** Simulates that time has passed: moves the end of the named leases into the past by `ms`. */
async function passTime(what: 'caretaker' | 'lease' | 'grace', ms: number): Promise<void> {
  const [table, column] = what === 'grace' ? ['caretaker', 'quiet_until'] : [what, 'until'];
  await owner.query(
    `UPDATE baton.${table} SET ${column} = ${column} - ${ms} * interval '1 ms' WHERE project = ${projects}`,
  );
}
