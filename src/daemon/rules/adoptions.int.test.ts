import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'smol-toml';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isPostgres } from '../../../test/stores/chosen.ts';
import { hashOf, initRecordPath } from '../../api/init-record.ts';
import { findRepository, projectId } from '../../git/repository.ts';
import { examineRunbook } from '../../runbook/check/check-runbook.ts';
import { canonicalJson, type JsonObject } from '../../ledger/format/canonical-json.ts';
import { storeBlob } from '../../ledger/snapshots-and-blobs.ts';
import { openBareProject } from '../project/project.cases.ts';
import { until } from '../running.cases.ts';
import { RunScene } from '../runs.cases.ts';
import { configureWorkers } from './workers.ts';

const STRICT = '[ci]\nrequired = [{ name = "test", run = "npm test" }, { name = "lint", run = "lint" }]\n';
const LAX = '[ci]\nrequired = [{ name = "test", run = "true" }, { name = "lint", run = "lint" }]\n';
const STRICTER = `${STRICT}[limits]\nreview_rounds = 1\n`;

let world: RunScene;
beforeEach(() => {
  world = new RunScene();
  world.agrees = false;
});
afterEach(async () => world.end());

function commit(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(world.repository, path)), { recursive: true });
    writeFileSync(join(world.repository, path), text);
  }
  git('add', '--all');
  git('commit', '--quiet', '--message', 'x');
}

function git(...args: string[]): string {
  const author = ['-c', 'user.name=t', '-c', 'user.email=t@t'];
  return execFileSync('git', ['-C', world.repository, ...author, ...args], { encoding: 'utf8' }).trim();
}

interface Rules {
  readonly in_force: { readonly sha256: string; readonly commit: string | null; readonly by: string } | null;
  readonly working: { readonly sha256: string; readonly loosens: boolean; readonly differences: { field: string }[] };
}

const rules = async (): Promise<Rules> => world.ask<Rules>('runbook_rules');
const addTask = async (task_id: string) => world.ask('task_create', { task_id, title: 'do it' });
const adoptions = async () => (await world.entries()).filter(({ type }) => type === 'RunbookAdopted');

describe('the first runbook of a project', () => {
  it('is the working file if nothing is committed; before the first task nothing is adopted', async () => {
    world.write(STRICT);
    await world.start();
    expect((await rules()).in_force).toBeNull();
    await addTask('A');
    expect((await rules()).in_force).toMatchObject({ commit: null, by: 'system:daemon' });
  });

  it('is what a person wrote with `baton init`, even if it asks for more than the defaults, until it is edited', async () => {
    const wide = 'env_pass = ["CI_TOKEN"]\n[ci]\nrequired = [{ name = "test", run = "npm test", network = "full" }]\n';
    world.write(wide);
    const text = readFileSync(join(world.repository, 'baton.toml'), 'utf8');
    const record = initRecordPath(world.stateDir, world.repository);
    mkdirSync(dirname(record), { recursive: true });
    const write = (sha256: string): void =>
      writeFileSync(record, JSON.stringify({ v: 1, files: [{ path: 'baton.toml', sha256 }] }));
    write(hashOf(`${text}# edited since\n`));
    await world.start();
    await addTask('A');
    expect((await rules()).in_force).toBeNull();
    await world.stop();
    write(hashOf(text));
    await world.start();
    await until(async () => (await rules()).in_force !== null, 'it is adopted');
    expect((await rules()).in_force?.by).toMatch(/^operator:/);
  });

  it('is the committed one if the working file has other gates', async () => {
    commit({ 'baton.toml': STRICT });
    world.write(LAX);
    await world.start();
    await addTask('A');
    const { in_force, working } = await rules();
    expect(in_force?.commit).toMatch(/^[0-9a-f]{40}$/);
    expect(working.loosens).toBe(true);
    expect(working.differences.map(({ field }) => field)).toContain('ci.required.test');
  });

  it('is compared with the committed content, not with an object overwritten to look like the working file', async () => {
    commit({ 'baton.toml': STRICT });
    const name = git('rev-parse', 'HEAD:baton.toml');
    world.write(LAX);
    const lax = git('hash-object', '-w', 'baton.toml');
    const [path, other] = [name, lax].map((each) =>
      join(world.repository, '.git/objects', each.slice(0, 2), each.slice(2)),
    );
    chmodSync(path ?? '', 0o644);
    copyFileSync(other ?? '', path ?? '');
    expect(git('show', 'HEAD:baton.toml')).toContain('run = "true"');
    await world.start();
    await addTask('A');
    expect(await adoptions()).toEqual([]);
    const adopted = await world.call('runbook_adopt');
    expect(adopted).toMatchObject({
      ok: false,
      error: { code: 'git/damaged-object', hint: expect.stringContaining('git fsck') },
    });
  });

  it('is not a file that appears while a session is alive', async () => {
    await world.start();
    await addTask('A');
    await world.ask('task_claim', { task_id: 'A', as: 'ann' });
    world.write(STRICT);
    await addTask('B');
    expect((await rules()).in_force).toBeNull();
    await world.ask('runbook_adopt');
    expect((await rules()).in_force?.by).toMatch(/^operator:/);
  });
});

describe('without an adoption, while a claim is alive', () => {
  const claim = async (task_id: string) => world.call('task_claim', { task_id, as: 'bob' });
  const CI_DECIDES = { ok: false, error: { code: 'not-workable' } };
  let token: string;
  beforeEach(async () => {
    await world.start();
    await addTask('A');
    ({ token } = await world.ask<{ token: string }>('task_claim', { task_id: 'A', as: 'ann' }));
  });

  it('the committed runbook is adopted when the daemon starts, not the file that loosens it', async () => {
    await world.stop();
    commit({ 'baton.toml': STRICT });
    world.write(LAX);
    await world.start();
    // In a fleet the caretaker adopts the runbook, and this host becomes the caretaker a moment later.
    await until(async () => (await rules()).in_force !== null, 'it is adopted');
    const { in_force, working } = await rules();
    expect(in_force).toMatchObject({ commit: expect.any(String), by: 'system:daemon' });
    expect(working.loosens).toBe(true);
  });

  it('the committed runbook is adopted when the main branch gets it', async () => {
    commit({ 'baton.toml': STRICT });
    await until(async () => (await adoptions()).length === 1, 'it is adopted', 20_000);
    expect((await rules()).in_force?.commit).toMatch(/^[0-9a-f]{40}$/);
  });

  it('an edit of the file, committed or not, does not loosen the rules; it counts when the claim has ended', async () => {
    world.write(`${STRICT}[roles.reviewer]\nsame_agent = false\n`);
    await world.ask('task_create', { task_id: 'B', title: 'wait for CI', phase: 'CI_PENDING' });
    await rules();
    expect(await claim('B')).toMatchObject(CI_DECIDES);
    const loose = '[limits]\nreview_rounds = 1\n';
    world.write(loose);
    expect((await rules()).in_force).toBeNull();
    expect(await claim('B')).toMatchObject(CI_DECIDES);
    const moves = async () => (await world.types()).filter((type) => type === 'MainMoved').length;
    const before = await moves();
    commit({ 'baton.toml': loose });
    await until(async () => (await moves()) > before, 'the commit is seen', 20_000);
    await addTask('C');
    expect((await rules()).in_force).toBeNull();
    expect(await claim('B')).toMatchObject(CI_DECIDES);
    await world.call('task_release', { task_id: 'A', reason: 'done' }, token);
    await until(async () => (await rules()).in_force !== null, 'the committed runbook is adopted');
    // The gate blocked it, because its head was never seen.
    await world.ask('task_unblock', { task_id: 'B', reason: 'no gate any more' });
    expect(await claim('B')).toMatchObject({ ok: true });
  });

  // A project without a daemon has its own database row.
  it.skipIf(isPostgres)('the recorded workers continue after a restart', async () => {
    await world.stop();
    const runbook = '[workers.w]\nphases = ["REVIEW"]\nrun = "true"\n';
    world.write(runbook);
    const found = await findRepository(world.repository);
    const { checked } = examineRunbook([{ path: 'baton.toml', text: runbook }]);
    if (!found.ok || !checked.ok) throw new Error('there is no repository, or the runbook has mistakes');
    const where = { id: projectId(found.value), path: world.repository, stateDir: world.stateDir };
    const project = await openBareProject(where);
    const log = { info: () => {}, error: () => {} };
    await configureWorkers(project, { runbook: checked.value, holdsCredential: false }, log);
    await project.close();
    await world.start();
    expect((await rules()).in_force).toBeNull();
    expect((await world.ask<{ workers: unknown }>('status_get')).workers).toMatchObject([{ name: 'w' }]);
  });
});

describe.skipIf(isPostgres)('an adoption by a version that recorded no files', () => {
  /** Writes the adoption as that version did: main has the strict rules, and an operator adopted the working file. */
  async function adoptAsBefore(working: string): Promise<void> {
    const found = await findRepository(world.repository);
    if (!found.ok) throw new Error(found.problem.message);
    const where = { id: projectId(found.value), path: world.repository, stateDir: world.stateDir };
    const project = await openBareProject(where);
    const [adopted = '', committed = ''] = await Promise.all(
      [working, STRICT].map(async (toml) => {
        const text = canonicalJson({ v: 2, runbook: parse(toml) as JsonObject, prompts: {} });
        if (!text.ok) throw new Error('no canonical form');
        const stored = await storeBlob(
          project.ledger.store,
          project.ledger.sha256,
          new TextEncoder().encode(text.value),
        );
        return stored.ok ? stored.value.replace('sha256:', '') : '';
      }),
    );
    const data = { sha256: adopted, runbook_blob: `sha256:${adopted}`, previous: null };
    const recorded = await project.ledger.append([
      {
        actor: 'operator:root',
        type: 'RunbookAdopted',
        data: { ...data, commit: null, committed, by: 'operator:root' },
      },
    ]);
    expect(recorded.ok).toBe(true);
    await project.close();
  }

  it.each([
    ['tighter', LAX],
    ['looser', STRICTER],
  ])('stays in force, and nobody is asked, if main is %s and unchanged', async (_, working) => {
    commit({ 'baton.toml': STRICT });
    world.write(working);
    await adoptAsBefore(working);
    await world.start();
    await addTask('A');
    await world.restart();
    expect((await rules()).in_force).toMatchObject({ by: 'operator:root' });
    expect(await adoptions()).toHaveLength(1);
    expect((await world.entries()).filter(({ type }) => type === 'DecisionOpened')).toEqual([]);
  });

  it('is recorded again with the files that its rules name, once, if main has the same rules', async () => {
    const scripted = '[agents.a]\nrun = "scripted a.yaml"\n';
    commit({ 'baton.toml': scripted, 'a.yaml': '- stop\n' });
    await adoptAsBefore(scripted);
    await world.start();
    await addTask('A');
    await until(async () => (await adoptions()).length === 2, 'it is recorded again');
    await world.restart();
    expect((await rules()).in_force).toMatchObject({ by: 'operator:root' });
    expect(await adoptions()).toHaveLength(2);
  });
});

describe('the working file', () => {
  beforeEach(async () => {
    commit({ 'baton.toml': STRICT });
    await world.start();
    await addTask('A');
  });

  it('is adopted by an operator if it tightens, and by its hash if it loosens', async () => {
    world.write(STRICTER);
    await world.ask('runbook_adopt');
    world.write(LAX);
    const refused = await world.call('runbook_adopt');
    expect(refused).toMatchObject({ ok: false, error: { code: 'rules-loosened' } });
    const other = await world.call('runbook_adopt', { accept_rules: '0'.repeat(64) });
    expect(other).toMatchObject({ ok: false, error: { code: 'rules-loosened' } });
    const { working } = await rules();
    await world.ask('runbook_adopt', { accept_rules: working.sha256 });
    expect((await rules()).in_force).toMatchObject({ sha256: working.sha256, commit: null });
    expect(await adoptions()).toHaveLength(3);
  });

  it('is not adopted with the token of a session', async () => {
    const { token } = await world.ask<{ token: string }>('task_claim', { task_id: 'A', as: 'ann' });
    world.write(LAX);
    const { working } = await rules();
    const tried = await world.call('runbook_adopt', { accept_rules: working.sha256 }, token);
    expect(tried).toMatchObject({ ok: false, error: { code: 'forbidden' } });
    expect(await adoptions()).toHaveLength(1);
  });

  it('stays the same after a restart, and edits change no gate', async () => {
    const before = (await rules()).in_force?.sha256;
    world.write(LAX);
    await world.restart();
    expect((await rules()).in_force?.sha256).toBe(before);
    const { attention } = await world.ask<{ attention: { next: string }[] }>('status_get');
    expect(attention).toMatchObject([{ next: 'baton runbook adopt' }]);
  });
});

describe('a commit on the main branch', () => {
  // A runbook that loosens the rules needs a person; see `test/attacks/03-rules.int.test.ts`.
  it('is adopted automatically if it tightens', async () => {
    commit({ 'baton.toml': STRICT });
    await world.start();
    await addTask('A');
    commit({ 'baton.toml': STRICTER });
    await until(async () => (await adoptions()).length === 2, 'it is adopted', 20_000);
    expect((await adoptions())[1]?.data).toMatchObject({ by: 'system:daemon', commit: expect.any(String) });
  });
});

describe('a workflow that is started right after an edit and a commit', () => {
  const edited = (run: string): string =>
    `ci.required = []\n[agents.issue-manager]\nrun = "${run}"\n[notify]\ndesktop = false\n`;
  const seenAt = (): string => {
    const folder = join(world.stateDir, 'main-seen');
    const [file] = existsSync(folder) ? readdirSync(folder) : [];
    return file === undefined ? '' : JSON.parse(readFileSync(join(folder, file), 'utf8')).at;
  };
  const types = async (type: string) => (await world.entries()).filter((entry) => entry.type === type);

  it('runs the agents of the edited runbook, and the commit is not attributed to its session', async () => {
    commit({ 'baton.toml': edited('true') });
    await world.start();
    await world.run('issue', 'One');
    await until(async () => (await types('AgentExited')).length === 1, 'the first session has ended');
    const ended = (await types('AgentExited'))[0]?.at ?? '';
    await until(() => seenAt() > ended, 'main was looked at after the first session');
    commit({ 'a.txt': 'a' });
    world.write(edited('sleep 302'));
    await world.run('issue', 'Two');
    const requested = await types('AgentRequested');
    expect(requested.map(({ data }) => data)).toMatchObject([
      { plan: { run: 'true' } },
      { plan: { run: 'sleep 302' } },
    ]);
    expect((await types('MainMoved')).at(-1)?.data).toMatchObject({ commits: 1, sessions: [] });
    await world.ask('task_cancel', { task_id: 'W-00002', reason: 'enough' });
  });
});
