import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BATON } from '../../../test/package/where.ts';
import { type Ran, runCli } from '../../../test/run-cli.ts';
import { projectId } from '../../git/repository.ts';
import { storeBlob } from '../../ledger/snapshots-and-blobs.ts';
import { waitUntil } from '../../ledger/store.cases.ts';
import type { Draft } from '../../ledger/format/draft.ts';
import { ledgerPlace, type LedgerPlace } from '../../ledger/writer/ledger-files.ts';
import { record, testDraft } from '../../ledger/writer/ledger.cases.ts';
import { openLedgerAt } from '../../ledger/writer/open.ts';

let folder: string;
let repository: string;
let env: Record<string, string>;
let place: LedgerPlace;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-cli-'));
  repository = join(folder, 'my repo');
  execFileSync('git', ['init', '--quiet', repository]);
  env = { BATON_STATE_DIR: join(folder, 'state'), USER: 'ada' };
  place = ledgerPlace(join(folder, 'state'), projectId({ mainTop: repository, commonDir: join(repository, '.git') }));
});

afterEach(() => rmSync(folder, { recursive: true }));

describe('baton ledger', () => {
  it('prints the next step if nothing was recorded, and creates nothing', async () => {
    for (const command of ['log', 'verify', 'root', 'seal', 'export']) {
      const { code, err } = await baton('ledger', command);
      expect(code).toBe(1);
      expect(err).toContain('Error: no entry was recorded for the project my-repo-');
      expect(err).toContain('hint: Record something first, for example: baton task add');
    }
    expect(existsSync(join(folder, 'state'))).toBe(false);
    // A session in a sandbox does not see the ledger.
    const inSession = await run(['ledger', 'log'], repository, { ...env, BATON_URL: 'http://127.0.0.1:1' });
    expect(inSession).toMatchObject({ code: 1, err: expect.stringContaining('outside of this sandbox') });
  });

  it('reports a missing database if only its checkpoint is left, and creates nothing', async () => {
    await recordTasks(2);
    rmSync(place.ledger);
    for (const command of ['log', 'verify', 'root', 'seal', 'export']) {
      const { code, out, err } = await baton('ledger', command);
      expect({ command, code, out }).toEqual({ command, code: 4, out: '' });
      expect(err).toMatch(/^Error: the database of the project my-repo-\w+ is missing: /);
      expect(err).toContain(`remove ${place.outside}, too`);
    }
    expect(existsSync(place.ledger)).toBe(false);
  });

  it('reports that it is outside of a repository, and accepts one by name', async () => {
    await recordTasks(1);
    mkdirSync(join(folder, 'elsewhere'));
    const outside = await run(['ledger', 'log'], join(folder, 'elsewhere'));
    expect(outside).toMatchObject({ code: 1, err: expect.stringContaining('is not inside a git repository') });
    expect(await run(['ledger', 'log', '--project', repository], folder)).toMatchObject({ code: 0 });
    // A worktree belongs to the same project.
    git('commit', '--allow-empty', '--quiet', '-m', 'first');
    git('worktree', 'add', '--quiet', join(folder, 'tree'));
    expect(await run(['ledger', 'log'], join(folder, 'tree'))).toMatchObject({ code: 0, err: '' });
  });

  it('log shows the newest entries, or all, for people and for programs', async () => {
    await recordTasks(60);
    expect((await baton('ledger', 'log')).out.split('\n')).toHaveLength(52);
    const [header, ...all] = (await baton('ledger', 'log', '--limit', '0')).out.trimEnd().split('\n');
    expect(header).toMatch(/^ {3}SEQ {2}TIME +TYPE +TASK +ACTOR +DATA$/);
    expect(all).toHaveLength(61);
    expect(all[1]).toMatch(/^ {5}2 {2}\S+Z {2}TaskUpdated +T001 +session:s-1 +\{"notes":"Schritt 0/);
    // An entry without a task shows `-`, so that the columns stay aligned.
    expect(all[0]).toMatch(/KeyAdded +- +system:ledger +\{/);
    const json = (await baton('ledger', 'log', '-n', '2', '--json')).out.trimEnd().split('\n');
    expect(json.map((line) => JSON.parse(line).seq)).toEqual([60, 61]);
    expect((await baton('ledger', 'log', '--limit', 'x')).code).toBe(2);
  });

  it('log shows the newest entries of a task, a type or an actor', async () => {
    await recordTasks(60, progressDraft);
    const seqs = async (...options: string[]) => {
      const { out } = await baton('ledger', 'log', '--json', ...options);
      return out === ''
        ? []
        : out
            .trimEnd()
            .split('\n')
            .map((line) => JSON.parse(line).seq);
    };
    expect(await seqs('--type', 'KeyAdded')).toEqual([1]);
    expect(await seqs('--type', 'KeyAdded, TaskProgressed', '-n', '2')).toEqual([60, 61]);
    expect(await seqs('--actor', 'system', '--limit', '0')).toEqual([1]);
    expect(await seqs('--task', 'T001', '--limit', '0')).toHaveLength(60);
    expect(await seqs('--task', 'T002')).toEqual([]);
    expect(await seqs('--since', '1h', '--limit', '0')).toHaveLength(61);
    expect(await seqs('--since', '2999-01-01')).toEqual([]);
    const { code, err } = await baton('ledger', 'log', '--type', 'TaskProgresed');
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('(did you mean TaskProgressed?) [usage]') });
  });

  it('log -f continues with new entries', async () => {
    await recordTasks(1);
    const log = spawn(process.execPath, [BATON, 'ledger', 'log', '-f', '--json'], { cwd: repository, env });
    let output = '';
    log.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    const ended = once(log, 'close');
    try {
      await waitUntil(() => output.split('\n').length === 3);
      await recordTasks(2);
      await waitUntil(() => output.split('\n').length === 5);
      expect(
        output
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line).seq),
      ).toEqual([1, 2, 3, 4]);
    } finally {
      log.kill('SIGKILL');
      await ended;
    }
  });

  it('blob prints a blob of an entry, safe for a terminal, or writes its bytes to a file', async () => {
    await recordTasks(1);
    const text = Buffer.from('line one\n\u001b[31mred\u001b[0m\n');
    const opened = await openLedgerAt(place, { clock: () => new Date() });
    if (!opened.ok) throw new Error(opened.problem.message);
    const stored = await storeBlob(opened.ledger.store, opened.ledger.sha256, text);
    await opened.ledger.close();
    const name = stored.ok ? stored.value : '';
    expect(await baton('ledger', 'blob', name)).toEqual({
      code: 0,
      out: 'line one\n\\u001b[31mred\\u001b[0m\n',
      err: '',
    });
    expect(await baton('ledger', 'blob', name.replace('sha256:', ''), '-o', 'blob.txt')).toMatchObject({
      code: 0,
      out: '',
    });
    expect(readFileSync(join(repository, 'blob.txt'))).toEqual(text);
    expect(await baton('ledger', 'blob', '42')).toMatchObject({
      code: 2,
      err: expect.stringContaining('`baton ledger show SEQ` prints it'),
    });
    expect(await baton('ledger', 'blob', `sha256:${'0'.repeat(64)}`)).toMatchObject({
      code: 1,
      err: expect.stringContaining('there is no blob sha256:000'),
    });
  });

  it('show prints one entry, and names the last one if it does not exist', async () => {
    await recordTasks(1);
    const { out } = await baton('ledger', 'show', '2', '--json');
    expect(JSON.parse(out)).toMatchObject({ entry: { seq: 2, data: { task_id: 'T001' } } });
    expect((await baton('ledger', 'show', '2')).out).toContain('"type": "TaskUpdated"');
    expect(await baton('ledger', 'show', '7')).toMatchObject({
      code: 1,
      err: expect.stringContaining('The newest entry is 2'),
    });
    expect((await baton('ledger', 'show', '0')).code).toBe(2);
  });

  it('verify accepts an untouched ledger, even while it is open', async () => {
    await recordTasks(10, progressDraft);
    expect(await baton('ledger', 'verify')).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringMatching(
        /^verified: 11 entries of my-repo-\w+\nroot: \w{64}\nfold: there is no snapshot to compare with\n$/,
      ),
    });
    const opened = await openLedgerAt(place, { clock: () => new Date() });
    const { code, out } = await baton('ledger', 'verify', '--all-signatures', '--json');
    expect([code, JSON.parse(out)]).toMatchObject([0, { verified: true, size: 11, warnings: [] }]);
    if (opened.ok) await opened.ledger.close();
  });

  it('verify names the first bad entry, and exits 4', async () => {
    await recordTasks(10);
    const db = new DatabaseSync(place.ledger);
    db.exec('DROP TRIGGER entry_no_update; UPDATE entry SET hash = zeroblob(32) WHERE seq = 5');
    db.close();
    const { code, err, out } = await baton('ledger', 'verify');
    expect(code).toBe(4);
    expect(out).toBe('');
    expect(err).toMatch(/^Error: entry 5: entry 5 is not what was recorded/);
    expect(JSON.parse((await baton('ledger', 'verify', '--json')).out)).toMatchObject({
      verified: false,
      findings: [{ seq: 5 }],
    });
  });

  it('verify detects a missing end by the outside checkpoint', async () => {
    await recordTasks(2);
    const older = readFileSync(place.ledger);
    await recordTasks(2);
    writeFileSync(place.ledger, older);
    expect(await baton('ledger', 'verify')).toMatchObject({
      code: 4,
      err: expect.stringContaining('entries 4 to 5 are missing'),
    });
    expect(await baton('ledger', 'seal')).toMatchObject({
      code: 4,
      err: expect.stringContaining('missing from the end'),
    });
  });

  it('seal seals once, and root prints it', async () => {
    await recordTasks(3);
    expect(await baton('ledger', 'root')).toMatchObject({
      code: 1,
      err: expect.stringContaining('Run: baton ledger seal'),
    });
    const first = await baton('ledger', 'seal', '--json');
    expect(JSON.parse(first.out)).toMatchObject({ size: 4, seq: 5, is_new: true });
    expect((await baton('ledger', 'seal')).out).toMatch(
      /^already sealed: 4 entries, recorded as entry 5\nroot: \w{64}\n$/,
    );
    const { root } = JSON.parse(first.out);
    expect((await baton('ledger', 'root')).out).toBe(`sealed: 4 entries, recorded as entry 5\nroot: ${root}\n`);
    expect(JSON.parse((await baton('ledger', 'root', '--json')).out)).toMatchObject({ size: 4, root });
  });

  it('seal and export refuse a ledger that was changed, and exit 4', async () => {
    await recordTasks(3);
    expect((await baton('ledger', 'seal')).code).toBe(0);
    await recordTasks(3);
    expect((await baton('ledger', 'export', '-o', 'ledger.ndjson')).code).toBe(0);
    const good = readFileSync(join(repository, 'ledger.ndjson'), 'utf8');
    const db = new DatabaseSync(place.ledger);
    db.exec(`DROP TRIGGER entry_no_update; UPDATE entry SET bytes =
      CAST(replace(CAST(bytes AS TEXT), 'Schritt 1', 'Schritt 7') AS BLOB) WHERE seq = 7`);
    db.close();
    for (const argv of [['seal'], ['export'], ['export', '-o', 'ledger.ndjson']]) {
      const { code, err } = await baton('ledger', ...argv);
      expect({ argv, code }).toEqual({ argv, code: 4 });
      expect(err).toContain('entry 7 is not what was recorded');
    }
    // The earlier export is unchanged, and there is no partial file beside it.
    expect(readFileSync(join(repository, 'ledger.ndjson'), 'utf8')).toBe(good);
    expect(existsSync(join(repository, 'ledger.ndjson.partial'))).toBe(false);
  });

  it('seal names the process that writes, if any', async () => {
    await recordTasks(1);
    const opened = await openLedgerAt(place, { clock: () => new Date() });
    expect(await baton('ledger', 'seal')).toMatchObject({
      code: 1,
      err: expect.stringContaining(`process ${process.pid} on`),
    });
    if (opened.ok) await opened.ledger.close();
  });
});

describe('baton verify', () => {
  it('verifies a task proof offline, and refuses a changed one', async () => {
    await recordTasks(5);
    const made = await baton('ledger', 'prove', 'T001', '-o', 'proof.json');
    expect(made).toMatchObject({
      code: 0,
      out: 'proof.json: 5 entries about T001; completeness is not provable: entries may be missing\n',
    });
    const proof = join(repository, 'proof.json');
    const { key } = JSON.parse(readFileSync(proof, 'utf8'));
    // Runs in another folder, without a repository or state folder.
    expect(await run(['verify', proof, '--key', key], folder, {})).toMatchObject({
      code: 0,
      out: expect.stringContaining('verified task proof, 5 entries about T001'),
    });
    expect((await run(['verify', proof], folder, {})).out).toContain(`signed by ${key}`);
    writeFileSync(proof, readFileSync(proof, 'utf8').replace('Schritt 3', 'Schritt 4'));
    expect(await run(['verify', proof], folder, {})).toMatchObject({
      code: 4,
      err: expect.stringContaining('is not in the ledger that was signed'),
    });
  });

  it('verifies an export offline, and names the changed place', async () => {
    await recordTasks(5);
    expect((await baton('ledger', 'export', '-o', 'ledger.ndjson')).code).toBe(0);
    const file = join(repository, 'ledger.ndjson');
    expect((await baton('ledger', 'export')).out).toBe(readFileSync(file, 'utf8'));
    const verdict = await run(['verify', file, '--json'], folder, {});
    expect([verdict.code, JSON.parse(verdict.out)]).toMatchObject([0, { verified: true, kind: 'export', entries: 6 }]);
    writeFileSync(file, readFileSync(file, 'utf8').replace('Schritt 3', 'Schritt 4'));
    expect(await run(['verify', file], folder, {})).toMatchObject({
      code: 4,
      err: expect.stringContaining('entry 5 is not what was recorded'),
    });
  });

  it('verifies standard input', async () => {
    await recordTasks(5);
    await baton('ledger', 'prove', 'T001', '-o', 'proof.json');
    await baton('ledger', 'export', '-o', 'ledger.ndjson');
    for (const [file, kind, entries] of [
      ['proof.json', 'task proof', 5],
      ['ledger.ndjson', 'export', 6],
    ] as const) {
      const text = readFileSync(join(repository, file), 'utf8');
      expect(verifyInput(text)).toMatchObject({ status: 0, verdict: { verified: true, kind, entries } });
      expect(verifyInput(text.replace('Schritt 3', 'Schritt 4'))).toMatchObject({ status: 4 });
    }
    expect(verifyInput('')).toMatchObject({ status: 4, verdict: { problems: [{ code: 'ledger/bad-proof' }] } });
  });

  it('reports a missing file, and a file of another kind', async () => {
    expect(await baton('verify', 'nowhere.json')).toMatchObject({
      code: 1,
      err: expect.stringContaining('cannot read'),
    });
    writeFileSync(join(repository, 'other.json'), 'hello');
    expect(await baton('verify', 'other.json')).toMatchObject({
      code: 4,
      err: expect.stringContaining('neither a task proof nor an export'),
    });
  });

  it('refuses a task that the ledger does not have', async () => {
    await recordTasks(1);
    expect(await baton('ledger', 'prove', 'T999')).toMatchObject({
      code: 1,
      err: expect.stringContaining('no entry about the task T999'),
    });
  });
});

/** A separate process, because the test needs its standard input. */
function verifyInput(input: string): { status: number | null; verdict: unknown } {
  const { status, stdout } = spawnSync(process.execPath, [BATON, 'verify', '-', '--json'], { input, encoding: 'utf8' });
  return { status, verdict: JSON.parse(stdout) };
}

async function recordTasks(count: number, makeDraft = (i: number): Draft => testDraft(i)): Promise<void> {
  const opened = await openLedgerAt(place, { clock: () => new Date() });
  if (!opened.ok) throw new Error(opened.problem.message);
  await record(
    opened.ledger,
    Array.from({ length: count }, (_, i) => makeDraft(i)),
  );
  await opened.ledger.close();
}

/** An entry of a type that the state folds. */
function progressDraft(number: number): Draft {
  const data = { task_id: 'T001', epoch: null, progress: number, notes: null };
  return { ...testDraft(number), type: 'TaskProgressed', data };
}

function git(...args: string[]): void {
  const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org'];
  execFileSync('git', ['-C', repository, ...identity, ...args], { stdio: 'ignore' });
}

function baton(...argv: string[]): Promise<Ran> {
  return run(argv, repository);
}

async function run(argv: readonly string[], cwd: string, environment: Record<string, string> = env): Promise<Ran> {
  return runCli(argv, '', { env: environment, cwd });
}
