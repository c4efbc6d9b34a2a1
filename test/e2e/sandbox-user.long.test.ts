import { chmodSync, chownSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { AGENT_SESSIONS, AGENT_USER } from '../../src/sandbox/user/agent-user.ts';
import { agentFiles, type Running } from '../../src/supervisor/contract.ts';
import { WorkflowScene } from '../processes/workflow-scene.ts';
import { AttackScene, proveAttack, proveEnd } from './sandbox-attacks.cases.ts';

const isRoot = process.getuid?.() === 0;

describe.skipIf(!isRoot)(
  `sessions as another user${isRoot ? '' : ' (NOT RUN: only root can become another user)'}`,
  () => {
    // Ids that no user of the machine has.
    const [uid, gid] = [64_000 + (process.pid % 1000), 63_000];
    const system = `/tmp/baton-user-system-${process.pid}`;
    let scene: WorkflowScene | AttackScene | undefined;
    beforeAll(() => {
      mkdirSync(join(system, 'etc'), { recursive: true });
      writeFileSync(join(system, 'etc/passwd'), `${AGENT_USER}:x:${uid}:${gid}::/:/usr/sbin/nologin\n`);
      const sessions = join(system, AGENT_SESSIONS);
      mkdirSync(sessions, { recursive: true });
      chownSync(sessions, 0, gid);
      chmodSync(sessions, 0o3770);
      process.env['BATON_TEST_SYSTEM'] = system;
      // The agent's user needs access to the project's parent folders.
      chmodSync(tmpdir(), tmpdir() === '/tmp' ? 0o1777 : 0o711);
    });
    afterEach(async () => {
      await scene?.end();
      scene = undefined;
    });
    afterAll(() => {
      delete process.env['BATON_TEST_SYSTEM'];
      rmSync(system, { recursive: true, force: true });
    });

    it(
      'reach no secret and change nothing outside, and end with all that they started',
      { timeout: 120_000 },
      async () => {
        const attack = (scene = new AttackScene());
        chmodSync(attack.scene.folder, 0o711);
        attack.prepare('"user"');
        await attack.start();
        const { agent, worktree } = await attack.attack();
        expect(await proveEnd(attack, agent)).toMatchObject({ status: 'failed', exit: { timed_out: true } });
        const said = proveAttack(attack, worktree);
        expect(said).toContain(`${uid}\n`);
        expect(said).toContain('Permission denied');
      },
    );

    it('leave the git directory closed when they run in the main checkout', async () => {
      const attack = (scene = new AttackScene());
      chmodSync(attack.scene.folder, 0o711);
      attack.prepare('"user"');
      const done = `baton emit agent:signal '{"kind":"complete"}'`;
      const script = `echo x > made; git add made; git -c user.name=a -c user.email=a@a commit -qm made; (echo '[x]' >> .git/config) 2>said; cp "$0" .git/hooks/post-commit 2>>said; ${done}\n`;
      writeFileSync(join(attack.repository, 'work.sh'), script);
      attack.write('sandbox = "user"\n[agents.here]\nrun = "sh work.sh"\non_dead = "fail"');
      await attack.start();
      expect(await attack.agent(await attack.run('here'))).toMatchObject({ outcome: 'done' });
      expect(attack.git('log', '-1', '--format=%s', 'main')).toBe('made');
      expect(readFileSync(join(attack.repository, 'said'), 'utf8').match(/Permission denied/g)).toHaveLength(2);
      for (const path of ['.', 'made', '.git', '.git/config']) {
        const { uid: owner, gid: group, mode } = statSync(join(attack.repository, path));
        expect([path, owner, group, mode & 0o020]).toEqual([path, 0, 0, 0]);
      }
    });

    it('end when their supervisor is killed', { timeout: 120_000 }, async () => {
      const attack = (scene = new AttackScene());
      chmodSync(attack.scene.folder, 0o711);
      attack.prepare('"user"');
      await attack.start();
      const { agent, worktree } = await attack.attack();
      const { supervisor } = JSON.parse(readFileSync(agentFiles(attack.stateDir, agent).running(1), 'utf8')) as Running; // oxlint-disable-line typescript/no-unsafe-type-assertion
      process.kill(Number(supervisor.split('/')[1]), 'SIGKILL');
      await proveEnd(attack, agent);
      expect(proveAttack(attack, worktree)).toContain('Permission denied');
    });

    it('go from a request to a merge', { timeout: 180_000 }, async () => {
      const flow = (scene = new WorkflowScene((toml) => `sandbox = "user"\n${toml}`));
      chmodSync(flow.scene.folder, 0o711);
      await flow.start();
      const id = await flow.run('issue', 'Read durations back');
      const end = await flow.ended(id, 170_000);
      expect([end?.is, end?.because]).toEqual(['closed', null]);
      expect(await flow.handoffs(id)).toContain('ci-gate → fixer-agent');
      const told = await flow.entries();
      const kindsIn = (type: string): unknown[] => [
        ...new Set(told.filter((each) => each.type === type).map(({ data }) => data['sandbox'])),
      ];
      for (const type of ['AgentStarted', 'CheckFinished']) expect([type, kindsIn(type)]).toEqual([type, ['user']]);
    });
  },
);
