import { afterEach, describe, expect, it } from 'vitest';
import { createClient } from '../../src/api/connect.ts';
import { isLongRun } from '../processes/long-run.ts';
import { WorkflowScene } from '../processes/workflow-scene.ts';

let scene: WorkflowScene | undefined;
afterEach(async () => {
  await scene?.end();
  scene = undefined;
});

const KILLS = isLongRun ? 20 : 3;

/** As in the walk that nobody disturbs. */
const HANDOFFS = [
  'issue-manager → prep-agent',
  'prep-agent → implementer-agent',
  'implementer-agent → reviewer-agent',
  'ci-gate → fixer-agent',
  'fixer-agent → reviewer-agent',
  'reviewer-agent → fixer-agent',
  'fixer-agent → reviewer-agent',
  'reviewer-agent → validator-agent',
  'validator-agent → closer-agent',
  'closer-agent → workflow-complete',
];

describe(`a workflow whose daemon is killed ${KILLS} times`, () => {
  it('ends as if nothing had happened', { timeout: 120_000 + KILLS * 20_000 }, async () => {
    const walked = new WorkflowScene();
    scene = walked;
    const moments: number[] = [];
    let daemon = await walked.scene.spawnDaemon();
    const client = createClient({ env: walked.scene.env, projectPath: walked.repository, autostart: false });
    try {
      const started = await client.call('run_start', { name: 'issue', args: ['Read durations back'] });
      expect(started).toMatchObject({ ok: true, result: { id: 'W-00001' } });
    } finally {
      client.close();
    }
    for (let kill = 0; kill < KILLS; kill += 1) {
      // Anywhere in the walk, and also while it is still getting up.
      const ms = Math.floor(Math.random() * (kill % 2 === 0 ? 3000 : 800));
      moments.push(ms);
      await new Promise((resolve) => setTimeout(resolve, ms));
      daemon.child.kill('SIGKILL');
      await daemon.exited;
      daemon = await walked.scene.spawnDaemon();
      expect(daemon.said, `after ${moments.join(', ')} ms`).toBe('ready');
    }
    daemon.child.kill('SIGTERM');
    await daemon.exited;
    await walked.start();
    const [end] = await walked.settled(['W-00001'], 100_000);
    expect(end, `killed after ${moments.join(', ')} ms`).toMatchObject({ is: 'closed' });
    expect(await walked.handoffs('W-00001'), `killed after ${moments.join(', ')} ms`).toEqual(HANDOFFS);
    expect(walked.git('rev-parse', 'main')).toBe(end?.view.merge_sha);
    expect(walked.git('rev-list', '--count', '--first-parent', 'main')).toBe('3');
    expect(walked.git('branch', '--list', 'feature/*')).toBe('');
    // Nothing was done twice.
    const story = await walked.story('W-00001');
    expect(story.filter(({ type }) => type === 'MergeFinished')).toHaveLength(1);
    expect(story.filter(({ type }) => type === 'CheckFinished').map(({ data }) => data['outcome'])).toEqual([
      'failed',
      'passed',
      'passed',
    ]);
    expect(story.filter(({ type }) => type === 'ThoughtRecorded')).toHaveLength(3);
  });
});
