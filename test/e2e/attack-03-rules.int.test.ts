import { afterEach, describe, expect, it } from 'vitest';
import { WorkflowScene } from '../processes/workflow-scene.ts';

let scene: WorkflowScene | undefined;
afterEach(async () => {
  await scene?.end();
  scene = undefined;
});

/** Finds the main checkout from a session's worktree, and edits a file in it. */
const EDIT = `
  const main = git('worktree', 'list', '--porcelain').split('\\n')[0].slice('worktree '.length);
  const edit = (file, change) => writeFileSync(main + '/' + file, change(readFileSync(main + '/' + file, 'utf8')));`;

describe('an agent that loosens the checks of its own running workflow', () => {
  it('is checked by the rules that the workflow was started with', { timeout: 90_000 }, async () => {
    // In a sandbox it would not see the main checkout.
    scene = new WorkflowScene((toml) => `sandbox = "none"\n${toml}\n[limits]\nreview_rounds = 1\n`);
    scene.plays(
      'implementer',
      `${EDIT}
      edit('baton.toml', (text) => text.replace('run = "node --test"', 'run = "true"').replace('review_rounds = 1', 'review_rounds = 99'));
      handOn('reviewer-agent', 'parseDuration reads what formatDuration writes', { tests_added: '2' });`,
    );
    scene.plays(
      'fixer',
      `appendFileSync('CHANGELOG.md', '- nothing was mended\\n');
      commit('docs: nothing was mended');
      handOn('reviewer-agent', 'Nothing to mend', { location: CODE + ':3' });`,
    );
    await scene.start();
    const before = scene.git('rev-parse', 'main');
    const id = await scene.run('issue', 'Read durations back');
    const end = await scene.ended(id, 80_000);
    expect([end?.is, end?.because]).toEqual(['waits', expect.stringContaining('1 are allowed')]);
    expect(scene.git('rev-parse', 'main')).toBe(before);
    const checks = (await scene.story(id)).filter(({ type }) => type === 'ChecksRequested');
    expect(new Set(checks.map(({ data }) => JSON.stringify(data['checks'])))).toEqual(
      new Set(['[{"name":"test","run":"node --test"}]']),
    );

    // The edited file does not apply to the next workflow either, until an operator adopts it.
    const { attention } = await scene.ask<{ attention: { title: string; next: string }[] }>('status_get');
    expect(attention[0]).toMatchObject({ title: expect.stringContaining('differs'), next: 'baton runbook adopt' });
    const started = await scene.call('run_start', { name: 'issue', args: ['Another'] });
    if (started.ok) throw new Error('the loosened rules were taken');
    expect(started.error).toMatchObject({ code: 'rules-loosened', hint: expect.stringContaining('--accept-rules') });
    expect(started.error.message).toContain('loosens  ci.required.test: {"run":"node --test"} -> {"run":"true"}');
    const accept_rules = started.error.rules?.sha256;
    await scene.ask('run_start', { name: 'issue', args: ['Another'], accept_rules });
    const adopted = (await scene.entries()).filter(({ type }) => type === 'RunbookAdopted').map(({ data }) => data);
    expect(adopted).toMatchObject([
      { previous: null, commit: before },
      { previous: adopted[0]?.['sha256'], commit: null, sha256: accept_rules, by: expect.stringMatching(/^operator/) },
    ]);
  });
});
