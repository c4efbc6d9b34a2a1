import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { textOf } from '../../../protocol/shape/read-unknown.ts';
import { ClientMethods } from './client-methods.ts';

let folder: string;
let worktree: string;
let methods: ClientMethods;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'baton-acp-')));
  worktree = join(folder, 'worktree');
  mkdirSync(worktree);
  writeFileSync(join(folder, 'secret.txt'), 'a secret');
  methods = new ClientMethods({ files: true, terminals: true }, worktree);
});
afterEach(() => {
  methods.end();
  rmSync(folder, { recursive: true, force: true });
});

describe('files for an agent', () => {
  it('are written and read, whole or in part', async () => {
    const path = join(worktree, 'new/folder/a.txt');
    await methods.call('fs/write_text_file', { path, content: 'one\ntwo\nthree\n' });
    expect(readFileSync(path, 'utf8')).toBe('one\ntwo\nthree\n');
    expect(await methods.call('fs/read_text_file', { path })).toEqual({ content: 'one\ntwo\nthree\n' });
    expect(await methods.call('fs/read_text_file', { path, line: 2, limit: 1 })).toEqual({ content: 'two' });
  });

  it.each([
    ['the folder above', () => join(worktree, '../secret.txt')],
    ['a path with dots in the middle', () => join(worktree, 'a/../../secret.txt')],
    ['another place', () => '/etc/passwd'],
    ['the worktree itself', () => worktree],
    ['a relative path', () => 'a.txt'],
    ['a path with a null character', () => `${worktree}/a\0b`],
    ['a folder beside with the same beginning', () => `${worktree}-other/a.txt`],
  ])('are refused outside of the worktree: %s', async (_, path) => {
    for (const method of ['fs/read_text_file', 'fs/write_text_file'])
      await expect(methods.call(method, { path: path(), content: 'x' })).rejects.toMatchObject({ code: -32_602 });
    expect(readFileSync(join(folder, 'secret.txt'), 'utf8')).toBe('a secret');
  });

  it.each([
    ['a link to a file', 'secret.txt', ''],
    ['a link to a folder', '.', '/secret.txt'],
    ['a link that leads nowhere', 'not-there.txt', ''],
  ])('are refused behind %s', async (_, target, rest) => {
    symlinkSync(join(folder, target), join(worktree, 'link'));
    const path = `${join(worktree, 'link')}${rest}`;
    await expect(methods.call('fs/read_text_file', { path })).rejects.toThrow(/outside of the worktree|resolved/);
    await expect(methods.call('fs/write_text_file', { path, content: 'x' })).rejects.toThrow(/outside|resolved/);
    expect(readFileSync(join(folder, 'secret.txt'), 'utf8')).toBe('a secret');
    expect(existsSync(join(folder, 'not-there.txt'))).toBe(false);
  });

  it('are refused if they are missing, no files, or too large', async () => {
    await expect(methods.call('fs/read_text_file', { path: join(worktree, 'no') })).rejects.toMatchObject({
      code: -32_002,
    });
    mkdirSync(join(worktree, 'folder'));
    await expect(methods.call('fs/read_text_file', { path: join(worktree, 'folder') })).rejects.toThrow('not a file');
    const content = 'x'.repeat(10 * 1024 * 1024 + 1);
    await expect(methods.call('fs/write_text_file', { path: join(worktree, 'big'), content })).rejects.toThrow('bytes');
  });

  it('are refused if a write would wait for a reader', async () => {
    execFileSync('mkfifo', [join(worktree, 'pipe')]);
    const path = join(worktree, 'pipe');
    // Opening a pipe without a reader would block.
    await expect(methods.call('fs/write_text_file', { path, content: 'x' })).rejects.toThrow(/not a file|ENXIO/);
    await expect(methods.call('fs/read_text_file', { path })).rejects.toThrow('not a file');
  });

  it('are not written through a link that replaces them in the meantime', async () => {
    mkdirSync(join(folder, 'victim'));
    const swap = `until test -e stop; do ln -sfn ${folder}/victim lnk; rm -f lnk; mkdir lnk; rmdir lnk; done 2>/dev/null`;
    const race = spawn('sh', ['-c', swap], { cwd: worktree, stdio: 'ignore' });
    for (let n = 0; n < 3000; n += 1)
      await methods.call('fs/write_text_file', { path: join(worktree, `lnk/${n}`), content: 'x' }).catch(() => {});
    writeFileSync(join(worktree, 'stop'), '');
    await once(race, 'exit');
    for (const name of readdirSync(join(folder, 'victim')))
      expect(readFileSync(join(folder, 'victim', name), 'utf8')).toBe('');
  });

  it('may have a name that starts with dots', async () => {
    const path = join(worktree, '..a.txt');
    await methods.call('fs/write_text_file', { path, content: 'x' });
    expect(readFileSync(path, 'utf8')).toBe('x');
  });

  it('are declined if the runbook says so, like unknown methods', async () => {
    const none = new ClientMethods({ files: false, terminals: false }, worktree);
    expect(none.capabilities).toEqual({ fs: { readTextFile: false, writeTextFile: false }, terminal: false });
    for (const method of ['fs/read_text_file', 'terminal/create', 'no/such_method'])
      await expect(none.call(method, { path: join(worktree, 'a') })).rejects.toMatchObject({ code: -32_601 });
  });
});

describe('a terminal for an agent', () => {
  const create = async (params: object): Promise<string> =>
    textOf(Object(await methods.call('terminal/create', { ...params }))['terminalId']);

  it('runs a command in the worktree, with its variables, and reports output and exit', async () => {
    const terminalId = await create({
      command: 'sh',
      args: ['-c', 'echo "$NAME in $(pwd)"; exit 3'],
      env: [{ name: 'NAME', value: 'Ada' }],
    });
    expect(await methods.call('terminal/wait_for_exit', { terminalId })).toEqual({ exitCode: 3, signal: null });
    expect(await methods.call('terminal/output', { terminalId })).toEqual({
      output: `Ada in ${worktree}\n`,
      truncated: false,
      exitStatus: { exitCode: 3, signal: null },
    });
    await methods.call('terminal/release', { terminalId });
    await expect(methods.call('terminal/output', { terminalId })).rejects.toMatchObject({ code: -32_002 });
  });

  it('keeps the end of a long output, cut at a character', async () => {
    const terminalId = await create({ command: 'printf "ääääääää"', outputByteLimit: 5 });
    await methods.call('terminal/wait_for_exit', { terminalId });
    expect(await methods.call('terminal/output', { terminalId })).toMatchObject({ output: 'ää', truncated: true });
  });

  it('keeps the end of an output of any size', async () => {
    const terminalId = await create({ command: 'yes 0123456789abcde | head -c 20000000; echo the end' });
    await methods.call('terminal/wait_for_exit', { terminalId });
    const { output, truncated } = Object(await methods.call('terminal/output', { terminalId }));
    expect(truncated).toBe(true);
    expect(Buffer.byteLength(output)).toBe(1024 * 1024);
    expect(output).toMatch(/abcde\nthe end\n$/);
  });

  it('closes when it is released, even if a leftover process holds its output', async () => {
    const open = (): number => readdirSync('/proc/self/fd').length;
    const before = open();
    for (let n = 0; n < 5; n += 1) {
      const terminalId = await create({ command: 'sleep 2 &' });
      await methods.call('terminal/wait_for_exit', { terminalId });
      await methods.call('terminal/release', { terminalId });
    }
    await expect.poll(open).toBeLessThan(before + 5);
  });

  it('ends with everything in it', async () => {
    const terminalId = await create({ command: 'sleep 600 & sleep 600' });
    await methods.call('terminal/kill', { terminalId });
    expect(await methods.call('terminal/wait_for_exit', { terminalId })).toEqual({ exitCode: null, signal: 'SIGKILL' });
  });

  it('reports a missing program', async () => {
    const terminalId = await create({ command: 'no-such-program', args: ['x'] });
    expect(await methods.call('terminal/wait_for_exit', { terminalId })).toEqual({ exitCode: 127, signal: null });
  });

  it('is refused above the limit', async () => {
    for (let n = 0; n < 32; n += 1) await create({ command: 'true' });
    await expect(create({ command: 'true' })).rejects.toThrow('more than 32 terminals');
  });
});
