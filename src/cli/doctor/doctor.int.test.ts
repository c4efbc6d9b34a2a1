import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  globSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runCli } from '../../../test/run-cli.ts';
import { stateFiles } from '../../api/state-folder.ts';
import { Scene } from '../../daemon/running.cases.ts';
import { projectId } from '../../git/repository.ts';
import { claudeHooks } from '../../hooks/clients.ts';
import { findMachine } from '../../hooks/command-line.ts';
import { installHooks } from '../../hooks/install.ts';
import { ledgerPlace, type LedgerPlace } from '../../ledger/writer/ledger-files.ts';
import type { Draft } from '../../ledger/format/draft.ts';
import { record, testDraft } from '../../ledger/writer/ledger.cases.ts';
import { openLedgerAt } from '../../ledger/writer/open.ts';
import type { Io } from '../command.ts';
import { findService, serviceHost } from '../daemon/service.ts';
import type { DoctorReport, Finding } from './finding.ts';
import { look } from './look.ts';
import { findPlace, type Place } from './place.ts';
import { repairAll } from './repair.ts';

let scene: Scene;
let repository: string;
let ledger: LedgerPlace;
beforeEach(() => {
  scene = new Scene();
  repository = realpathSync(scene.makeRepository());
  const id = projectId({ mainTop: repository, commonDir: join(repository, '.git') });
  ledger = ledgerPlace(scene.stateDir, id);
});
afterEach(async () => scene.end());

async function placeOf(env: Record<string, string> = {}, options = new Map<string, string>()): Promise<Place> {
  const io: Io = {
    env: { ...scene.env, ...env },
    cwd: repository,
    isTerminal: false,
    out: () => undefined,
    err: () => undefined,
    readInput: async () => new Uint8Array(),
  };
  return findPlace({ args: [], options }, io);
}

/** Returns the codes of findings that are not `ok`, except those about the machine's sandboxes and clients. */
async function wrong(env: Record<string, string> = {}): Promise<readonly string[]> {
  return (await findings(env)).map(({ code }) => code);
}

async function findings(env: Record<string, string> = {}): Promise<readonly Finding[]> {
  const found = await look(await placeOf(env));
  return found.filter(({ code, status }) => status !== 'ok' && !MACHINE.test(code));
}

const MACHINE = /^(?:sandbox|agents)\.|^runbook\.missing$|^git\.no-identity$/;

/** Makes only the corrections of these findings. As root, --fix would also add a user to this machine. */
async function fix(...codes: readonly string[]): Promise<readonly string[]> {
  const place = await placeOf();
  const found = (await look(place)).filter(({ code }) => codes.includes(code));
  return (await repairAll(found, place)).map(({ ok, detail }) => `${ok ? 'fixed' : 'not fixed'}: ${detail}`);
}

async function recordNotes(count: number, clock: () => Date = () => new Date()): Promise<void> {
  const draft = (i: number): Draft => ({
    actor: 'operator:ada',
    type: 'TaskProgressed',
    cause: null,
    data: { task_id: 'T1', epoch: null, progress: null, notes: `Schritt ${i}` },
  });
  await recordAll(
    Array.from({ length: count }, (_, i) => draft(i + 1)),
    clock,
  );
}

async function recordAll(drafts: readonly Draft[], clock: () => Date = () => new Date()): Promise<void> {
  const opened = await openLedgerAt(ledger, { clock });
  if (!opened.ok) throw new Error(opened.problem.message);
  await record(opened.ledger, drafts);
  await opened.ledger.close();
}

/** The path, size and time of everything in the folder. */
function traceOf(folder: string): readonly string[] {
  const paths = globSync(['**/*', '**/.*'], { cwd: folder });
  return paths.map((path) => {
    const { size, mtimeMs } = lstatSync(join(folder, path));
    return `${path} ${size} ${mtimeMs}`;
  });
}

it('files of the main branch that run code are counted, and those without protection are named', async () => {
  const commit = (files: Readonly<Record<string, string>>): void => {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(repository, path)), { recursive: true });
      writeFileSync(join(repository, path), text);
    }
    execFileSync('git', ['-C', repository, 'add', '--all']);
    execFileSync('git', ['-C', repository, 'commit', '--quiet', '--message', 'x']);
  };
  const found = async () => (await look(await placeOf())).filter(({ name }) => name === 'code-files');
  commit({ Makefile: '', 'a/Makefile': '', 'a/.envrc': '', 'src/a.ts': '' });
  expect(await found()).toMatchObject([
    { code: 'code-files.protected', status: 'ok', detail: '3: shell 1, build 2; all are protected' },
  ]);
  commit({ 'baton.toml': '[ci]\nrequired = [{ name = "t", run = "true" }]\nprotected = ["!/a/Makefile"]\n' });
  const [only] = await found();
  expect(only).toMatchObject({ code: 'code-files.unprotected', status: 'ok' });
  expect(only?.detail).toContain('not protected, by ci.protected: a/Makefile');
});

describe('the ledger', () => {
  it('is inspected without writing anything', async () => {
    await recordNotes(20);
    const before = traceOf(scene.folder);
    expect(await wrong()).toEqual([]);
    expect(traceOf(scene.folder)).toEqual(before);
  });

  it('is not created', async () => {
    const before = traceOf(scene.folder);
    expect(await wrong()).toEqual([]);
    expect(traceOf(scene.folder)).toEqual(before);
  });

  it('has an entry that was changed', async () => {
    await recordNotes(20);
    replaceBytes(ledger.ledger, 'Schritt 7', 'Schritt 8');
    const [only, ...more] = await findings();
    expect(more).toEqual([]);
    expect(only).toMatchObject({ code: 'chain.broken', status: 'problem' });
    expect(only?.detail).toMatch(/^entry \d+ is not what was recorded/);
  });

  it.each([
    ['is no database', 'store.unreadable', (path: string) => writeFileSync(path, 'not a database')],
    ['is empty', 'store.unreadable', (path: string) => writeFileSync(path, '')],
    ['was deleted', 'store.unreadable', (path: string) => rmSync(path)],
    ['is a folder', 'store.unreadable', (path: string) => (rmSync(path), mkdirSync(path))],
  ])('%s', async (_, code, damage) => {
    await recordNotes(2);
    damage(ledger.ledger);
    expect(await wrong()).toEqual([code]);
  });

  it('has lost its end', async () => {
    await recordNotes(5);
    cpSync(ledger.ledger, `${ledger.ledger}.old`);
    await recordNotes(5);
    cpSync(`${ledger.ledger}.old`, ledger.ledger);
    expect((await findings()).map(({ code, detail }) => `${code}: ${detail}`)).toEqual([
      'chain.broken: entries 7 to 11 are missing from the end',
    ]);
  });

  it('has no checkpoint outside', async () => {
    await recordNotes(2);
    rmSync(ledger.outside);
    expect(await wrong()).toEqual(['chain.no-outside-checkpoint']);
  });

  it('has lost the signing key', async () => {
    await recordNotes(2);
    rmSync(ledger.key);
    expect(await wrong()).toEqual(['store.bad-key']);
  });

  it('is ahead of the clock', async () => {
    await recordNotes(2, () => new Date(Date.now() + 7_200_000));
    expect((await findings()).map(({ code, detail }) => `${code}: ${detail}`)).toEqual([
      expect.stringMatching(/^clock\.behind: the newest entry is of .*, 2 h in the future$/),
    ]);
  });

  it('has entries of a later version', async () => {
    await recordAll([testDraft(1)]);
    expect((await findings()).map(({ code, detail }) => `${code}: ${detail}`)).toEqual([
      'versions.ledger-newer: entry 2 has the type TaskUpdated, which this version does not know',
    ]);
  });
});

describe('the state folder', () => {
  it('may be a file', async () => {
    writeFileSync(scene.stateDir, '');
    expect(await wrong()).toEqual(['state.not-a-folder']);
  });

  it('and a key are open to others, and are made private', async () => {
    await recordNotes(1);
    chmodSync(scene.stateDir, 0o755);
    chmodSync(ledger.key, 0o644);
    expect(await wrong()).toEqual(['state.open-folder', 'state.open-file']);
    await fix('state.open-folder', 'state.open-file');
    expect(await wrong()).toEqual([]);
    expect(statSync(ledger.key).mode & 0o777).toBe(0o600);
  });

  it('is fine, and a variable is not', async () => {
    const set = { BATON_TICK_MS: 'soon', BATON_TELEMETRY: '/nowhere/otel.mjs' };
    expect(await wrong(set)).toEqual(['state.bad-setting', 'telemetry.missing-module']);
  });
});

describe('the daemon', () => {
  it('answers, hangs, and is killed; what it leaves is removed', async () => {
    const { child, exited } = await scene.spawnDaemon();
    expect(await wrong()).toEqual([]);
    child.kill('SIGSTOP');
    const [hanging] = await findings({ BATON_ANSWER_MS: '200' });
    expect([hanging?.code, hanging?.fix]).toEqual([
      'daemon.silent',
      `The process is stopped. Let it continue: kill -CONT ${child.pid}`,
    ]);
    child.kill('SIGKILL');
    await exited;
    expect(await wrong()).toEqual(['daemon.stale']);
    expect(await fix('daemon.stale')).toEqual([
      `fixed: removed the socket and the record of the daemon in ${scene.stateDir}`,
    ]);
    expect(await wrong()).toEqual([]);
  });

  it('is not changed by a correction that comes too late', async () => {
    const place = await placeOf();
    const { child, exited } = await scene.spawnDaemon();
    const stale = { code: 'daemon.stale', name: 'daemon', status: 'warning', detail: '', fix: '' } as const;
    const [done] = await repairAll([{ ...stale, repair: { kind: 'remove-stale-daemon' } }], place);
    expect(done).toMatchObject({ ok: false, detail: expect.stringContaining('a daemon already runs') });
    expect(await wrong()).toEqual([]);
    child.kill('SIGTERM');
    await exited;
  });

  it('may have left a socket of another kind', async () => {
    mkdirSync(scene.stateDir, { mode: 0o700 });
    writeFileSync(stateFiles(scene.stateDir).socket, '', { mode: 0o600 });
    expect(await wrong()).toEqual(['daemon.not-a-socket']);
  });
});

describe('a worktree', () => {
  it('may be deleted by hand and is then pruned; its branch stays', async () => {
    const path = join(repository, '.worktrees', 't1');
    execFileSync('git', ['-C', repository, 'worktree', 'add', '-q', '-b', 't1', path]);
    expect(await wrong()).toEqual(['worktrees.no-task']);
    rmSync(path, { recursive: true });
    expect(await wrong()).toEqual(['worktrees.missing']);
    expect(await fix('worktrees.missing')).toEqual([
      `fixed: removed ${path} from the worktrees that git has on record`,
    ]);
    expect(await wrong()).toEqual([]);
    execFileSync('git', ['-C', repository, 'rev-parse', '--verify', '--quiet', 't1']);
  });

  it('may be unknown to git', async () => {
    mkdirSync(join(repository, '.worktrees', 'left'), { recursive: true });
    expect(await wrong()).toEqual(['worktrees.not-in-git']);
  });
});

describe('hooks', () => {
  const install = (baton: string, node = process.execPath): void => {
    const machine = { ...findMachine(scene.env), baton, node };
    const done = installHooks(claudeHooks, {
      scope: { kind: 'user' },
      options: { onStop: 'allow', claim: true },
      machine,
    });
    expect(done.ok).toBe(true);
  };

  it('start a Baton that is gone, and are installed again with their options', async () => {
    install(join(scene.folder, 'no such', 'bin', 'baton.cjs'));
    expect(await wrong()).toEqual(['hooks.missing-program', 'hooks.missing-program']);
    expect(await fix('hooks.missing-program')).toContain('fixed: installed the hooks of claude again');
    expect(await wrong()).toEqual([]);
    const settings = readFileSync(join(scene.folder, '.claude', 'settings.json'), 'utf8');
    expect(settings).toContain('hooks run claude start --claim');
    expect(settings).not.toContain('claude stop');
  });

  it('start a Node that is gone', async () => {
    install(findMachine(scene.env).baton, join(scene.folder, 'old node', 'bin', 'node'));
    const [only] = await findings();
    expect([only?.code, only?.detail]).toEqual(['hooks.missing-program', expect.stringContaining('old node/bin/node')]);
  });

  it('start another Baton, which is not changed', async () => {
    const other = join(scene.folder, 'other one', 'bin', 'baton.cjs');
    mkdirSync(dirname(other), { recursive: true });
    writeFileSync(other, '');
    install(other);
    expect(await wrong()).toEqual(['hooks.other-program', 'hooks.other-program']);
    expect(await fix('hooks.other-program')).toEqual([]);
  });

  it('are switched off', async () => {
    install(findMachine(scene.env).baton);
    const path = join(scene.folder, '.claude', 'settings.json');
    writeFileSync(path, readFileSync(path, 'utf8').replace('{', '{"disableAllHooks": true,'));
    expect(await wrong()).toEqual(['hooks.off']);
  });
});

it('finds a service that starts a Baton that is gone, and writes it again', async () => {
  const found = findService({ ...serviceHost(scene.env), platform: 'linux', baton: '/gone & "lost"/baton.cjs' });
  if (!found.ok) throw new Error(found.error.message);
  const { path, content } = found.file;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  expect(await wrong()).toEqual(['service.missing-program']);
  expect((await fix('service.missing-program'))[0]).toMatch(
    /^fixed: wrote .*baton-\w+\.service; to start it: systemctl/,
  );
  expect(await wrong()).not.toContain('service.missing-program');
});

it.runIf(process.getuid?.() === 0)(
  'sets up the user for agents as root, and changes nothing outside of this system',
  async () => {
    const system = join(scene.folder, 'system');
    mkdirSync(join(system, 'etc'), { recursive: true });
    for (const name of ['passwd', 'group', 'shadow', 'gshadow']) writeFileSync(join(system, 'etc', name), '');
    vi.stubEnv('BATON_TEST_SYSTEM', system);
    try {
      const before = readFileSync('/etc/passwd', 'utf8');
      const done = await fix('sandbox.fails');
      expect(done).toEqual([expect.stringMatching(/^fixed: groupadd --prefix .*useradd --prefix .*baton-agent/)]);
      expect(readFileSync(join(system, 'etc', 'passwd'), 'utf8')).toContain('baton-agent');
      expect(readFileSync('/etc/passwd', 'utf8')).toBe(before);
    } finally {
      vi.unstubAllEnvs();
    }
  },
);

describe('the command', () => {
  it('prints a report with --json, whose exit code is 1 if there is a problem', async () => {
    const { code, out } = await runCli(['doctor', '--json'], '', { env: scene.env, cwd: repository });
    const report = JSON.parse(out) as DoctorReport; // oxlint-disable-line typescript/no-unsafe-type-assertion
    expect([code, report.ok, report.fixed]).toEqual([0, true, []]);
    expect(report.findings.find(({ name }) => name === 'clock')).toEqual({
      code: 'clock.right',
      name: 'clock',
      status: 'ok',
      detail: expect.any(String),
      fix: null,
    });
    writeFileSync(join(repository, 'baton.toml'), '[agents.a]');
    const broken = await runCli(['doctor'], '', { env: scene.env, cwd: repository });
    expect(broken.code).toBe(1);
    expect(broken.out).toMatch(/^problem +runbook +baton\.toml: .*\n +fix: See: baton runbook check$/m);
    expect(broken.out).toMatch(/\n\n1 problem, \d+ warnings?\.\n$/);
  });

  it('works without git', async () => {
    vi.stubEnv('PATH', join(scene.folder, 'nothing'));
    try {
      expect(await findings()).toEqual([
        expect.objectContaining({
          code: 'git.missing',
          detail: 'git is not on the PATH; the project is not checked',
          fix: 'Install git 2.38 or newer: https://git-scm.com/downloads',
        }),
      ]);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it('works outside of a repository, and in a folder that does not exist', async () => {
    const outside = await runCli(['doctor'], '', { env: scene.env, cwd: scene.folder });
    expect([outside.code, outside.out]).toEqual([0, expect.stringContaining('is in no repository')]);
    const nowhere = await runCli(['doctor', '--project', 'nowhere'], '', { env: scene.env, cwd: scene.folder });
    expect([nowhere.code, nowhere.out]).toEqual([1, expect.stringMatching(/^problem +git /m)]);
  });
});

function replaceBytes(path: string, from: string, to: string): void {
  // Replaces all occurrences, because SQLite leaves copies of rows that it moved.
  const text = readFileSync(path, 'latin1').replaceAll(from, to);
  writeFileSync(path, text, 'latin1');
}
