import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listLiving, readProcFile } from '../../api/processes.ts';
import { probeBubblewrap } from '../probe.ts';
import { JudgeScene } from './judge-scene.cases.ts';

const answer = await probeBubblewrap();
const unless = answer.works ? '' : ` (NOT RUN: ${answer.reason})`;

const DEADLINE = { timeout: 60_000 };

function findMarked(mark: string): number[] {
  return listLiving().flatMap(({ pid }) => (readProcFile(pid, 'cmdline').includes(mark) ? [pid] : []));
}

describe.skipIf(!answer.works)(`the streams of a separate shell${unless}`, () => {
  let scene: JudgeScene;
  beforeAll(async () => {
    scene = await JudgeScene.open();
  });
  afterAll(async () => {
    await scene[Symbol.asyncDispose]();
  });

  it('carries large binary input and output unchanged', async () => {
    const printed = await scene.run(`
      const bytes = require('node:crypto').randomBytes(20_000_000);
      const { stdout, stderr, status } = sh('tee /dev/stderr', { input: bytes });
      console.log(stdout.equals(bytes), stderr.equals(bytes), status);
    `);
    expect(printed).toBe('true true 0\n');
  });

  it.each([
    ['true', 0],
    ['exit 255', 255],
    ['kill -9 $$', 137],
    ['kill -TERM $$', 143],
    ['no-such-program', 127],
  ])('reports the exit of %s as a shell does', async (line, code) => {
    expect(await scene.run(`process.stdout.write(String(sh(${JSON.stringify(line)}).status))`)).toBe(String(code));
  });

  it('passes on the name of the shell, its arguments and its folder', async () => {
    const printed = await scene.run(`
      show(spawnSync('bash', ['-c', 'echo "$BASH_VERSION" | grep -c . ; echo "$0 $1 $2"', 'zero', 'a b', "c'd"]));
      show(sh('pwd', { cwd: '/tmp' }));
      require('node:fs').writeFileSync('script', '#!/usr/bin/env bash\\necho "$0 $1"\\n', { mode: 0o755 });
      show(spawnSync('./script', ['x']));
    `);
    expect(printed).toBe("1\nzero a b c'd\n/tmp\n./script x\n");
  });

  it('passes on a signal, also while the command does not read its input', async () => {
    const printed = await scene.run(`
      const child = spawn('/bin/sh', ['-c', 'trap "echo ended; exit 9" TERM; echo ready; while :; do sleep 0.05; done']);
      child.stdin.on('error', () => {});
      child.stdin.write(Buffer.alloc(5_000_000));
      child.stdout.on('data', (piece) => String(piece).includes('ready') ? child.kill('SIGTERM') : process.stdout.write(piece));
      child.once('close', (code) => { console.log(code); process.exit(); });
    `);
    expect(printed).toBe('ended\n9\n');
  });

  it('does not wait for input that the client keeps open', async () => {
    const printed = await scene.run(`
      const child = spawn('/bin/sh', ['-c', 'echo done']);
      child.stdout.pipe(process.stdout);
      child.once('close', (code) => { console.log(code); process.exit(); });
    `);
    expect(printed).toBe('done\n0\n');
  });

  it('lets commands run at the same time, in one network', async () => {
    const printed = await scene.run(`
      const server = spawn('/bin/sh', ['-c', 'exec ${process.execPath} -e "require(\\\\"net\\\\").createServer((s) => s.end(\\\\"served\\\\")).listen(4999, () => console.log(1))"']);
      server.stderr.pipe(process.stderr);
      server.stdout.once('data', async () => {
        const one = (n) => new Promise((resolve) => {
          const child = spawn('/bin/sh', ['-c', 'echo ' + n + ' $(${process.execPath} -e "require(\\\\"net\\\\").connect(4999).pipe(process.stdout)")']);
          let text = '';
          child.stdout.on('data', (piece) => (text += piece));
          child.once('close', () => resolve(text.trim()));
        });
        console.log((await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(one))).join());
        server.kill('SIGKILL');
        process.exit();
      });
    `);
    expect(printed).toBe('1 served,2 served,3 served,4 served,5 served,6 served,7 served,8 served\n');
  });

  it('ends a command whose program in the client is killed', async () => {
    const client = scene.start(`
      const child = spawn('/bin/sh', ['-c', 'sleep 1002 & echo ready; wait']);
      child.stdout.once('data', () => console.log('runs'));
      process.stdin.once('data', () => child.kill('SIGKILL'));
    `);
    if (client.stdout !== null) await once(client.stdout, 'data');
    expect(findMarked('sleep\u00001002')).toHaveLength(1);
    client.stdin?.write('kill it');
    await expect.poll(() => findMarked('sleep\u00001002').length, DEADLINE).toBe(0);
    client.kill('SIGKILL');
  });

  it('ends every command with the client', async () => {
    const client = scene.start(`spawn('/bin/sh', ['-c', 'sleep 1001; :'])`);
    await expect.poll(() => findMarked('sleep\u00001001').length, DEADLINE).toBe(1);
    client.kill('SIGKILL');
    await expect.poll(() => findMarked('sleep\u00001001').length, DEADLINE).toBe(0);
  });

  it('ends every command with the supervisor', async () => {
    const own = mkdtempSync(join(tmpdir(), 'baton judge-'));
    const code = `spawn('/bin/sh', ['-c', 'sleep 1003; :'])`;
    const supervisor = spawn(process.execPath, [join(import.meta.dirname, 'judge-scene.cases.ts'), own, code]);
    await expect.poll(() => findMarked('sleep\u00001003').length, DEADLINE).toBe(1);
    supervisor.kill('SIGKILL');
    await expect.poll(() => findMarked('sleep\u00001003').length, DEADLINE).toBe(0);
    rmSync(own, { recursive: true });
  });
});
