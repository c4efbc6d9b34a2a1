import { afterEach, describe, expect, it } from 'vitest';
import { createClient } from '../../src/api/client/connect.ts';
import { until, type SpawnedDaemon } from '../../src/daemon/running.cases.ts';
import { GithubScene } from '../github/github-scene.ts';
import { runCli } from '../run-cli.ts';

let scene: GithubScene | undefined;
afterEach(async () => {
  await scene?.end();
  scene = undefined;
});

describe('a daemon that is killed during a GitHub request', () => {
  it('opens no second pull request, merges once, and seals the end', { timeout: 300_000 }, async () => {
    scene = new GithubScene();
    const killed = scene;
    const { github, gh } = killed;
    await github.listen(gh.socket);
    let daemon: SpawnedDaemon = await killed.scene.spawnDaemon(gh.env);
    // GitHub has completed the request, and the daemon is killed before it receives the response.
    const moments = [/^POST .*\/pulls$/, /^PUT .*\/merge$/, /^POST .*\/comments$/];
    github.afterwards = ({ method, path }) => {
      if (moments[0]?.test(`${method} ${path}`) !== true) return false;
      moments.shift();
      return daemon.child.kill('SIGKILL');
    };
    const client = () => createClient({ env: killed.scene.env, projectPath: killed.repository, autostart: false });
    const first = client();
    expect(await first.call('run_start', { name: 'issue', args: ['Read durations back'] })).toMatchObject({ ok: true });
    first.close();
    for (const left of [2, 1, 0]) {
      await daemon.exited;
      expect(moments).toHaveLength(left);
      daemon = await killed.scene.spawnDaemon(gh.env);
      expect(daemon.said).toBe('ready');
    }
    // The last kill follows the workflow's last entry: the seal is still owed, or has just been made.
    const watching = client();
    let closing = 0;
    for await (const { seq, json } of watching.events({ after: 0, projectPath: killed.repository })) {
      const { type, data }: { type: string; data: Record<string, unknown> } = JSON.parse(json);
      if (type !== 'PhaseMoved' || data['from'] !== 'COMPLETED' || data['next_role'] !== null) continue;
      daemon.child.kill('SIGKILL');
      closing = seq;
      break;
    }
    watching.close();
    await daemon.exited;
    await killed.start(gh.env);
    const [end] = await killed.settled(['W-00001'], 120_000);
    expect(end).toMatchObject({ is: 'closed' });
    await until(
      async () =>
        (await killed.entries()).some(({ type, data }) => type === 'LedgerSealed' && Number(data['size']) >= closing),
      'the end is sealed',
      30_000,
    );
    expect(killed.pull).toMatchObject({ state: 'closed', merge_commit_sha: end?.view.merge_sha });
    expect(github.count(/^POST .*\/pulls$/)).toBe(1);
    expect(github.count(/^PUT .*\/merge$/)).toBe(1);
    expect(killed.pull.comments).toHaveLength(1);
    expect(github.git('rev-parse', 'main')).toBe(end?.view.merge_sha);
    expect(github.git('rev-list', '--count', 'main')).toBe('3');
    const story = await killed.story('W-00001');
    expect(story.filter(({ type }) => type === 'MergeFinished')).toHaveLength(1);
    const published = story.filter(({ type }) => type === 'PullRequestPublished');
    expect(published.map(({ data }) => data['how'])).toEqual(['found', 'updated', 'updated']);
  });

  it('comments on the issue of a closed workflow once, and closes it', { timeout: 300_000 }, async () => {
    scene = new GithubScene();
    const killed = scene;
    const { github, gh } = killed;
    const issue = github.write(12, 'Read durations back');
    await github.listen(gh.socket);
    let daemon: SpawnedDaemon = await killed.scene.spawnDaemon(gh.env);
    const moments = [/^POST .*\/issues\/12\/comments$/, /^PATCH .*\/issues\/12$/];
    github.afterwards = ({ method, path }) => {
      if (moments[0]?.test(`${method} ${path}`) !== true) return false;
      moments.shift();
      return daemon.child.kill('SIGKILL');
    };
    const place = { env: killed.scene.env, cwd: killed.repository };
    expect(await runCli(['run', 'issue', '--from-github', '12', '--detach'], '', place)).toMatchObject({ code: 0 });
    for (const left of [1, 0]) {
      await daemon.exited;
      expect(moments).toHaveLength(left);
      if (left > 0) daemon = await killed.scene.spawnDaemon(gh.env);
    }
    await killed.start(gh.env);
    await until(async () => (await killed.types()).includes('GithubIssueClosed'), 'the issue is closed', 30_000);
    const [end] = await killed.settled(['12'], 10_000);
    expect(end).toMatchObject({ is: 'closed' });
    expect(issue).toMatchObject({ state: 'closed', comments: [expect.stringContaining('`12` is done')] });
    expect(github.count(/^PATCH .*\/issues\/12$/)).toBe(1);
    const closed = (await killed.entries()).filter(({ type }) => type === 'GithubIssueClosed');
    expect(closed.map(({ data }) => data['outcome'])).toEqual(['was-closed']);
  });
});
