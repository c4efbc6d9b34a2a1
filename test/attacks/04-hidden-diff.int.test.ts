import { existsSync, readFileSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { until } from '../../src/daemon/running.cases.ts';
import { REAL_GIT } from '../processes/real-git.ts';
import { WorkflowScene } from '../processes/workflow-scene.ts';

let scene: WorkflowScene | undefined;
afterEach(async () => {
  await scene?.end();
  scene = undefined;
});

/**
 * The implementer works, runs the script and hands on; the reviewer keeps its task file and waits. Returns the file.
 */
async function shownToReviewer(script: string): Promise<string> {
  // In a sandbox it could change only its own git directory.
  scene = new WorkflowScene((toml) => `sandbox = "none"\n${toml.replace('[merge]', '[merge]\ninto = "main"')}`);
  const world = scene;
  world.plays(
    'implementer',
    `writeFileSync(CODE, code({ hour: 3_600_000, isStrict: true }));
    commit('feat: it works');
    ${script}
    handOn('reviewer-agent', 'parseDuration reads what formatDuration writes', { tests_added: '2' });`,
  );
  world.plays(
    'reviewer',
    `writeFileSync(process.env.BATON_STATE_DIR + '/shown.tmp', readTask());
    process.getBuiltinModule('node:fs').renameSync(process.env.BATON_STATE_DIR + '/shown.tmp', process.env.BATON_STATE_DIR + '/shown.md');
    handOn('fixer-agent', 'No', { findings: 'no' });`,
  );
  await world.start();
  await world.run('issue', 'Read durations back');
  const shown = `${world.stateDir}/shown.md`;
  await until(() => existsSync(shown), 'the reviewer was given its task', 80_000);
  return readFileSync(shown, 'utf8');
}

it('another branch declared as the main branch hides nothing from the reviewer', { timeout: 90_000 }, async () => {
  const shown = await shownToReviewer(`
    git('branch', 'evil');
    git('update-ref', 'refs/remotes/origin/evil', 'HEAD');
    git('symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/evil');`);
  expect(shown).toContain('+++ b/src/parse-duration.js');
});

it(
  'the main branch moved onto the work, past the fence, hides nothing from the reviewer',
  { timeout: 90_000 },
  async () => {
    const shown = await shownToReviewer(`
    process.getBuiltinModule('node:child_process').execFileSync(
      '${REAL_GIT}', ['-c', 'core.hooksPath=/dev/null', 'update-ref', 'refs/heads/main', 'HEAD']);`);
    expect(shown).toContain('+++ b/src/parse-duration.js');
  },
);
