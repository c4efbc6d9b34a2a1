import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Scene } from '../../src/daemon/running.cases.ts';
import { projectId } from '../../src/git/repository.ts';
import { ledgerPlace, type LedgerPlace } from '../../src/ledger/writer/ledger-files.ts';
import { testDraft } from '../../src/ledger/writer/ledger.cases.ts';
import { openLedgerAt } from '../../src/ledger/writer/open.ts';
import { type PostgresServer, startPostgres } from '../postgres/server.ts';
import { type Ran, runCli } from '../run-cli.ts';
import { FLEET_COMMANDS } from './json-fleet-commands.ts';

/** Runs the commands that succeed only on PostgreSQL, as `json-outputs.int.test.ts` runs the others. */
const scene = new Scene();
const printed = new Set<string>();
let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => {
  await scene.end();
  await server.stop();
});

const remote = join(scene.folder, 'remote.git');
const repository = join(scene.folder, 'shop');

async function baton(argv: readonly string[], host = 'alpha', cwd = repository): Promise<Ran> {
  const stateDir = host === 'alpha' ? scene.stateDir : join(scene.folder, host);
  const { BATON_TEST_STORE: _, ...env } = scene.env;
  return runCli(argv, '', { cwd, env: { ...env, BATON_STATE_DIR: stateDir, BATON_HOST: host } });
}

/** Runs a command with `--json`, which must succeed. */
async function json(...argv: string[]): Promise<Readonly<Record<string, unknown>>> {
  const { code, out, err } = await baton([...argv, '--json']);
  expect({ argv, code, out, err }).toMatchObject({ code: 0, out: expect.stringMatching(/^\{/) });
  expect({ argv, document: JSON.parse(out) }).not.toHaveProperty('document.error');
  printed.add(argv.slice(0, 2).join(' '));
  return JSON.parse(out);
}

/** Replaces the replica by the ledger from before the move, and continues it differently from the database. */
async function fork(place: LedgerPlace, before: Buffer): Promise<void> {
  const projects = join(scene.stateDir, 'projects.json');
  const shared = readFileSync(projects);
  for (const ending of ['', '-wal', '-shm', '.checkpoint']) rmSync(`${place.ledger}${ending}`, { force: true });
  writeFileSync(place.ledger, before);
  writeFileSync(projects, JSON.stringify({ [place.project]: repository }));
  const opened = await openLedgerAt(place, { clock: () => new Date() });
  if (!opened.ok) throw new Error(opened.problem.message);
  await opened.ledger.append([testDraft(1)]);
  await opened.ledger.close();
  writeFileSync(projects, shared);
}

it('every command of a fleet prints what it declares', { timeout: 180_000 }, async () => {
  const git = (...args: string[]): void => void execFileSync('git', args, { stdio: 'ignore' });
  git('init', '--bare', '-b', 'main', remote);
  git('clone', remote, repository);
  git('-C', repository, 'checkout', '-b', 'main');
  git('-C', repository, '-c', 'user.name=t', '-c', 'user.email=t@t', 'commit', '--allow-empty', '-m', 'first');
  git('-C', repository, 'push', 'origin', 'main');
  const url = await server.createDatabase();
  const made = await json('store', 'init', url, '--database-role', 'baton_json');
  expect(made).toMatchObject({ role_is_new: true });
  expect(await baton(['task', 'add', 'T1', '--title', 'first'])).toMatchObject({ code: 0 });
  expect(await baton(['down'])).toMatchObject({ code: 0 });
  const id = projectId({ mainTop: repository, commonDir: join(repository, '.git') });
  const place = ledgerPlace(scene.stateDir, id);
  const before = readFileSync(place.ledger);
  expect(await baton(['store', 'move', '--to', String(made['url'])])).toMatchObject({ code: 0, err: '' });
  await json('store', 'compare');
  await json('store', 'status');
  await json('host', 'list');
  await json('host', 'remote', remote);
  const clone = join(scene.folder, 'clone');
  git('clone', remote, clone);
  writeFileSync(join(clone, 'baton.toml'), `project = "${id}"\n`);
  const asked = await baton(['host', 'join', String(made['url'])], 'beta', clone);
  const [, fingerprint = ''] = /baton host admit beta ([0-9a-f]{32})/.exec(asked.out) ?? [];
  expect({ ...asked, fingerprint }).toMatchObject({ code: 0, fingerprint: expect.stringMatching(/./) });
  await json('host', 'admit', 'beta', fingerprint);
  await json('store', 'login', url, 'beta');
  await json('store', 'repair', url);
  await json('host', 'drain', 'beta');
  expect(await baton(['host', 'remove', 'beta', '--reason', 'gone', '--json'])).toMatchObject({ code: 1 });
  await json('host', 'remove', 'beta', '--reason', 'gone', '--confirm', 'beta');
  expect(await baton(['down'])).toMatchObject({ code: 0 });
  await json('store', 'accept');
  await fork(place, before);
  const compared = await baton(['store', 'compare', '--json']);
  expect({ ...compared, out: JSON.parse(compared.out) }).toMatchObject({ code: 4, out: { verdict: 'forked' } });
  const explained = await baton(['store', 'accept', '--json']);
  const { database, next } = JSON.parse(explained.out);
  expect({ ...explained, next }).toMatchObject({ code: 1, next: expect.stringContaining('store accept') });
  await json('store', 'accept', String(database.size), database.hash);
  expect([...FLEET_COMMANDS].filter((name) => !printed.has(name))).toEqual([]);
});
