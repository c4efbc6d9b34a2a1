import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../../src/daemon/running.cases.ts';
import { WorkflowScene } from '../processes/workflow-scene.ts';

let scene: WorkflowScene | undefined;
afterEach(async () => {
  await scene?.end();
  scene = undefined;
});

const withCommand = (line: string) =>
  new WorkflowScene((toml) => toml.replace(/build = .*\nsmoke = .*\n/, `${line}\n`));

/** When each session of a role was asked for, in milliseconds. */
async function starts(walked: WorkflowScene, id: string, role: string): Promise<number[]> {
  const claims = (await walked.story(id)).filter(({ type, data }) => type === 'TaskClaimed' && data['role'] === role);
  return claims.map(({ at }) => Date.parse(at));
}

describe('an error on the way', () => {
  it('that may pass is tried again after 1 and 2 seconds, and the work goes on', { timeout: 150_000 }, async () => {
    scene = withCommand(`install = "echo x >> $BATON_STATE_DIR/tries; test $(wc -l < $BATON_STATE_DIR/tries) -ge 3"`);
    await scene.start();
    const id = await scene.run('issue', 'Read durations back');
    const end = await scene.ended(id, 120_000);
    expect(end).toMatchObject({ is: 'closed', because: null });
    const [first = 0, second = 0, third = 0, ...more] = await starts(scene, id, 'prep');
    expect(second - first).toBeGreaterThanOrEqual(1000);
    expect(third - second).toBeGreaterThanOrEqual(2000);
    expect(more).toEqual([]);
    expect((await scene.handoffs(id)).slice(0, 5)).toEqual([
      'issue-manager → prep-agent',
      'prep-agent → orchestrator',
      'prep-agent → orchestrator',
      'prep-agent → implementer-agent',
      'implementer-agent → reviewer-agent',
    ]);
  });

  it(
    'that does not pass is a decision after three more tries; who decides may try again',
    { timeout: 120_000 },
    async () => {
      scene = withCommand(`install = "test -e $BATON_STATE_DIR/net"`);
      await scene.start();
      const id = await scene.run('issue', 'Read durations back');
      const end = await scene.ended(id, 90_000);
      expect(end).toMatchObject({ is: 'waits', because: expect.stringContaining('install failed') });
      const times = await starts(scene, id, 'prep');
      expect(times).toHaveLength(4);
      expect((times[3] ?? 0) - (times[2] ?? 0)).toBeGreaterThanOrEqual(4000);
      // The network is back.
      writeFileSync(join(scene.stateDir, 'net'), '');
      await scene.resolveAll(id);
      await until(
        async () => (await scene?.handoffs(id))?.includes('prep-agent → implementer-agent') === true,
        'it goes on',
        60_000,
      );
    },
  );

  it('that will not pass is a decision at once', { timeout: 90_000 }, async () => {
    scene = withCommand('build = "false"');
    await scene.start();
    const id = await scene.run('issue', 'Read durations back');
    const end = await scene.ended(id, 60_000);
    expect(end).toMatchObject({ is: 'waits', because: expect.stringContaining('build failed') });
    expect(await starts(scene, id, 'prep')).toHaveLength(1);
  });
});

describe('a workflow that stands still', () => {
  it('is told of when its time in the phase is over, and goes on', { timeout: 120_000 }, async () => {
    scene = new WorkflowScene((toml) => `${toml}\n[limits]\nstall = { IMPLEMENTATION = "1s" }\n`);
    scene.edit(
      'agents/implementer.yaml',
      (text) => `- run: while [ ! -e $BATON_STATE_DIR/go ]; do sleep 0.1; done\n${text}`,
    );
    scene.git('commit', '--quiet', '--all', '--message', 'slow');
    await scene.start();
    const id = await scene.run('issue', 'Read durations back');
    const end = await scene.ended(id, 60_000);
    expect(end).toMatchObject({ is: 'waits', because: expect.stringContaining('has stalled') });
    writeFileSync(join(scene.stateDir, 'go'), '');
    await scene.resolveAll(id);
    await until(async () => (await scene?.phases(id))?.includes('CI_PENDING (session)') === true, 'it goes on', 60_000);
  });
});

describe('a review', () => {
  it('that finds the same thing again unchanged becomes a decision', { timeout: 120_000 }, async () => {
    scene = new WorkflowScene((toml) => `${toml}\n[limits]\nreview_rounds = 9\n`);
    scene.plays(
      'reviewer',
      `handOn('fixer-agent', 'I do not like it', { location: 'src/parse-duration.js:1', severity: 'critical' });`,
    );
    scene.plays('fixer', fixed('1'));
    await scene.start();
    const id = await scene.run('issue', 'Read durations back');
    const end = await scene.ended(id, 100_000);
    expect(end).toMatchObject({ is: 'waits', because: expect.stringMatching(/again|unchanged|same/i) });
    expect((await scene.handoffs(id)).filter((each) => each === 'reviewer-agent → fixer-agent')).toHaveLength(3);
  });

  it('sends it back so many times, whatever it finds; then a person decides', { timeout: 150_000 }, async () => {
    scene = new WorkflowScene((toml) => `${toml}\n[limits]\nreview_rounds = 2\n`);
    scene.plays(
      'reviewer',
      `handOn('fixer-agent', 'Something else: ' + git('rev-parse', 'HEAD'), { location: 'src/parse-duration.js:1', severity: 'critical' });`,
    );
    scene.plays('fixer', fixed('1'));
    await scene.start();
    const id = await scene.run('issue', 'Read durations back');
    const end = await scene.ended(id, 100_000);
    expect(end).toMatchObject({ is: 'waits', because: expect.stringContaining('rounds') });
    expect(end?.view.rounds).toBeLessThanOrEqual(3);
  });

  it('is for one commit: another one after it has to be reviewed again', { timeout: 150_000 }, async () => {
    scene = new WorkflowScene();
    await scene.start();
    const id = await scene.run('issue', 'Read durations back', '--mode', 'semi');
    for (let end = await scene.ended(id, 100_000); end?.is === 'waits'; end = await scene.ended(id, 100_000)) {
      const isMerge = end.because?.includes(`${id} merge`) === true;
      // Somebody commits to what was approved, while it waits for them.
      if (isMerge && end.view.reviews === 2) meddle(end.view.workspace ?? '');
      await scene.resolveAll(id);
    }
    expect((await scene.handoffs(id)).slice(-6)).toEqual([
      'reviewer-agent → validator-agent',
      'validator-agent → fixer-agent',
      'fixer-agent → reviewer-agent',
      'reviewer-agent → validator-agent',
      'validator-agent → closer-agent',
      'closer-agent → workflow-complete',
    ]);
    const back = (await scene.story(id)).find(
      ({ data }) => data['from'] === 'validator-agent' && data['to'] === 'fixer-agent',
    );
    expect(back?.data['xml']).toContain('approv');
  });
});

/** A commit by hand, past the fence around the worktree. */
function meddle(worktree: string): void {
  const args = ['-c', 'core.hooksPath=/dev/null', '-c', 'user.name=m', '-c', 'user.email=m@m'];
  execFileSync('git', ['-C', worktree, ...args, 'commit', '--quiet', '--allow-empty', '--message', 'one more thing']);
}

/** A fixer that changes something, and says that all is well. */
function fixed(line: string): string {
  return `writeFileSync(CODE, code({ hour: 3_600_000, isStrict: true }));
    appendFileSync('CHANGELOG.md', '- mended\\n');
    commit('fix: something');
    handOn('reviewer-agent', 'Mended', { location: CODE + ':${line}' });`;
}
