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

/** When each session of a role was asked for, in milliseconds. */
async function starts(walked: WorkflowScene, id: string, role: string): Promise<number[]> {
  const claims = (await walked.story(id)).filter(({ type, data }) => type === 'TaskClaimed' && data['role'] === role);
  return claims.map(({ at }) => Date.parse(at));
}

/** The rules are proven in `src/engine/workflow.test.ts`; here real time, real commands and a real daemon follow one of them. */
describe('a workflow', () => {
  it(
    'tries a failed install again after a second, and asks a person when a phase takes too long',
    { timeout: 120_000 },
    async () => {
      const install = 'echo x >> $BATON_STATE_DIR/tries; test $(wc -l < $BATON_STATE_DIR/tries) -ge 2';
      scene = new WorkflowScene(
        (toml) =>
          `${toml.replace(/build = .*\nsmoke = .*\n/, `install = "${install}"\n`)}\n[limits]\nstall = { IMPLEMENTATION = "1s" }\n`,
      );
      scene.edit(
        'agents/implementer.yaml',
        (text) => `- run: while [ ! -e $BATON_STATE_DIR/go ]; do sleep 0.1; done\n${text}`,
      );
      scene.git('commit', '--quiet', '--all', '--message', 'slow');
      await scene.start();
      const id = await scene.run('issue', 'Read durations back');
      const end = await scene.ended(id, 60_000);
      expect(end).toMatchObject({ is: 'waits', because: expect.stringContaining('has stalled') });
      const [first = 0, second = 0, ...more] = await starts(scene, id, 'prep');
      expect(second - first).toBeGreaterThanOrEqual(1000);
      expect(more).toEqual([]);
      expect(await scene.handoffs(id)).toEqual([
        'issue-manager → prep-agent',
        'prep-agent → orchestrator',
        'prep-agent → implementer-agent',
      ]);
      writeFileSync(join(scene.stateDir, 'go'), '');
      await scene.resolveAll(id);
      await until(
        async () => (await scene?.phases(id))?.includes('CI_PENDING (session)') === true,
        'it goes on',
        60_000,
      );
    },
  );
});
