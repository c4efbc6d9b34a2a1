import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../../src/daemon/running.cases.ts';
import { isLongRun } from '../processes/long-run.ts';
import { WorkflowScene } from '../processes/workflow-scene.ts';

let scene: WorkflowScene | undefined;
afterEach(async () => {
  await scene?.end();
  scene = undefined;
});

const KILLS = isLongRun ? 20 : 3;

describe(`workflows whose daemon is killed ${KILLS} times`, () => {
  it('end as without kills', { timeout: 120_000 + KILLS * 30_000 }, async () => {
    const moments: string[] = [];
    // A workflow continues while its daemon is away and ends soon, so there are as many workflows as needed.
    while (moments.length < KILLS) {
      const walked = new WorkflowScene();
      scene = walked;
      await killWhileItWalks(walked, moments);
      expect(await endOf(walked), `killed at ${moments.join(', ')}`).toEqual(SAME);
      await walked.end();
      scene = undefined;
    }
    expect(moments).toHaveLength(KILLS);
    if (isLongRun) process.stdout.write(`killed at ${moments.join(', ')}\n`);
  });
});

/** Kills the daemon at random moments while the workflow runs, even during its start. */
async function killWhileItWalks(walked: WorkflowScene, moments: string[]): Promise<void> {
  let daemon = await walked.scene.spawnDaemon();
  walked.connect(walked.scene.env);
  await walked.ask('run_start', { name: 'issue', args: ['Read durations back'] });
  for (let kills = 0; kills < MOST_A_WALK && moments.length < KILLS; kills += 1) {
    // The first kill is anywhere in the walk, the others follow closely.
    const ms = Math.floor(Math.random() * (kills === 0 ? WALK_MS : 1200));
    await new Promise((resolve) => setTimeout(resolve, ms));
    if ((await walked.standing('W-00001')).is !== 'under way') break;
    const [newest] = (await walked.types()).slice(-1);
    daemon.child.kill('SIGKILL');
    await daemon.exited;
    moments.push(`${newest ?? 'the beginning'} + ${ms} ms`);
    daemon = await walked.scene.spawnDaemon();
    expect(daemon.said, `after ${moments.join(', ')}`).toBe('ready');
  }
  daemon.child.kill('SIGTERM');
  await daemon.exited;
}

const MOST_A_WALK = 4;
const WALK_MS = 8000;

/** The end of the workflow, without times and ids. */
async function endOf(walked: WorkflowScene) {
  await walked.start();
  const [end] = await walked.settled(['W-00001'], 100_000);
  await until(async () => (await walked.types()).includes('LedgerSealed'), 'it is sealed', 30_000);
  const story = await walked.story('W-00001');
  const count = (type: string): number => story.filter((each) => each.type === type).length;
  return {
    is: end?.is,
    handoffs: await walked.handoffs('W-00001'),
    isMerged: walked.git('rev-parse', 'main') === end?.view.merge_sha,
    commitsOnMain: walked.git('rev-list', '--count', '--first-parent', 'main'),
    branches: walked.git('branch', '--list', 'feature/*'),
    merges: count('MergeFinished'),
    checks: story.flatMap(({ type, data }) => (type === 'CheckFinished' ? [data['outcome']] : [])),
    records: count('ThoughtRecorded'),
  };
}

/** The same end as without kills: nothing is missing, and nothing was done twice. */
const SAME = {
  is: 'closed',
  handoffs: [
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
  ],
  isMerged: true,
  commitsOnMain: '3',
  branches: '',
  merges: 1,
  checks: ['failed', 'passed', 'passed'],
  records: 3,
};
