import { execFile, spawnSync } from 'node:child_process';
import { chownSync, lstatSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { readProcFile, listLiving } from '../../api/processes.ts';
import { probeBubblewrap } from '../probe.ts';
import { processesInside } from './processes-inside.ts';
import { makeScene, type Outcome, startSession, TEST_LIMITS, type TestSession } from './session.cases.ts';

const answer = await probeBubblewrap();
const unless = answer.works ? '' : ` (NOT RUN: ${answer.reason})`;
const isRoot = process.getuid?.() === 0;
const tester = isRoot ? findUser('tester') : undefined;
const users = [
  { who: isRoot ? 'root' : 'this user', id: undefined, missing: answer.works ? '' : answer.reason },
  { who: 'another user without root', id: tester, missing: answer.works ? whyNotAs(tester) : answer.reason },
].map((user) => ({ ...user, title: `${user.who}${user.missing === '' ? '' : ` (NOT RUN: ${user.missing})`}` }));

function whyNotAs(id: number | undefined): string {
  if (id === undefined) return 'only root can, and only if there is a user named tester';
  const check = ['-c', 'test -r "$0" && test -x "$1"', import.meta.filename, process.execPath];
  const { status } = spawnSync('setpriv', [`--reuid=${id}`, `--regid=${id}`, '--clear-groups', 'sh', ...check]);
  return status === 0 ? '' : 'tester cannot read this folder';
}

function findUser(name: string): number | undefined {
  const id = new RegExp(`^${name}:[^:]*:(\\d+):`, 'm').exec(readFileSync('/etc/passwd', 'utf8'))?.[1];
  return id === undefined ? undefined : Number(id);
}

/** Runs the session in a separate process as that user. */
async function runAs(id: number | undefined, session: TestSession): Promise<Outcome> {
  const program = [process.execPath, join(import.meta.dirname, 'session.cases.ts'), JSON.stringify(session)];
  const [command = '', ...args] =
    id === undefined ? program : ['setpriv', `--reuid=${id}`, `--regid=${id}`, '--clear-groups', ...program];
  const printed = await new Promise<string>((resolve, reject) => {
    execFile(command, args, { cwd: '/', env: { PATH: process.env['PATH'] } }, (error, stdout, stderr) =>
      error === null ? resolve(stdout) : reject(new Error(stderr)),
    );
  });
  return JSON.parse(printed) as Outcome;
}

/** Renders a script from names and commands. Its result has each command's output by name. */
function script(commands: Readonly<Record<string, string>>): string {
  return Object.entries(commands)
    .map(([name, command]) => `echo "${name}=$( { ${command}; } 2>&1 | tr '\\n' ' ')"`)
    .join('\n');
}

function results({ stdout }: Outcome): Record<string, string> {
  const pairs = stdout.split('\n').flatMap((line) => {
    const [, name, value] = /^([a-z]+)=(.*?) *$/.exec(line) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(pairs);
}

function newFolder(owner?: number): string {
  // Other users cannot read the tests' temporary folder, so this uses /tmp.
  const root = mkdtempSync(join(owner === undefined ? tmpdir() : '/tmp', 'baton bwrap-'));
  if (owner !== undefined) chownSync(root, owner, owner);
  return root;
}

describe.each(users)('as $title', ({ id, missing }) => {
  const isSkipped = missing !== '';
  let root = '';
  let server: ReturnType<typeof createServer> | undefined;
  beforeAll(async () => {
    if (isSkipped) return;
    root = newFolder(id);
    server = createServer();
    await new Promise<void>((resolve) => server?.listen('/run/baton-test.sock', resolve).on('error', () => resolve()));
  });
  afterAll(() => {
    server?.close();
    if (root !== '') rmSync(root, { recursive: true });
  });

  it.skipIf(isSkipped)('a session sees its worktree, and nothing else that matters', async () => {
    const state = join(root, 'home/.local/state/baton');
    const outcome = await runAs(id, {
      root,
      script: script({
        pwd: 'pwd',
        id: 'id -u',
        user: 'whoami',
        home: 'ls -A ~',
        own: 'echo changed > own.txt && cat own.txt',
        main: `cat "${root}/home/app/main.txt"`,
        git: `ls "${root}/home/app/.git"`,
        other: `ls "${root}/home/app/.worktrees"`,
        key: `cat "${state}/key.pem"`,
        state: `ls -A "${state}"`,
        ssh: 'cat ~/.ssh/id',
        token: 'cat ~/.gitconfig',
        tool: 'tool',
        usr: 'touch /usr/x',
        etc: 'touch /etc/x',
        rootfolder: 'touch /x',
        nvm: 'touch ~/.nvm/x',
        homewritable: 'echo yes > ~/y && cat ~/y',
        cache: 'mkdir -p "$npm_config_cache" && echo yes',
        task: 'echo x > .baton/session/task.md',
        session: 'mv .baton/session .baton/s',
        baton: 'mv .baton b',
        link: 'rm -rf .baton; [ -d .baton/session ] && echo stays',
        run: 'ls /run',
        tmp: 'touch /tmp/t /var/tmp/u && ls /tmp | grep -v baton',
        setuid: 'cp /bin/true t; chmod u+s t',
        setuidopen: `perl -e 'use Fcntl; print sysopen(F, "s", O_CREAT|O_WRONLY, 04755) ? "made" : "refused"'`,
        pids: "ls /proc | grep -c '^[0-9]'",
        privs: "grep -E '^(NoNewPrivs|Seccomp|CapEff):' /proc/self/status | tr -d '\\t'",
        fds: 'ls /proc/self/fd',
        net: 'cat /proc/net/dev | grep -c :',
        shadow: 'cat /etc/shadow',
        unshare: 'unshare -Ur true',
        env: 'env | sed -n "s/^\\(OLDPWD\\|SHLVL\\|_\\|PWD\\)=.*/\\1/p"',
        runtime: 'touch "$XDG_RUNTIME_DIR/x" && ls "$XDG_RUNTIME_DIR"',
        dev: 'touch /dev/x; echo x > /dev/null && head -c 1 /dev/zero | wc -c',
        shm: 'touch /dev/shm/x && ls /dev/shm',
        sysctl: '[ -w /proc/sys/kernel/core_uses_pid ] || echo read-only',
        procfile: 'for f in /proc/*; do [ -f "$f" ] && [ -w "$f" ] && echo "$f"; done; true',
      }),
    });
    expect(outcome.stderr).toBe('');
    expect(results(outcome)).toMatchObject({
      pwd: join(root, 'home/app/.worktrees/W-1'),
      id: String(id ?? (isRoot ? 1000 : process.getuid?.())),
      user: id === undefined && isRoot ? 'baton' : id === undefined ? userInfo().username : 'tester',
      home: expect.not.stringContaining('.ssh'),
      own: 'changed',
      main: expect.stringContaining('No such file'),
      git: expect.stringContaining('No such file'),
      other: 'W-1',
      key: expect.stringContaining('No such file'),
      state: 'caches',
      ssh: expect.stringContaining('No such file'),
      token: '[user] \tname = Ada [github]',
      tool: 'a tool',
      usr: expect.stringMatching(/Read-only|Permission denied/),
      etc: expect.stringMatching(/Read-only|Permission denied/),
      rootfolder: expect.stringContaining('Read-only'),
      nvm: expect.stringContaining('Read-only'),
      homewritable: 'yes',
      cache: 'yes',
      task: expect.stringMatching(/Read-only|cannot create/),
      session: expect.stringContaining('busy'),
      baton: expect.stringContaining('busy'),
      link: expect.stringContaining('stays'),
      run: expect.not.stringContaining('baton-test.sock'),
      // Node may be in /tmp too.
      tmp: expect.stringMatching(/\bt u$/),
      setuid: expect.stringContaining('not permitted'),
      setuidopen: 'refused',
      privs: expect.stringMatching(/NoNewPrivs:1.*Seccomp:2/),
      fds: '0 1 2 3',
      net: '1',
      shadow: expect.not.stringContaining('root:'),
      unshare: expect.stringContaining('unshare failed'),
      env: 'PWD',
      runtime: 'x',
      dev: expect.stringMatching(/Read-only.* 1$/),
      shm: expect.stringMatching(/x$/),
      sysctl: 'read-only',
      procfile: '',
    });
    expect(results(outcome)['privs']).toContain('CapEff:0000000000000000');
    expect(Number(results(outcome)['pids'])).toBeLessThan(12);
    expect(readFileSync(join(root, 'home/app/.worktrees/W-1/own.txt'), 'utf8')).toBe('changed\n');
    expect(readFileSync(join(root, 'home/app/.worktrees/W-1/.baton/session/task.md'), 'utf8')).toBe('the task');
    expect(lstatSync(join(root, 'home/app/.worktrees/W-1/.baton/session')).isDirectory()).toBe(true);
  });

  it.skipIf(isSkipped)('limits processes, memory and the size of files', async () => {
    const outcome = await runAs(id, {
      root,
      script: [
        'dd if=/dev/zero of=big bs=1M count=16 2>/dev/null; ls -l big | tr -s " " | cut -d" " -f5',
        `perl -e '$x = "a" x (400*1024*1024); print "has memory\\n"' 2>/dev/null; echo "perl ended with $?"`,
        'i=0; while [ $i -lt 100 ]; do sleep 20 & i=$((i+1)); done',
        'echo "started 100"',
      ].join('\n'),
    });
    expect(outcome.stdout).toContain(`${TEST_LIMITS.disk_bytes}\n`);
    expect(outcome.stdout).toMatch(/perl ended with [1-9]/);
    expect(outcome.stdout).not.toContain('has memory');
    expect(outcome.stdout).not.toContain('started 100');
    expect(outcome.stderr).toMatch(/Cannot fork|Resource temporarily unavailable/);
  });
});

describe('a bubblewrap sandbox' + unless, () => {
  it.skipIf(!answer.works)('ends with the process that Baton started, whatever runs inside', async () => {
    const root = newFolder();
    onTestFinished(() => rmSync(root, { recursive: true }));
    makeScene(root);
    const { child, outcome } = await startSession({
      root,
      script:
        "trap '' TERM; (setsid nohup env -i sleep 1000 >/dev/null 2>&1 &); kill -STOP $PPID 2>/dev/null; echo > ready; sleep 1000",
    });
    let inside: number[] = [];
    await until(() => {
      inside = processesInside(child.pid ?? 0);
      const programs = inside.map((pid) => String(readProcFile(pid, 'cmdline').split('\0')[0]));
      return programs.toSorted().join(' ') === '/bin/sh sleep sleep';
    });
    child.kill('SIGKILL');
    expect(await outcome).toMatchObject({ code: null });
    await until(() => !listLiving().some(({ pid }) => inside.includes(pid)));
  });

  it.skipIf(!answer.works)('does not follow a link that a session put in the path of a mount', async () => {
    const root = newFolder();
    onTestFinished(() => rmSync(root, { recursive: true }));
    makeScene(root);
    symlinkSync('/oldroot/etc', join(root, 'home/.local/state/baton/agents/1/home/.nvm'));
    await expect(startSession({ root, script: 'true' })).rejects.toThrow(
      '.nvm is a link in a folder that a session can write',
    );
  });

  it.skipIf(!answer.works)('refuses every call of the filter', async () => {
    const root = newFolder();
    onTestFinished(() => rmSync(root, { recursive: true }));
    makeScene(root);
    const perl = (call: string): string => `perl -e 'syscall(${call}); print $!+0'`;
    const isX64 = process.arch === 'x64';
    const { outcome } = await startSession({
      root,
      script: script({
        keyctl: perl(isX64 ? '250, 0, -3, 0' : '219, 0, -3, 0'),
        bpf: perl(isX64 ? '321, 0, 0, 0' : '280, 0, 0, 0'),
        perf: perl(isX64 ? '298, 0, 0, -1, -1, 0' : '241, 0, 0, -1, -1, 0'),
        handle: perl(isX64 ? '304, 0, 0, 0' : '265, 0, 0, 0'),
        tiocsti: perl(`${isX64 ? 16 : 29}, 0, 0x5412, 0`),
        tiocstihigh: perl(`${isX64 ? 16 : 29}, 0, 0x100005412, 0`),
        otherioctl: perl(`${isX64 ? 16 : 29}, 0, 0x5401, 0`),
        mount: perl(isX64 ? '165, 0, 0, 0, 0, 0' : '40, 0, 0, 0, 0, 0'),
        newuser: perl(`${isX64 ? 272 : 97}, 0x10000000`),
        clonethree: perl('435, 0, 0'),
        uring: perl('425, 1, 0'),
        vsock: perl(`${isX64 ? 41 : 198}, 40, 1, 0`),
      }),
    });
    expect(results(await outcome)).toEqual({
      keyctl: '1',
      bpf: '1',
      perf: '1',
      handle: '1',
      tiocsti: '1',
      tiocstihigh: '1',
      // Standard input is no terminal.
      otherioctl: '25',
      mount: '1',
      newuser: '1',
      clonethree: '38',
      uring: '38',
      vsock: '1',
    });
  });
});

async function until(holds: () => boolean): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error('it did not happen in time');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
