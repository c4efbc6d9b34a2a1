import { execFileSync, spawn } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../../test/processes/until.ts';
import { countProcessesWith, runToEnd, specWith } from '../container/container.cases.ts';
import { AGENT_SESSIONS, findAgentUser, WRAPPER } from './agent-user.ts';
import { checkAccess } from './check-access.ts';
import { endUserProcesses } from './end-user-processes.ts';
import { setUpAgentUser, sudoersFor } from './set-up-agent-user.ts';
import { reclaimFolders, shareFolders } from './share-folders.ts';
import { userArgv } from './user-argv.ts';

const isRoot = process.getuid?.() === 0;

describe.skipIf(!isRoot)(
  `a session as another user${isRoot ? '' : ' (NOT RUN: only root can become another user)'}`,
  () => {
    // An id that no user of the machine has.
    const user = { name: 'baton-agent', uid: 64_000 + (process.pid % 1000), gid: 63_000 };
    // Other users cannot read the tests' temporary folder.
    const folder = `/tmp/baton-user-test-${process.pid}`;
    const at = (path: string): string => join(folder, path);
    const run = async (script: string, env: Record<string, string> = {}) =>
      runToEnd({ argv: commandOf(script, env), env: { PATH: process.env['PATH'] ?? '', ...env } });
    const commandOf = (script: string, env: Record<string, string> = {}) =>
      userArgv({ spec: specWith([]), user, argv: ['/bin/sh', '-c', script], env, network: 'host' });

    beforeAll(() => {
      for (const path of ['worktree/src', 'private', 'main', 'store']) mkdirSync(at(path), { recursive: true });
      mkdirSync(at('state'), { mode: 0o700 });
      for (const name of ['operator.token', 'key.pem']) writeFileSync(at(`state/${name}`), 'SECRET', { mode: 0o600 });
      writeFileSync(at('worktree/src/a'), 'a\n', { mode: 0o644 });
      writeFileSync(at('store/package'), 'p\n', { mode: 0o644 });
      execFileSync('ln', [at('store/package'), at('worktree/src/package')]);
      execFileSync('git', ['init', '--quiet', '--bare', at('private/git')]);
    });
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    it('writes its worktree and its git directory, and reaches no secret', async () => {
      const server = createServer().listen(at('state/daemon.sock'));
      shareFolders([at('worktree'), at('private')], user);
      const git = `git --git-dir=${at('private/git')} --work-tree=${at('worktree')}`;
      const connect = `require('net').connect('${at('state/daemon.sock')}').on('error', (e) => console.log(e.code))`;
      const { output, code } = await run(
        [
          `id -u; cat ${at('state/operator.token')} ${at('state/key.pem')} 2>&1`,
          `${process.execPath} -e "${connect}"`,
          `cd ${at('worktree')}; echo b >> src/a; echo c > new; mkdir -m 700 closed; echo d > closed/d; echo e >> src/package`,
          `${git} add -A && ${git} -c user.name=x -c user.email=x@y commit -qm work && ${git} log --format=%s`,
          `echo x > ${at('main/x')}; kill -9 ${process.pid}; grep -E 'NoNewPrivs|CapBnd' /proc/self/status; echo "$TOKEN"`,
        ].join('\n'),
        { TOKEN: 'value', HOME: at('private') },
      );
      server.close();
      expect(code).toBe(0);
      expect(output).toContain(`${user.uid}\n`);
      expect(output).toContain('EACCES\nwork\n');
      expect(output).not.toContain('SECRET');
      expect(output.match(/Permission denied/gi)).toHaveLength(4);
      expect(output).toContain('Operation not permitted');
      expect(output).toMatch(/CapBnd:\t0+\nNoNewPrivs:\t1\nvalue\n/);
      expect(readFileSync(at('worktree/src/a'), 'utf8')).toBe('a\nb\n');
      expect(readFileSync(at('store/package'), 'utf8')).toBe('p\n');
      expect(existsSync(at('main/x'))).toBe(false);
      expect(commandOf('', { TOKEN: 'value' }).join(' ')).not.toContain('value');
    });

    it('returns what it wrote to the operator, and nothing else through a link', async () => {
      writeFileSync(at('main/of-agent'), '');
      execFileSync('chown', [String(user.uid), at('main/of-agent')]);
      await run(`cd ${at('worktree')}; ln -s ${at('main')} out; mkfifo pipe; touch last`);
      expect(await reclaimFolders([at('worktree')], user)).toBeUndefined();
      for (const path of ['last', 'closed', 'closed/d', 'out']) expect(lstatSync(at(`worktree/${path}`)).uid).toBe(0);
      expect(statSync(at('main/of-agent')).uid).toBe(user.uid);
    });

    it('reports what it cannot reach', async () => {
      mkdirSync(at('home/project'), { recursive: true, mode: 0o700 });
      const needs = {
        read: [at('home/project/x')],
        write: [at('worktree'), at('main')],
        hidden: [at('state/key.pem'), at('store')],
        kept: [at('main'), at('worktree')],
      };
      expect(await checkAccess(user, needs)).toEqual([
        `baton-agent cannot enter ${at('home')}: setfacl -m u:baton-agent:x ${at('home')}`,
        `baton-agent cannot write ${at('main')}`,
        `baton-agent can read ${at('store')}: chmod go= ${at('store')}`,
        `baton-agent can write ${at('worktree')}: chmod go-w ${at('worktree')}`,
      ]);
    });

    it('ends with all processes of the user, or with those that have its mark', async () => {
      const word = `7${process.pid}.01`;
      const script = `trap '' TERM; sleep ${word} & (setsid sleep ${word} &); (env -i /usr/bin/setsid /usr/bin/sleep ${word} &); wait`;
      const [program, ...args] = commandOf(script, { BATON_AGENT_ID: 'a-1' });
      spawn(program, args, {
        env: { PATH: process.env['PATH'], BATON_AGENT_ID: 'a-1' },
        stdio: ['pipe', 'ignore', 'inherit'],
      });
      await until('all run', () => countProcessesWith(word) === 3);
      expect(await endUserProcesses(user, 'BATON_AGENT_ID=a-1', false)).toBeUndefined();
      expect(countProcessesWith(word)).toBe(1);
      expect(await endUserProcesses(user, 'BATON_AGENT_ID=a-1', true)).toBeUndefined();
      expect(countProcessesWith(word)).toBe(0);
    });

    it('has a limit of processes', async () => {
      const { output } = await run(
        'i=0; while [ $i -lt 100 ]; do sleep 5 >/dev/null 2>&1 & i=$((i+1)); done; echo all',
      );
      expect(output).toMatch(/fork/i);
      expect(await endUserProcesses(user, '', true)).toBeUndefined();
    });

    it('is set up once', () => {
      const prefix = at('system');
      mkdirSync(join(prefix, 'etc'), { recursive: true });
      for (const name of ['passwd', 'group', 'shadow', 'gshadow']) writeFileSync(join(prefix, 'etc', name), '');
      writeFileSync(join(prefix, 'etc/passwd'), 'me:x:1000:1000::/home/me:/bin/sh\n');
      const done = setUpAgentUser({ operator: 'me', prefix });
      expect(done).toMatchObject({ ok: true });
      expect(done.steps).toHaveLength(6);
      expect(setUpAgentUser({ operator: 'me', prefix })).toEqual({ ok: true, steps: [] });
      const made = findAgentUser(prefix);
      expect(statSync(join(prefix, AGENT_SESSIONS))).toMatchObject({ uid: 0, gid: made?.gid, mode: 0o43770 });
      expect(statSync(join(prefix, WRAPPER)).mode & 0o777).toBe(0o755);
      expect(readFileSync(join(prefix, 'etc/sudoers.d/baton-agent'), 'utf8')).toBe(sudoersFor('me'));
      expect(setUpAgentUser({ operator: 'a b', prefix })).toMatchObject({ ok: false });
    });
  },
);
