import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  symlinkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BATON, COMPILE_CACHE } from '../package/where.ts';
import { runCli } from '../run-cli.ts';
import { inLongLane } from '../lanes.ts';

/** Imports tasks from other tools and exports them again, with the command. */
const root = join(import.meta.dirname, '../..');
const fixtures = join(root, 'test/fixtures/exchange');
let folder: string;
let repository: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-import-'));
  repository = newRepository('repository');
});
afterAll(async () => {
  await baton(['down']);
  rmSync(folder, { recursive: true });
});

describe('an import', () => {
  it('shows first what it would do, and does nothing', async () => {
    const { code, out } = await baton(['task', 'import', join(fixtures, 'task-master.json'), '--dry-run']);
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('Would import 8 tasks from task-master') });
    expect(out).toContain('  3.2  todo  Limit the size of a body  (after 3.1, 1, 2)\n');
    expect((await baton(['task', 'list'])).out).toBe('No tasks.\n');
    expect(existsSync(join(repository, '.baton'))).toBe(false);
  });

  it('brings tasks over with status, dependencies and descriptions', async () => {
    const { out } = await baton(['task', 'import', join(fixtures, 'task-master.json')]);
    expect(out).toContain(
      'Imported 8 tasks from task-master (task-master.json): 1 done, 3 in_progress, 2 blocked, 2 todo.\n',
    );
    expect(await task('1')).toMatchObject({ status: 'done', phase: 'COMPLETED' });
    expect(await task('2')).toMatchObject({ status: 'in_progress', phase: 'IMPLEMENTATION', claimable: true });
    expect(await task('3.2')).toMatchObject({ status: 'todo', after: ['3.1', '1', '2'], claimable: false });
    expect(await task('4')).toMatchObject({ status: 'blocked', blocked_because: 'blocked in task-master' });
    expect(await task('3')).toMatchObject({ description: expect.stringContaining('Then POST.') });
    expect((await baton(['task', 'brief', '3'])).out).toContain('Then POST.\n');
    expect(existsSync(join(repository, '.baton')), 'nothing is left to be committed').toBe(false);
  });

  it('records a waiver for tasks that were done elsewhere, all in one commit', async () => {
    const entries = (await baton(['ledger', 'export'])).out
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
    const said = entries.filter(({ entry }) => /^(Task|Writeback|Phase)/.test(entry?.type ?? ''));
    const waived = said.find(({ entry }) => entry.type === 'WritebackWaived');
    expect(waived.entry).toMatchObject({
      actor: expect.stringMatching(/^operator:/),
      data: { task_id: '1', reason: 'imported as done from task-master (task-master.json)' },
    });
    expect(new Set(said.map(({ entry }) => entry.at)).size).toBe(1);
    expect((await baton(['ledger', 'verify'])).code).toBe(0);
  });

  it('can be repeated: existing tasks stay, new ones are added', async () => {
    await baton(['task', 'claim', '2', '--as', 'ada']);
    const document = JSON.parse(readFileSync(join(fixtures, 'task-master.json'), 'utf8'));
    document.master.tasks[1].title = 'Another title';
    document.master.tasks.push({ id: 6, title: 'New', dependencies: [5], status: 'pending' });
    const file = write('again/tasks.json', JSON.stringify(document));
    const { out } = await baton(['task', 'import', file]);
    expect(out).toContain('Imported 1 task from task-master (tasks.json): 1 todo.');
    expect(out).toContain('since they exist already: 1, 2, 3.1, 3.2, 3.3, 3, 4, 5.');
    expect(out).toContain('Their titles differ from the existing ones: 2.');
    expect(await task('2')).toMatchObject({ title: 'Read the configuration', claim: { holder: 'ada' } });
    expect(await task('6')).toMatchObject({ after: ['5'] });
    expect((await baton(['task', 'import', file])).out).toContain('Imported 0 tasks');
  });

  it('imports all or nothing, and reports the place of a fault', async () => {
    const file = write(
      'bad.md',
      '- [ ] B1: fine\n- [ ] B2: not fine (after: B9)\n- [ ] B3: a (after: B4)\n- [ ] B4: b (after: B3)\n',
    );
    const { code, err } = await baton(['task', 'import', file]);
    expect(code).toBe(1);
    expect(err).toContain(
      'Error: B2 waits for B9, which does not exist [import/unknown-dependency]\n  at bad.md:2:1\n',
    );
    expect(err).toContain('Error: cycle: B3 → B4 → B3 [import/cycle]\n');
    expect((await baton(['task', 'show', 'B1'])).code).toBe(1);
    const json = JSON.parse((await baton(['task', 'import', file, '--json'])).out);
    expect(json.error).toMatchObject({ code: 'import/unknown-dependency', problems: [{ line: 2 }, { line: 3 }] });
  });

  it('never overwrites an existing description', async () => {
    write('repository/.baton/tasks/D1.md', 'Mine.\n');
    const { out } = await baton(
      ['task', 'import', '-'],
      '- [ ] D1: Describe\n  Theirs.\n- [ ] D2: Another\n  Also theirs.\n',
    );
    expect(out).toContain('note: .baton/tasks/D1.md exists with other content: kept');
    expect(readFileSync(join(repository, '.baton/tasks/D1.md'), 'utf8')).toBe('Mine.\n');
    expect(await task('D1')).toMatchObject({ description: 'Theirs.' });
    expect(await task('D2')).toMatchObject({ description: 'Also theirs.' });
    expect(existsSync(join(repository, '.baton/tasks/D2.md'))).toBe(false);
  });

  it('puts a description into a file if it is too long for the ledger', async () => {
    const words = 'many words '.repeat(2000).trim();
    const { out } = await baton(['task', 'import', '-'], `- [ ] D3: Describe at length\n  ${words}\n`);
    expect(out).toContain('note: .baton/tasks/D3.md has the long description of D3: commit it\n');
    expect(readFileSync(join(repository, '.baton/tasks/D3.md'), 'utf8')).toBe(`${words}\n`);
    expect(await task('D3')).toMatchObject({ description: null });
    expect((await baton(['task', 'export', '--to', 'markdown'])).out).toContain(`  ${words}\n`);
  });

  it('reads beads and GitHub, too', async () => {
    expect((await baton(['task', 'import', join(fixtures, 'beads.jsonl')])).out).toContain(
      'Imported 5 tasks from beads',
    );
    expect(await task('bd-a3f8')).toMatchObject({ after: ['bd-7c1e', 'bd-a3f8.1', 'bd-a3f8.2'], priority: 10 });
    expect(await task('bd-91d0')).toMatchObject({ status: 'blocked', blocked_because: 'deferred in beads' });
  });

  it('imports cancelled tasks as cancelled, and exports them so', async () => {
    await baton(['task', 'import', '-'], '- [-] C1: Not wanted (cancelled: too late)\n');
    expect(await task('C1')).toMatchObject({ status: 'cancelled', blocked_because: 'cancelled: too late' });
    expect((await baton(['task', 'export', '--to', 'markdown'])).out).toContain(
      '- [-] Not wanted (id: C1; cancelled: too late)\n',
    );
  });

  it('reports unknown formats', async () => {
    const nothing = write('nothing.txt', 'just words\n');
    expect(await baton(['task', 'import', nothing])).toMatchObject({
      code: 1,
      err: expect.stringContaining('not a task list'),
    });
    expect(await baton(['task', 'import', nothing, '--from', 'bead'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('(did you mean beads?)'),
    });
    expect(await baton(['task', 'import'])).toMatchObject({ code: 2, err: expect.stringContaining('name the list') });
    expect((await baton(['task', 'import', '/dev/zero'])).err).toContain('Error: input too large');
  });

  it('is for operators', async () => {
    const { token } = JSON.parse((await baton(['task', 'claim', 'D2', '--as', 'eve', '--json'])).out);
    const refused = await baton(['task', 'import', '-', '--token', token], '- [ ] E1: Mine\n  Words.\n');
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('a session may not call task_import') });
    expect(existsSync(join(repository, '.baton/tasks/E1.md'))).toBe(false);
  });
});

inLongLane(() => {
  describe('an import of ten thousand tasks', () => {
    it('is one commit, too', async () => {
      const large = newRepository('large');
      const list = Array.from({ length: 10_000 }, (_, i) => `- [x] L${i}: Something to be done (after: L${i - 1})\n`);
      list[0] = '- [x] L0: The first\n';
      const began = performance.now();
      const { code, out, err } = await baton(['task', 'import', '-'], list.join(''), large);
      expect({ code, err, out }).toEqual({
        code: 0,
        err: expect.anything(),
        out: expect.stringContaining('Imported 10000 tasks'),
      });
      expect(performance.now() - began).toBeLessThan(60_000);
      expect(JSON.parse((await baton(['task', 'show', 'L9999', '--json'], '', large)).out)).toMatchObject({
        status: 'done',
      });
    });
  });
});

describe('an export', () => {
  it('into the file it came from changes only what has changed', async () => {
    const file = write('back/tasks.json', readFileSync(join(fixtures, 'task-master.json'), 'utf8'));
    chmodSync(file, 0o640);
    const other = newRepository('other');
    await baton(['task', 'import', file], '', other);
    expect((await baton(['task', 'export', '-o', file], '', other)).out).toContain('8 tasks as task-master');
    expect(readFileSync(file, 'utf8')).toBe(readFileSync(join(fixtures, 'task-master.json'), 'utf8'));
    await baton(['task', 'complete', '2', '--waive', 'done by hand'], '', other);
    await baton(['task', 'add', 'P0.1', '--title', 'From here', '--after', '2'], '', other);
    await baton(['task', 'export', '-o', file], '', other);
    const { master, later } = JSON.parse(readFileSync(file, 'utf8'));
    const before = JSON.parse(readFileSync(join(fixtures, 'task-master.json'), 'utf8'));
    expect(later).toEqual(before.later);
    expect(master.tasks[1]).toEqual({ ...before.master.tasks[1], status: 'done' });
    expect(master.tasks[2]).toEqual(before.master.tasks[2]);
    expect(master.tasks[5]).toMatchObject({ id: 6, dependencies: ['2'], metadata: { baton_id: 'P0.1' } });
    expect(execFileSync('stat', ['-c', '%a', file], { encoding: 'utf8' })).toBe('640\n');
  });

  it('of beads keeps every unchanged line', async () => {
    const file = write('issues.jsonl', readFileSync(join(fixtures, 'beads.jsonl'), 'utf8'));
    const other = newRepository('beads');
    await baton(['task', 'import', file], '', other);
    await baton(['task', 'complete', 'bd-a3f8.1', '--waive', 'indexed'], '', other);
    await baton(['task', 'export', '-o', file], '', other);
    const [before, after] = [join(fixtures, 'beads.jsonl'), file].map((path) => readFileSync(path, 'utf8').split('\n'));
    expect(after?.filter((line, i) => line !== before?.[i])).toHaveLength(1);
    expect(JSON.parse(after?.[1] ?? '')).toMatchObject({
      ...JSON.parse(before?.[1] ?? ''),
      status: 'closed',
      closed_at: expect.any(String),
      updated_at: expect.any(String),
    });
  });

  it('does not change a file that it cannot parse', async () => {
    const file = write('broken.json', '{"master": {"tasks": [');
    const { code, err } = await baton(['task', 'export', '--to', 'task-master', '-o', file]);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('invalid JSON') });
    expect(readFileSync(file, 'utf8')).toBe('{"master": {"tasks": [');
  });

  it('is complete in its file even if its output is not read', async () => {
    const many = newRepository('many');
    const list = Array.from({ length: 100 }, (_, i) => `- [ ] N${i}: Something\n`);
    await baton(['task', 'import', '-'], list.join(''), many);
    const file = join(folder, 'many/tasks.json');
    // The pipe is closed before any output.
    const command = `"$0" "$@" 2>&1 | true`;
    const { status } = spawnSync('sh', ['-c', command, process.execPath, BATON, 'task', 'export', '-o', file], {
      cwd: many,
      env: { ...COMPILE_CACHE, PATH: process.env['PATH'], HOME: folder, BATON_STATE_DIR: join(folder, 'state') },
    });
    expect(status).toBe(0);
    expect(JSON.parse(readFileSync(file, 'utf8')).master.tasks).toHaveLength(100);
    const { err } = await baton(['task', 'export', '--to', 'task-master'], '', many);
    expect(err.split('\n').filter((line) => line.startsWith('note: '))).toHaveLength(21);
    expect(err).toContain('note: and 80 more');
  });

  it('follows a link, even without a target, and does not change a read-only file', async () => {
    const link = join(folder, 'link.md');
    symlinkSync(join(folder, 'behind.md'), link);
    expect(await baton(['task', 'export', '-o', link])).toMatchObject({ code: 0 });
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(folder, 'behind.md'), 'utf8')).toContain('- [');
    const kept = write('kept.md', '- [ ] Mine\n');
    chmodSync(kept, 0o444);
    const refused = await baton(['task', 'export', '-o', kept]);
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('it is read-only') });
    expect(readFileSync(kept, 'utf8')).toBe('- [ ] Mine\n');
  });

  it('of a Markdown list ticks its boxes', async () => {
    const file = write('TODO.md', readFileSync(join(fixtures, 'TODO.md'), 'utf8'));
    const other = newRepository('markdown');
    await baton(['task', 'import', file], '', other);
    await baton(['task', 'complete', 'T2', '--waive', 'done'], '', other);
    await baton(['task', 'export', '-o', file], '', other);
    const expected = readFileSync(join(fixtures, 'TODO.md'), 'utf8').replace('- [ ] T2', '- [x] T2');
    expect(readFileSync(file, 'utf8')).toBe(expected);
  });
});

describe('gh', () => {
  it('is asked for the issues, with arguments and no shell', async () => {
    const other = newRepository('github');
    const path = programs(
      'gh',
      `printf '%s\\n' "$@" > "${folder}/asked"; pwd >> "${folder}/asked"; cat "${fixtures}/github.json"`,
    );
    const { code, out } = await baton(['task', 'import', '--from', 'github'], '', other, { PATH: path });
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('Imported 5 tasks from GitHub (gh)') });
    const asked = readFileSync(join(folder, 'asked'), 'utf8').split('\n');
    expect(asked.slice(0, 2)).toEqual(['issue', 'list']);
    expect(asked.slice(-4, -1)).toEqual(['--json', 'number,title,body,state,stateReason,labels,url', other]);
  });

  it('that is missing, or needs a login, is reported in a sentence', async () => {
    const without = await baton(['task', 'import', '--from', 'github'], '', repository, {
      PATH: dirname(process.execPath),
    });
    expect(without).toMatchObject({
      code: 1,
      err: expect.stringContaining('gh, the command line of GitHub, is not on the PATH'),
    });
    const path = programs('gh', 'echo "To get started with GitHub CLI, please run:  gh auth login" >&2; exit 4');
    const loggedOut = await baton(['task', 'import', '--from', 'github'], '', repository, { PATH: path });
    expect(loggedOut).toMatchObject({ code: 1, err: expect.stringContaining('hint: Log in: gh auth login') });
  });
});

async function task(id: string): Promise<unknown> {
  return JSON.parse((await baton(['task', 'show', id, '--json'])).out);
}

/** Runs the command in this process, with a separate daemon. */
async function baton(
  args: readonly string[],
  input = '',
  cwd = repository,
  env: Readonly<Record<string, string>> = {},
) {
  const state = { HOME: folder, BATON_STATE_DIR: join(folder, 'state') };
  return runCli(args, input, { cwd, env: { ...COMPILE_CACHE, PATH: process.env['PATH'], ...state, ...env } });
}

function newRepository(name: string): string {
  const path = join(folder, name);
  execFileSync('git', ['init', '--quiet', '--initial-branch=main', path]);
  const author = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  execFileSync('git', ['-C', path, ...author, 'commit', '--quiet', '--allow-empty', '-m', 'Begin']);
  return path;
}

/** A PATH on which this program comes first, because the tests have neither a network nor a login. */
function programs(name: string, script: string): string {
  const path = mkdtempSync(join(folder, 'bin-'));
  writeFileSync(join(path, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return `${path}:${process.env['PATH']}`;
}

function write(name: string, text: string): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}
