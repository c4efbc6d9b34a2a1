import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** What people run into in their first hour, through the command as they type it. */
const bin = join(import.meta.dirname, '../../bin/baton.cjs');
let folder: string;
let repository: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-first-'));
  repository = join(folder, 'repository');
  execFileSync('git', ['init', '--quiet', '--initial-branch=main', repository]);
  const author = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  execFileSync('git', ['-C', repository, ...author, 'commit', '--quiet', '--allow-empty', '-m', 'Begin']);
});
afterAll(() => {
  baton('down');
  rmSync(folder, { recursive: true });
});

describe('a new user', () => {
  it('gets the claim back where no worktree can be made', () => {
    baton('task', 'add', 'W9', '--title', 'Nine');
    mkdirSync(join(repository, '.worktrees/w9-nine'), { recursive: true });
    expect(baton('task', 'claim', 'W9', '--as', 'ada', '--worktree')).toMatchObject({
      code: 1,
      err: expect.stringContaining('already exists'),
    });
    rmSync(join(repository, '.worktrees/w9-nine'), { recursive: true });
    expect(baton('task', 'claim', 'W9', '--as', 'ada', '--worktree')).toMatchObject({ code: 0 });
  });

  it('cannot complete one task with the record of another', () => {
    baton('task', 'add', 'A', '--title', 'One');
    const sha = execFileSync('git', ['-C', repository, 'rev-parse', 'HEAD'], { encoding: 'utf8' }).trim();
    const record = { task_id: 'B', branch: 'main', commit_sha: sha, tests_run: [], summary: 'Done.', blockers: [] };
    const file = join(folder, 'record.json');
    writeFileSync(file, JSON.stringify({ ...record, files_changed: [], related_thought_records: [] }));
    expect(baton('task', 'complete', 'A', file).err).toContain('Error: the record is about B, not A');
    expect(JSON.parse(baton('task', 'show', 'A', '--json').out)).toMatchObject({ status: 'todo' });
  });

  it('cannot block a task without saying why', () => {
    baton('task', 'add', 'C', '--title', 'Two');
    expect(baton('task', 'update', 'C', '--status', 'blocked').err).toContain('Error: Missing required field: notes');
    expect(JSON.parse(baton('task', 'show', 'C', '--json').out)).toMatchObject({ status: 'todo' });
  });

  it('gets a sentence where a file cannot be written, and where a folder is a file', () => {
    const nowhere = baton('ledger', 'prove', 'C', '-o', join(folder, 'none/proof.json'));
    expect(nowhere).toMatchObject({ code: 1, err: expect.stringMatching(/^Error: ENOENT/) });
    expect(nowhere.err).not.toContain('    at ');
    const file = join(folder, 'plain');
    writeFileSync(file, '');
    expect(baton('task', 'list', '--project', file).err).toContain('is not a folder');
  });

  it('is not made to wait by an input without end', () => {
    const { code, err } = baton('validate', 'mission', '/dev/zero');
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('input too large: 262145 bytes') });
    const piped = spawnSync('bash', ['-c', `yes | "${process.execPath}" "${bin}" validate mission -`], {
      encoding: 'utf8',
    });
    expect(piped.stderr).toContain('Error: input too large');
  });

  it("sees an agent's escapes as codes in a brief, too", () => {
    baton('task', 'add', 'E', '--title', 'a\u001b[31mred');
    const { out } = baton('task', 'brief', 'E');
    expect(out).not.toContain('\u001b');
    expect(out).toContain('a\\u001b[31mred');
  });

  it('stops following the ledger when nobody reads on', () => {
    const command = `"${process.execPath}" "${bin}"`;
    // Entries come until the follower has noticed that nobody listens.
    const add = `${command} task add Z$i --title z > /dev/null`;
    const script = `(${command} ledger log -f | head -1) & for i in 1 2 3 4 5 6 7 8 9; do kill -0 $! 2>&- && ${add}; done; wait`;
    const { status } = spawnSync('bash', ['-c', script], {
      encoding: 'utf8',
      cwd: repository,
      env: env(),
      timeout: 25_000,
    });
    expect(status).toBe(0);
  });
});

function baton(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], {
    encoding: 'utf8',
    cwd: repository,
    env: env(),
  });
  return { code: status, out: stdout, err: stderr };
}

function env(): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], HOME: folder, BATON_STATE_DIR: join(folder, 'state') };
}
