import { afterEach, describe, expect, it } from 'vitest';
import { WorkflowScene } from '../processes/workflow-scene.ts';

let scene: WorkflowScene | undefined;
afterEach(async () => {
  await scene?.end();
  scene = undefined;
});

/** The last entry of a workflow without decisions. */
async function completed(walked: WorkflowScene): Promise<string> {
  await walked.start();
  const id = await walked.run('issue', 'Read durations back');
  expect(await walked.ended(id, 120_000)).toMatchObject({ is: 'closed', because: null });
  return String((await walked.story(id)).findLast(({ type }) => type === 'HandoffDelivered')?.data['xml']);
}

describe('the measured changes of a workflow', () => {
  it('are counted over all commits of a rebase', { timeout: 150_000 }, async () => {
    scene = new WorkflowScene((toml) => toml.replace('method = "squash"', 'method = "rebase"'));
    const before = scene.git('rev-parse', 'main');
    const said = await completed(scene);
    expect(scene.git('rev-list', '--count', `${before}..main`)).toBe('3');
    expect(said).toContain('<tests_added>3</tests_added>');
    expect(said).toContain(`<action>Merged as ${scene.git('rev-parse', 'main')}</action>`);
  });

  it('are none if nothing was changed, whatever is on main', { timeout: 150_000 }, async () => {
    scene = new WorkflowScene();
    const author = `'-c', 'user.name=a', '-c', 'user.email=a@a'`;
    scene.plays('implement', `git(${author}, 'commit', '--quiet', '--allow-empty', '--message', 'feat: nothing');`);
    scene.plays('implementer', `handOn('reviewer-agent', 'Done', { tests_added: '7' });`);
    scene.plays('reviewer', `handOn('validator-agent', 'Fine', {});`);
    const before = scene.git('rev-parse', 'main');
    const said = await completed(scene);
    expect(scene.git('rev-parse', 'main')).toBe(before);
    expect(said).toContain('<tests_added>0</tests_added>');
    expect(said).toContain(`<action>Nothing was left to merge at ${before}</action>`);
  });
});
