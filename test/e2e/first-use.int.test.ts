import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newRepository } from '../package/new-repository.ts';
import { BATON, COMPILE_CACHE } from '../package/where.ts';
import { inLongLane } from '../lanes.ts';

/** Common problems of a user's first hour, with commands as they are typed. */
let folder: string;
let repository: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-first-'));
  repository = join(folder, 'repository');
  newRepository(repository, 'empty');
});
afterAll(() => {
  baton('down');
  rmSync(folder, { recursive: true });
});

describe('a new user', () => {
  inLongLane(() => {
    it('gets the claim back if no worktree can be created', () => {
      baton('task', 'add', 'W9', '--title', 'Nine');
      mkdirSync(join(repository, '.worktrees/w9-nine'), { recursive: true });
      expect(baton('task', 'claim', 'W9', '--as', 'ada', '--worktree')).toMatchObject({
        code: 1,
        err: expect.stringContaining('already exists'),
      });
      rmSync(join(repository, '.worktrees/w9-nine'), { recursive: true });
      expect(baton('task', 'claim', 'W9', '--as', 'ada', '--worktree')).toMatchObject({ code: 0 });
    });
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

  it('cannot block a task without notes', () => {
    baton('task', 'add', 'C', '--title', 'Two');
    expect(baton('task', 'update', 'C', '--status', 'blocked').err).toContain('Error: Missing required field: notes');
    expect(JSON.parse(baton('task', 'show', 'C', '--json').out)).toMatchObject({ status: 'todo' });
  });

  it('gets a sentence if a file cannot be written, and if a folder is a file', () => {
    const nowhere = baton('ledger', 'prove', 'C', '-o', join(folder, 'none/proof.json'));
    expect(nowhere).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^Error: cannot use .*: no such file or folder \[unexpected\]\n$/),
    });
    expect(nowhere.err).not.toContain('    at ');
    const file = join(folder, 'plain');
    writeFileSync(file, '');
    expect(baton('task', 'list', '--project', file).err).toContain('is not a folder');
  });

  it('does not wait for an endless input', () => {
    const { code, err } = baton('validate', 'mission', '/dev/zero');
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('input too large: 262145 bytes') });
    const piped = spawnSync('bash', ['-c', `yes | "${process.execPath}" "${BATON}" validate mission -`], {
      encoding: 'utf8',
    });
    expect(piped.stderr).toContain('Error: input too large');
  });

  it("sees an agent's escapes as codes in a brief, too", () => {
    baton('task', 'add', 'E', '--title', 'b\u001b[31mblue', '--description', 'a\u001b[31mred');
    const { out } = baton('task', 'brief', 'E');
    expect(out).not.toContain('\u001b');
    expect(out).toContain('a[U+001B][31mred');
  });

  it('stops following the ledger when its output is closed', () => {
    const command = `"${process.execPath}" "${BATON}"`;
    // Adds entries until the follower notices that its output is closed.
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

  it('learns what an ended claim means for an exported token', () => {
    baton('task', 'add', 'T', '--title', 'Token');
    const { token } = JSON.parse(baton('task', 'claim', 'T', '--as', 'ada', '--json').out) as { token: string };
    const withToken = (...args: string[]) => run(args, { BATON_TOKEN: token });
    expect(withToken('task', 'claim', 'C', '--as', 'ada').err).toContain('in a terminal outside the session');
    expect(withToken('task', 'list', '--project', folder)).toMatchObject({
      code: 2,
      err: 'Error: the token of a claim names its own repository: leave --project out [usage]\nTry: baton task list --help\n',
    });
    expect(baton('task', 'list', '--token', token, '--project', folder).err).toContain(
      'leave --token or --project out',
    );
    withToken('task', 'release', 'T');
    for (const args of [
      ['task', 'heartbeat', 'T'],
      ['task', 'update', 'T', '--status', 'done'],
    ])
      expect(withToken(...args).err).toContain(
        'hint: The claim of this BATON_TOKEN has ended; continue in a terminal outside the session',
      );
  });

  it('reads in a brief what the task waits for, and whose record it is', () => {
    baton('task', 'add', 'first', '--title', 'The first');
    baton('task', 'add', 'second', '--title', 'The second', '--after', 'first');
    expect(baton('task', 'brief', 'second').out).toContain(
      'Waits for:\n\n```text\n- first (IMPLEMENTATION): The first\n```',
    );
    expect(record({ task_id: 'first', blockers: [{ what: 'of the first' }] })).toMatchObject({ code: 0 });
    const { out } = baton('task', 'brief', 'second');
    expect(out).toMatch(/## Records of the tasks before\n\n- entry \d+, .*: Record at commit \w+ of task first/);
    expect(out).toContain('of the first');
    expect(baton('task', 'brief', 'first').out).toContain('of the first');
  });

  it('gets the path of an existing prompt file relative to the current folder', () => {
    mkdirSync(join(repository, 'prompts'), { recursive: true });
    writeFileSync(join(repository, 'prompts/one.md'), 'Do it well.');
    const add = (id: string, prompt: string) =>
      run(['task', 'add', id, '--title', 'x', '--prompt', prompt], {}, join(repository, 'prompts'));
    expect(add('P1', 'none.md')).toMatchObject({ code: 2, err: expect.stringContaining('there is no such file') });
    expect(add('P1', '/etc/hostname').err).toContain('it is not in this repository');
    expect(add('P1', 'one.md')).toMatchObject({ code: 0 });
    expect(baton('task', 'brief', 'P1').out).toContain('Do it well.');
    // An agent could put a link there; its target must not be read.
    rmSync(join(repository, 'prompts/one.md'));
    symlinkSync(join(folder, 'state/operator.token'), join(repository, 'prompts/one.md'));
    expect(baton('task', 'brief', 'P1').out).not.toContain(
      readFileSync(join(folder, 'state/operator.token'), 'utf8').trim(),
    );
  });

  inLongLane(() => {
    it('learns in the terminal, too, what to do about an unusable folder', () => {
      const file = join(folder, 'file');
      writeFileSync(file, '');
      const { code, err } = run(['up', '--foreground'], { BATON_STATE_DIR: join(file, 'state') });
      expect(code).toBe(1);
      expect(err).toMatch(/^Error: the state folder .*file\/state cannot be used: /);
      expect(err).toContain('\n  hint: Set BATON_STATE_DIR to a folder of your own.\n');
      baton('up');
      const second = baton('up', '--foreground');
      expect(second).toMatchObject({
        code: 1,
        err: expect.stringMatching(/^Error: a daemon already runs .*\n {2}hint: Stop that daemon/),
      });
    });
  });

  it('learns where the token of the claim belongs if it is missing', () => {
    baton('task', 'add', 'K', '--title', 'x');
    expect(baton('task', 'heartbeat', 'K').err).toContain('hint: The call needs a claim: set BATON_TOKEN, or --token');
    expect(baton('task', 'release', 'K').err).toMatch(/^Error: task K is not claimed \[[a-z-]+\]\n/);
  });

  it('sees that a list has more items', () => {
    const listed = baton('task', 'list', '--limit', '2').out.split('\n');
    expect(listed[0]).toMatch(/^ID +STATUS +PHASE +HOLDER +TITLE$/);
    expect(listed.slice(3).join('\n')).toMatch(/^\n2 of \d+ tasks; see the next with --after-number 2, or/);
    expect(baton('task', 'list').out).not.toContain('see the next');
    const [, third] = baton('task', 'list', '--after', '2', '--limit', '1').out.split('\n');
    expect(listed.slice(0, 3)).not.toContain(third);
    expect(baton('task', 'list', '--limit', '3').out.split('\n')[3]?.split(' ')[0]).toBe(third?.split(' ')[0]);
  });

  it('sees all faults of a record at once', () => {
    const { code, err } = record({ task_id: 'first', summary: '', commit_sha: 'x' });
    expect(code).toBe(1);
    expect(err).toContain('Error: Field summary must not be empty');
    expect(err).toContain('(commit_sha)');
  });

  it('gets a suggestion for a mistyped command, even if the first of two words is wrong', () => {
    expect(baton('tsk', 'list').err).toContain('Did you mean: baton task list');
    expect(baton('tsk').err).toContain('Did you mean: baton task --help');
    expect(baton('task', 'lst').err).toContain('Did you mean: baton task list');
    expect(baton('ledgr', 'nothing').err).toContain('Did you mean: baton ledger --help');
  });

  it('learns who claims for which role, and what a signal caused', () => {
    baton('task', 'add', 'R', '--title', 'x', '--role', 'fixer');
    const claimed = baton('task', 'claim', 'R', '--as', 'ada').out;
    expect(claimed).toContain('# The task waits for the role fixer.');
    const token = /BATON_TOKEN=(\S+)/.exec(claimed)?.[1] ?? '';
    const signal = (kind: string) => run(['emit', 'agent:signal', JSON.stringify({ kind })], { BATON_TOKEN: token });
    expect(signal('continue').out).toBe('Recorded: you continue R. Your claim is renewed.\n');
    expect(signal('complete').out).toBe(
      'Recorded: your part of R is complete. It is now CI_PENDING, and your claim has ended.\n',
    );
  });

  it('gets a sentence about the daemon instead of internals', () => {
    expect(baton('up').out).toMatch(/^Baton \S+ is up: process \d+, since \S+, in \S+\.\n$/);
  });

  it.skipIf(!existsSync('/proc/self'))('gets an answer if no folder can be created', () => {
    for (const args of [['task', 'list'], ['task', 'add', 'A', '--title', 'x'], ['up']]) {
      const { code, err } = run(args, { BATON_STATE_DIR: '/proc/none/state' });
      expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('cannot be started: ENOENT') });
      expect(err).toContain('set BATON_STATE_DIR to another folder');
    }
  });

  inLongLane(() => {
    it('learns what it waits for when the daemon does not answer', async () => {
      baton('up');
      const { pid } = JSON.parse(readFileSync(join(folder, 'state/daemon.json'), 'utf8')) as { pid: number };
      process.kill(pid, 'SIGSTOP');
      try {
        const child = spawn(process.execPath, [BATON, 'task', 'list'], { cwd: repository, env: env() });
        const said = (await once(child.stderr.setEncoding('utf8'), 'data')).join('');
        expect(said).toMatch(
          new RegExp(`Waiting for the daemon \\(process ${pid}\\), which (has not answered yet|is stopped)\\.`),
        );
        process.kill(pid, 'SIGCONT');
        const [out, [code]] = await Promise.all([child.stdout.toArray(), once(child, 'exit')]);
        expect({ code, out: out.join('') }).toEqual({ code: 0, out: expect.stringContaining('ID') });
      } finally {
        process.kill(pid, 'SIGCONT');
      }
    });
  });
});

function record(fields: object) {
  const sha = execFileSync('git', ['-C', repository, 'rev-parse', 'HEAD'], { encoding: 'utf8' }).trim();
  const whole = { branch: 'main', commit_sha: sha, tests_run: [], summary: 'Done.', blockers: [] };
  const file = join(folder, 'record.json');
  writeFileSync(file, JSON.stringify({ ...whole, files_changed: [], related_thought_records: [], ...fields }));
  return baton('thought', 'record', file);
}

function baton(...args: string[]) {
  return run(args);
}

function run(args: readonly string[], settings: NodeJS.ProcessEnv = {}, cwd = repository) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [BATON, ...args], {
    encoding: 'utf8',
    cwd,
    env: { ...env(), ...settings },
  });
  return { code: status, out: stdout, err: stderr };
}

function env(): NodeJS.ProcessEnv {
  return { ...COMPILE_CACHE, PATH: process.env['PATH'], HOME: folder, BATON_STATE_DIR: join(folder, 'state') };
}
