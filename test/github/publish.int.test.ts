import { chmodSync, copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inLongLane } from '../lanes.ts';
import type { Command } from '../../src/state/decide.ts';
import { PublishedBranch } from './published-branch.ts';

let scene: PublishedBranch;
beforeEach(async () => {
  scene = await new PublishedBranch().begin();
});
afterEach(() => scene.end());

const MS = { timeout: 60_000 };

function how(command: Command | undefined): string {
  if (command?.kind === 'publish-pull') return command.command.how;
  return command?.kind === 'fail-pull' ? command.command.reason : 'nothing';
}

describe('a branch that is published', MS, () => {
  it('has one pull request, and the next head goes to the same', async () => {
    const first = scene.commit('2\n');
    expect(how(await scene.requestAndPublish())).toBe('opened');
    expect(scene.github.git('rev-parse', 'feature/a')).toBe(first);
    expect(scene.pull).toMatchObject({ number: 41, base: 'main', title: 'A: do it', draft: false });
    scene.pull.body = `Ada's words\n\n${scene.pull.body}\n\nmore of hers`;
    const second = scene.commit('3\n');
    scene.request(false, '<!-- baton -->\n\nother words\n\n<!-- /baton -->');
    expect(how(await scene.publish())).toBe('updated');
    expect(scene.github.git('rev-parse', 'feature/a')).toBe(second);
    expect(scene.pull.body).toBe("Ada's words\n\n<!-- baton -->\n\nother words\n\n<!-- /baton -->\n\nmore of hers");
    expect(scene.state.tasks.get('A')?.flow.pull).toMatchObject({ number: 41, published: second, isWanted: false });
  });

  inLongLane(() => {
    it('is found again if a daemon died before it could report it, pushed or opened', async () => {
      const head = scene.commit('2\n');
      scene.git('push', '--quiet', 'origin', 'feature/a');
      scene.request();
      expect(how(await scene.publish(false)), 'pushed by the one before').toBe('opened');
      expect(how(await scene.publish()), 'opened by the one before').toBe('found');
      expect(scene.github.count(/^POST .*\/pulls$/)).toBe(1);
      expect(scene.state.tasks.get('A')?.flow.pull).toMatchObject({ number: 41, published: head });
    });
  });

  inLongLane(() => {
    it('may be rewritten if no other user has pushed to it', async () => {
      scene.commit('2\n');
      await scene.requestAndPublish();
      scene.git('commit', '--quiet', '--amend', '--message=better');
      expect(how(await scene.requestAndPublish())).toBe('updated');
      expect(scene.github.git('rev-parse', 'feature/a')).toBe(scene.git('rev-parse', 'HEAD'));
    });
  });

  it('adopts what other users pushed, and overwrites nothing that it does not have', async () => {
    scene.commit('2\n');
    await scene.requestAndPublish();
    const theirs = scene.github.pushByHand('feature/a', 'theirs', 'work');
    scene.commit('3\n');
    expect(how(await scene.requestAndPublish())).toMatch(/^'feature\/a' cannot be pushed to 'origin': .*did not push/);
    expect(scene.github.git('rev-parse', 'feature/a')).toBe(theirs);
    scene.git('fetch', '--quiet', 'origin', 'feature/a');
    scene.git('merge', '--quiet', '--no-edit', 'FETCH_HEAD');
    expect(how(await scene.requestAndPublish())).toBe('updated');
  });

  inLongLane(() => {
    it('runs none of the programs that the repository names for its remote', async () => {
      const ran = join(scene.scratch.folder, 'ran');
      const program = join(scene.scratch.folder, 'program');
      writeFileSync(program, `#!/bin/sh\necho "$0" >>'${ran}'\nexit 1\n`, { mode: 0o755 });
      for (const name of [
        'remote.origin.receivepack',
        'remote.origin.uploadpack',
        'core.sshCommand',
        'credential.helper',
      ])
        scene.git('config', name, program);
      mkdirSync(join(scene.repo, '.git/hooks'), { recursive: true });
      copyFileSync(program, join(scene.repo, '.git/hooks/pre-push'));
      const head = scene.commit('work\n');
      await scene.requestAndPublish();
      expect(scene.scratch.git(scene.github.bare, 'rev-parse', 'feature/a')).toBe(head);
      expect(existsSync(ran)).toBe(false);
    });

    it('reports the reason if a hook of the remote refuses it', async () => {
      scene.scratch.write(scene.github.bare, { 'hooks/pre-receive': '#!/bin/sh\necho "branch policy"\nexit 1\n' });
      chmodSync(join(scene.github.bare, 'hooks/pre-receive'), 0o755);
      scene.commit('2\n');
      expect(how(await scene.requestAndPublish())).toMatch(/pre-receive hook declined.*branch policy/);
      expect(scene.github.pulls).toEqual([]);
    });
  });
});

describe('a pull request that a person ended', MS, () => {
  it('opens a decision if they closed it, and is reopened only if Baton had closed it', async () => {
    scene.commit('2\n');
    await scene.requestAndPublish();
    scene.github.closeByHand(scene.pull);
    const sent = scene.commit('3\n');
    expect(how(await scene.requestAndPublish())).toMatch(/^pull request #41 was closed at GitHub.*\n.*gh pr reopen 41/);
    expect(scene.github.git('rev-parse', 'feature/a'), 'nothing is pushed to it').not.toBe(sent);
    Object.assign(scene.pull, { state: 'open', head: null });
    expect(how(await scene.requestAndPublish())).toBe('updated');
    expect(await scene.close()).toMatchObject({ command: { outcome: 'closed' } });
    expect(scene.pull).toMatchObject({ state: 'closed', comments: ['cancelled: enough'] });
    expect(how(await scene.requestAndPublish())).toBe('reopened');
    expect(scene.pull.state).toBe('open');
  });

  inLongLane(() => {
    it('opens a decision if they merged it, and is no longer closed', async () => {
      scene.commit('2\n');
      await scene.requestAndPublish();
      scene.github.mergeByHand(scene.pull);
      expect(how(await scene.requestAndPublish())).toMatch(/was merged at GitHub by octocat as [0-9a-f]{40}/);
      expect(await scene.close()).toMatchObject({ command: { outcome: 'merged' } });
      expect(scene.pull.comments).toEqual([]);
    });
  });
});

describe('an unavailable GitHub', MS, () => {
  it('is reported at once, with what to do: no gh, no login, an unknown token', async () => {
    scene.commit('2\n');
    scene.request();
    const { GH_TOKEN: _, ...loggedOut } = scene.gh.env;
    scene.env = loggedOut;
    expect(how(await scene.publish(false))).toMatch(/^gh is not logged in to github.com.*\n.*gh auth login/);
    scene.env = { ...scene.gh.env, GH_TOKEN: 'another' };
    expect(how(await scene.publish(false))).toMatch(/^GitHub refused the login: .*Bad credentials/);
    scene.gh.remove();
    expect(how(await scene.publish(false))).toMatch(
      /^gh, the command line of GitHub, is not on the PATH.*\n.*cli.github.com/,
    );
  });

  inLongLane(() => {
    it('is retried if the cause may pass: no network, a fault, a limit', async () => {
      scene.commit('2\n');
      scene.request();
      const faults = [
        [502, { message: 'Bad Gateway' }] as const,
        [403, { message: 'API rate limit exceeded' }] as const,
      ];
      scene.github.fault = () => faults.shift() ?? (scene.github.said.length === 2 ? 'hang up' : undefined);
      expect(how(await scene.publish())).toBe('opened');
      expect(scene.github.said.length).toBeGreaterThan(3);
    });
  });

  inLongLane(() => {
    it('opens a decision in the end, and loses nothing', async () => {
      scene.commit('2\n');
      scene.request();
      await scene.github.close();
      expect(how(await scene.publish())).toMatch(/^GitHub cannot be reached: /);
      scene.git('remote', 'set-url', 'origin', '/nowhere');
      await scene.github.listen(scene.gh.socket);
      expect(how(await scene.requestAndPublish())).toMatch(/^'origin' does not answer: .*\n.*git ls-remote origin/);
      scene.git('remote', 'set-url', 'origin', scene.github.bare);
      expect(how(await scene.requestAndPublish())).toBe('opened');
    });

    it("is refused with GitHub's own reason", async () => {
      scene.request();
      expect(how(await scene.publish())).toContain('No commits between main and feature/a');
      scene.commit('2\n');
      scene.github.fault = ({ body }) =>
        body['draft'] === true
          ? [422, { message: 'Draft pull requests are not supported in this repository.' }]
          : undefined;
      expect(how(await scene.requestAndPublish(true)), 'without drafts, it is an ordinary one').toBe('opened');
      expect(scene.pull.draft).toBe(false);
    });
  });
});

inLongLane(() => {
  describe('checks that GitHub runs', MS, () => {
    it('are recorded once they have ended, each outcome once; a cancelled run is waited for', async () => {
      const head_sha = scene.commit('2\n');
      scene.requestChecks('build', 'lint');
      await scene.requestAndPublish();
      const run = { head_sha, status: 'completed', conclusion: 'success' } as const;
      const outcomes = (): string[] =>
        scene.told.flatMap(({ kind, command }) =>
          kind === 'finish-check' ? [`${command.name} ${command.outcome}`] : [],
        );
      scene.github.runs.push(
        { ...run, kind: 'check_runs', name: 'lint', conclusion: 'cancelled' },
        { ...run, kind: 'workflow_runs', name: 'build', status: 'in_progress', conclusion: null },
        { ...run, kind: 'workflow_runs', name: 'other' },
        { ...run, kind: 'check_runs', name: 'build', head_sha: 'e'.repeat(40) },
      );
      await scene.watch('build', 'lint');
      await scene.watch('build', 'lint');
      expect(outcomes()).toEqual(['lint cancelled']);
      scene.github.runs.push(
        { ...run, kind: 'check_runs', name: 'lint' },
        { ...run, kind: 'workflow_runs', name: 'build', conclusion: 'timed_out' },
      );
      await scene.watch('build', 'lint');
      expect(outcomes()).toEqual(['lint cancelled', 'lint passed', 'build failed']);
      expect(scene.state.tasks.get('A')?.flow.checks?.outcome).toBe('failed');
    });
  });
});
