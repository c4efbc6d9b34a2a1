import { execFileSync } from 'node:child_process';
import { afterEach, describe, expect, it } from 'vitest';
import { WorkflowScene } from '../processes/workflow-scene.ts';

let scene: WorkflowScene | undefined;
afterEach(async () => {
  await scene?.end();
  scene = undefined;
});

/** `src/engine/workflow.test.ts` tests the rule. */
describe('a workflow', () => {
  it('has a commit reviewed that was added after the approval', { timeout: 150_000 }, async () => {
    scene = new WorkflowScene();
    await scene.start();
    const id = await scene.run('issue', 'Read durations back', '--mode', 'semi');
    for (let end = await scene.ended(id, 100_000); end?.is === 'waits'; end = await scene.ended(id, 100_000)) {
      const isMerge = end.because?.includes(`${id} (merge)`) === true;
      // A person commits to the approved branch while it waits for them.
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
/** Commits by hand, bypassing the worktree's fence. */
function meddle(worktree: string): void {
  const args = ['-c', 'core.hooksPath=/dev/null', '-c', 'user.name=m', '-c', 'user.email=m@m'];
  execFileSync('git', [
    '-C',
    worktree,
    ...args,
    'commit',
    '--no-gpg-sign',
    '--quiet',
    '--allow-empty',
    '-m',
    'one more thing',
  ]);
}
