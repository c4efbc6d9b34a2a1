import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listLiving, readProcFile } from '../../../src/api/processes.ts';
import { SYSCALL_RULES } from '../../../src/sandbox/plan/seccomp/syscalls.ts';
import { probeBubblewrap } from '../../../src/sandbox/probe.ts';
import { JudgeScene, KEY, TOKEN } from '../../../src/sandbox/shell/judge-scene.cases.ts';

const answer = await probeBubblewrap();
const unless = answer.works ? '' : ` (NOT RUN: ${answer.reason})`;

/** Calls the kernel directly. Perl is a part of Debian's base system; the client runs it without a shell. */
function callKernel(name: string): string {
  const number = SYSCALL_RULES.find((rule) => rule.name === name)?.number[process.arch === 'arm64' ? 'arm64' : 'x64'];
  return `$! = 0; syscall(${number}, 16, 1, 0, 0, 0, 0); print $! + 0, qq(\\n)`;
}

/** Section 16 of docs/security.md: the tests of a branch, run by its reviewer, try to send the verdict. */
describe.skipIf(!answer.works)(`code that a reviewer runs${unless}`, () => {
  let scene: JudgeScene;
  beforeAll(async () => {
    scene = await JudgeScene.open();
  });
  afterAll(async () => {
    await scene[Symbol.asyncDispose]();
  });

  it.each([
    ['its environment', 'env'],
    ['the environment of a process', "cat /proc/[0-9]*/environ | tr '\\0' '\\n'"],
    ['the memory of a process', 'for m in /proc/[0-9]*/mem; do dd if=$m bs=1M count=64 2>/dev/null; done | strings'],
    [
      'the descriptors of a process',
      'ls -l /proc/[0-9]*/fd; cat /proc/[0-9]*/fd/* </dev/null 2>/dev/null & sleep 0.2; :',
    ],
    ['the command line of a process', "cat /proc/[0-9]*/cmdline | tr '\\0' ' '"],
    [
      'the files of the client',
      'cat ~/.client/*; find / -xdev -name "mcp.json" -o -xdev -name "login.json" 2>/dev/null | xargs cat',
    ],
    ["the transcript of the client's conversation", 'find / -xdev -name "*.jsonl" 2>/dev/null | xargs cat'],
    ['every file of HOME, /tmp and /run', 'grep -rIs . ~ /tmp /var/tmp /run /dev/shm'],
    [
      'the files of the session',
      'grep -rIs . "$(dirname "$(dirname "$PWD")")"; find / -path "*agents/1*" 2>/dev/null | xargs cat',
    ],
  ])('finds neither token nor key in %s', async (_, line) => {
    // An MCP server of the client runs meanwhile, with the client's variables and with pipes.
    const found = await scene.run(`
      const server = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)'], { stdio: 'pipe' });
      show(sh(${JSON.stringify(`{ ${line}; } 2>&1 || :`)}));
      server.kill('SIGKILL');
    `);
    expect(found).not.toContain(TOKEN);
    expect(found).not.toContain(KEY);
  });

  it('sees only the processes of its own command', async () => {
    const client = scene.start('setTimeout(() => {}, 30_000)');
    const seen = await scene.shell("cat /proc/[0-9]*/comm | sort | uniq | tr '\\n' ' '");
    client.kill('SIGKILL');
    expect(seen.split(' ').filter((name) => !['bwrap', 'cat', 'sh', 'sort', 'tr', 'uniq', ''].includes(name))).toEqual(
      [],
    );
  });

  it("reaches the supervisor neither by its port nor by its socket, while the client's process does", async () => {
    const fetchIt = `fetch(process.env.BATON_URL ?? "http://127.0.0.1:64001").then((r) => r.text()).then(console.log, () => console.log("no port"))`;
    const beside = await scene.run(`show(spawnSync(process.execPath, ['-e', ${JSON.stringify(fetchIt)}]))`);
    expect(beside).toBe('the supervisor\n');
    expect(await scene.shell(`${process.execPath} -e '${fetchIt}'`)).toBe('no port\n');
    expect(
      await scene.shell('ls /run/baton/shell /run/baton/real 2>/dev/null; cat /proc/net/unix | grep -c socket'),
    ).toBe('0\n');
  });

  it.each(['ptrace', 'process_vm_readv', 'process_vm_writev', 'pidfd_getfd', 'kcmp'])(
    'is refused %s, beside the client as well',
    async (name) => {
      const code = callKernel(name);
      expect(await scene.run(`show(spawnSync('perl', ['-e', ${JSON.stringify(code)}]))`)).toBe('1\n');
      expect(
        await scene.run(`show(sh('perl -e "$CODE"', { env: { ...process.env, CODE: ${JSON.stringify(code)} } }))`),
      ).toBe('1\n');
    },
  );

  it.each(['unshare -U true', 'unshare -Ur true', 'nsenter -t 1 -m true', 'bwrap --dev-bind / / true'])(
    'is refused a namespace: %s',
    async (line) => {
      expect(await scene.shell(`${line} >/dev/null 2>&1 && echo made`)).toBe('');
    },
  );

  it.each([
    ['nohup', 'nohup sleep 2001 >/dev/null 2>&1 &'],
    ['a new session', 'setsid sleep 2002 >/dev/null 2>&1 </dev/null &'],
    ['two forks', '(setsid sh -c "sleep 2003 & exit" &) ; sleep 0.1'],
    ['ignored signals', '(trap "" HUP TERM INT; sleep 2004) >/dev/null 2>&1 &'],
    ['a process that holds the output', 'sleep 2005 &'],
  ])('leaves no process behind: %s', async (_, line) => {
    await scene.shell(line);
    const left = listLiving().filter(({ pid }) => readProcFile(pid, 'cmdline').startsWith('sleep\u0000200'));
    expect(left).toEqual([]);
  });

  it("is not run beside the client by the client's own git", async () => {
    writeFileSync(join(scene.worktree, 'monitor'), '#!/bin/sh\nenv >>found\ncat /proc/[0-9]*/environ >>found\n', {
      mode: 0o755,
    });
    await scene.shell(
      'git init -q . 2>&1; git config core.fsmonitor ./monitor; git config --global core.fsmonitor ./monitor',
    );
    await scene.run(`show(spawnSync('git', ['status']))`);
    expect(readFileSync(join(scene.worktree, 'found'), 'utf8')).toContain('HOME=');
    expect(readFileSync(join(scene.worktree, 'found'), 'utf8')).not.toContain(TOKEN);
  });

  it("cannot write where the client's programs read: HOME, the temporary folder and the shells are its own", async () => {
    await scene.shell('echo evil >~/.profile; echo evil >"$XDG_RUNTIME_DIR/evil"; echo evil >~/.client/settings.json');
    const seen = await scene.run(`
      const { readdirSync, existsSync } = require('node:fs');
      console.log(existsSync(process.env.HOME + '/.profile'), readdirSync(process.env.HOME + '/.client').join(), readdirSync(process.env.TMPDIR).join());
    `);
    expect(seen).toBe('false conversation.jsonl,login.json,mcp.json \n');
  });

  it("cannot be started by the client, because that does not see the branch's settings for it", async () => {
    const seen = await scene.run(`
      const { readdirSync, readFileSync } = require('node:fs');
      console.log(readdirSync('.client').join(), readFileSync('.env', 'utf8'));
      show(sh('cat .client/settings.json'));
    `);
    expect(seen).toBe(' \na server of the branch');
  });

  it('gets no token from a client that passes one on under another name', async () => {
    const env = `{ ...process.env, HEADER: 'Bearer ${TOKEN}', LD_PRELOAD: '/nowhere.so' }`;
    const printed = await scene.run(`show(sh('env', { env: ${env} }))`);
    expect(printed).not.toContain(TOKEN);
    expect(printed).toContain('LD_PRELOAD=/nowhere.so');
  });

  it('is not the own command of the client by a longer text, a guessed mark, or a file of that name', async () => {
    const own = `printf %s "$BATON_TOKEN"`;
    expect(await scene.shell(own)).toBe(TOKEN);
    expect(await scene.shell(`${own}; :`)).toBe('');
    expect(await scene.run(`show(sh('env', { env: { ...process.env, BATON_BESIDE: '1' } }))`)).not.toContain(TOKEN);
    // A command in the second sandbox has the real shell, which gives it nothing.
    expect(await scene.shell(`sh -c '${own}' || :`)).toBe('');
  });
});
