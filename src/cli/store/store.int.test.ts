import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type PostgresServer, startPostgres } from '../../../test/postgres/server.ts';
import { type Ran, runCli } from '../../../test/run-cli.ts';
import { lockStateFolder } from '../../daemon/state-lock.ts';
import { projectId } from '../../git/repository.ts';
import type { Draft } from '../../ledger/format/draft.ts';
import { keyFingerprint } from '../../ledger/format/fingerprint.ts';
import { nodeSha256, openKeyFile } from '../../ledger/writer/keys.ts';
import { ledgerPlace, type LedgerPlace } from '../../ledger/writer/ledger-files.ts';
import { testDraft } from '../../ledger/writer/ledger.cases.ts';
import { openLedgerAt } from '../../ledger/writer/open.ts';

let server: PostgresServer;
let folder = '';
let repository = '';
let remote = '';
let stateDir = '';
let place: LedgerPlace;
let id = '';
let url = '';

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => server.stop());

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'baton-store-'));
  remote = join(folder, 'remote.git');
  repository = join(folder, 'shop');
  stateDir = join(folder, 'state');
  execFileSync('git', ['init', '--quiet', '--bare', '-b', 'main', remote]);
  execFileSync('git', ['clone', '--quiet', remote, repository], { stdio: 'ignore' });
  git('checkout', '--quiet', '-b', 'main');
  git('commit', '--quiet', '--allow-empty', '-m', 'first');
  git('push', '--quiet', 'origin', 'main');
  id = projectId({ mainTop: repository, commonDir: join(repository, '.git') });
  place = ledgerPlace(stateDir, id);
  url = await server.createDatabase();
});
afterEach(() => rmSync(folder, { recursive: true }));

function git(...args: string[]): string {
  const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org'];
  return execFileSync('git', ['-C', repository, ...identity, ...args], { encoding: 'utf8' }).trim();
}

async function baton(...argv: string[]): Promise<Ran> {
  return runCli(argv, '', { cwd: repository, env: { BATON_STATE_DIR: stateDir, BATON_HOST: 'alpha' } });
}

/** Appends to the ledger in the state folder. */
async function record(...drafts: readonly Draft[]): Promise<void> {
  const opened = await openLedgerAt(place, { clock: () => new Date() });
  if (!opened.ok) throw new Error(opened.problem.message);
  const [first, ...rest] = drafts;
  if (first === undefined) return;
  expect(await opened.ledger.append([first, ...rest])).toMatchObject({ ok: true });
  await opened.ledger.close();
}

const tasks = (count: number): Draft[] => Array.from({ length: count }, (_, i) => testDraft(i));

async function rootOf(): Promise<string> {
  const { out, err } = await baton('ledger', 'verify');
  return /^root: (\w+)$/m.exec(out)?.[1] ?? err;
}

const listed = (): unknown => JSON.parse(readFileSync(join(stateDir, 'projects.json'), 'utf8'));

describe('baton store', () => {
  it('init creates the schema and a role, and can be repeated', async () => {
    const first = await baton('store', 'init', url, '--database-role', 'baton_a');
    expect(first).toMatchObject({ code: 0, out: expect.stringContaining('store = "postgres://baton_a@') });
    expect(await baton('store', 'init', url, '--database-role', 'baton_a')).toMatchObject({ code: 0 });
    expect(await baton('store', 'init', 'postgres://x:secret@h/d')).toMatchObject({
      code: 1,
      err: expect.stringContaining('contains a password'),
    });
  });

  it('move copies in both directions with the same root, and switches the project', async () => {
    await record(...tasks(30));
    const root = await rootOf();
    expect(root).toMatch(/^[0-9a-f]{64}$/);
    const there = await baton('store', 'move', '--to', url);
    expect(there).toMatchObject({ code: 0, err: '' });
    expect(there.out).toContain(`root: ${root}`);
    expect(there.out).toContain(`project = "${id}"\n  store = "${url}"`);
    expect(listed()).toEqual({ [id]: { path: repository, store: url } });
    expect(await baton('store', 'move', '--to', url)).toMatchObject({ out: expect.stringContaining('already') });
    expect(await baton('store', 'compare')).toMatchObject({ code: 0, out: expect.stringContaining('the same') });
    const status = await baton('store', 'status');
    expect(status.out).toMatch(/entries\s+31, database/);
    expect(status.out).toMatch(/replica .*\(31 entries/);

    const back = await baton('store', 'move', '--to', 'sqlite');
    expect(back).toMatchObject({ code: 0, out: expect.stringContaining(`root: ${root}`) });
    expect(listed()).toEqual({ [id]: repository });
    expect(await rootOf()).toBe(root);
    await record(...tasks(1));
  });

  it('repair moves a row that nobody has signed into quarantine, in two steps, and on record', async () => {
    await record(...tasks(3));
    expect(await baton('store', 'move', '--to', url)).toMatchObject({ code: 0 });
    expect(await baton('store', 'repair', url)).toMatchObject({
      code: 0,
      out: expect.stringContaining('nothing to repair'),
    });
    const owner = new Client({ connectionString: url });
    await owner.connect();
    await owner.query(`INSERT INTO baton.entry VALUES (1, 5, sha256('x'), NULL, NULL, 'junk')`);
    const shown = await baton('store', 'repair', url);
    expect(shown).toMatchObject({ code: 4, out: expect.stringContaining('The first 4 entries are good') });
    const command = /To repair: baton store repair (.*)/.exec(shown.out)?.[1]?.split(' ') ?? [];
    expect(await baton('store', 'repair', url, '4', 'f'.repeat(16))).toMatchObject({ code: 1 });
    expect(await baton('store', 'repair', ...command)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^1 rows are in quarantine/),
    });
    const kept = await owner.query(`SELECT seq::int, convert_from(bytes, 'UTF8') AS bytes FROM baton.quarantine`);
    expect(kept.rows).toEqual([{ seq: 5, bytes: 'junk' }]);
    const last = await owner.query(`SELECT convert_from(bytes, 'UTF8') AS bytes FROM baton.entry WHERE seq = 5`);
    expect(JSON.parse(last.rows[0].bytes)).toMatchObject({ type: 'StoreRepaired', data: { size: 4, rows: 1 } });
    await owner.end();
    expect(await baton('store', 'repair', url)).toMatchObject({
      code: 0,
      out: expect.stringContaining('All 5 entries'),
    });
  });

  it('move refuses while a daemon runs, without a ledger, and to another ledger', async () => {
    expect(await baton('store', 'move', '--to', url)).toMatchObject({
      code: 1,
      err: expect.stringContaining('has no ledger in this state folder'),
    });
    await record(...tasks(3));
    const lock = lockStateFolder(stateDir);
    const { code, err } = await baton('store', 'move', '--to', url);
    expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining('hint: Stop it: baton down') });
    if (lock.ok) lock.release();
    expect(await baton('store', 'move', '--to', url)).toMatchObject({ code: 0 });
    // The same project with another history.
    rmSync(stateDir, { recursive: true });
    await record(...tasks(5));
    expect(await baton('store', 'move', '--to', url)).toMatchObject({
      code: 4,
      err: expect.stringContaining('differ from entry 1 on'),
    });
    expect(existsSync(join(stateDir, 'projects.json'))).toBe(false);
  });

  it('compare shows the first difference from both sides, and accept sets the replica aside', async () => {
    await record(...tasks(4));
    await baton('store', 'move', '--to', url);
    // The replica and the database both get further entries.
    const { db } = { db: readFileSync(place.ledger) };
    await baton('store', 'move', '--to', 'sqlite');
    await record(testDraft(100));
    await baton('store', 'move', '--to', url);
    for (const ending of ['', '-wal', '-shm', '.checkpoint']) rmSync(`${place.ledger}${ending}`, { force: true });
    writeFileSync(place.ledger, db);
    writeFileSync(join(stateDir, 'projects.json'), JSON.stringify({ [id]: repository }));
    await record(testDraft(200));
    writeFileSync(join(stateDir, 'projects.json'), JSON.stringify({ [id]: { path: repository, store: url } }));

    const compared = await baton('store', 'compare');
    expect(compared.code).toBe(4);
    expect(compared.out).toContain('first difference: entry 6');
    expect(compared.out).toMatch(/database {2}\{"hash":.*\n {2}replica {3}\{"hash":/);
    const asked = await baton('store', 'accept');
    expect(asked).toMatchObject({ code: 1, out: expect.stringMatching(/To accept: .*store accept 6 [0-9a-f]{16}/) });
    expect(await baton('store', 'accept', '6', '0'.repeat(16))).toMatchObject({
      code: 1,
      err: expect.stringContaining('does not have that entry'),
    });
    expect(existsSync(place.ledger)).toBe(true);
  });

  it('compare is refused on a single machine', async () => {
    await record(...tasks(1));
    expect(await baton('store', 'compare')).toMatchObject({ code: 1, err: expect.stringContaining('on one machine') });
    expect((await baton('store', 'status')).out).toMatch(/store {3}sqlite/);
  });
});

describe('baton host join', () => {
  function draft(type: string, data: Draft['data']): Draft {
    return { ...testDraft(0), type, data };
  }

  /** Founds a fleet, as the first host does. */
  async function found(rootCommit: string): Promise<void> {
    const key = openKeyFile(place.key);
    const fingerprint = key.ok ? keyFingerprint(nodeSha256, key.value.publicKey) : '';
    await record(
      draft('FleetFounded', { host: 'alpha', root_commit: rootCommit, remote }),
      draft('HostJoined', {
        host: 'alpha',
        key: fingerprint,
        public_key: 'x',
        labels: [],
        agents: 4,
        by: 'host:alpha',
      }),
    );
    expect(await baton('store', 'move', '--to', url)).toMatchObject({ code: 0 });
  }

  /** Joins from another machine, with its own clone and state folder. */
  async function join(name: string, ...argv: string[]): Promise<Ran> {
    const clone = existsSync(join_(name, 'shop')) ? join_(name, 'shop') : cloneTo(name);
    const env = { BATON_STATE_DIR: join_(name, 'state'), BATON_HOST: name };
    return runCli(['host', 'join', ...argv], '', { cwd: clone, env });
  }

  const join_ = (...parts: string[]): string => [folder, ...parts].join('/');

  function cloneTo(name: string): string {
    const clone = join_(name, 'shop');
    execFileSync('git', ['clone', '--quiet', remote, clone]);
    writeFileSync(join_(name, 'shop', 'baton.toml'), `project = "${id}"\n`);
    return clone;
  }

  it('prints the fingerprint and the command to type, and remembers name and store', async () => {
    await found(git('rev-list', '--max-parents=0', 'main'));
    const asked = await join('beta', url, '--labels', 'gpu,linux', '--agents', '8');
    expect(asked).toMatchObject({ code: 0, err: '' });
    expect(asked.out).toMatch(/baton host admit beta [0-9a-f]{32}\n/);
    expect(JSON.parse(readFileSync(join_('beta', 'state', 'projects.json'), 'utf8'))).toEqual({
      [id]: { path: join_('beta', 'shop'), store: url },
    });
    // A second request with other labels.
    expect(await join('beta', url, '--labels', 'gpu')).toMatchObject({ code: 0 });
  });

  it('refuses another repository, a name that is taken, and a clone without a remote', async () => {
    await found('1'.repeat(40));
    expect(await join('beta', url)).toMatchObject({
      code: 1,
      err: expect.stringContaining(`that of the project ${id} is ${'1'.repeat(40)}`),
    });
    expect(await join('alpha', url)).toMatchObject({ code: 1 });
    execFileSync('git', ['-C', join_('beta', 'shop'), 'remote', 'remove', 'origin']);
    expect(await join('beta', url)).toMatchObject({ code: 1, err: expect.stringContaining('no remote `origin`') });
    expect(await join('gamma', await server.createDatabase())).toMatchObject({
      code: 1,
      err: expect.stringContaining('there is no project'),
    });
    expect(await join('gamma', url, '--labels', 'GPU')).toMatchObject({ code: 2 });
  });

  it('refuses the name of another machine', async () => {
    await found(git('rev-list', '--max-parents=0', 'main'));
    expect(await join('beta', url, '--name', 'alpha')).toMatchObject({
      code: 1,
      err: expect.stringContaining('another machine is host alpha'),
    });
  });
});
