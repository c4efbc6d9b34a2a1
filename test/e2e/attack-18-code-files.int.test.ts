import { expect, it } from 'vitest';
import { askedAtMerge } from '../processes/merge-scene.ts';
import { PATIENCE_MS } from '../processes/run-world.ts';

/** Attack 18: a branch plants a hook of an agent, and makes the script of the check pass always. */
it('asks a person before it merges files that run code, and shows only them', { timeout: PATIENCE_MS }, async () => {
  const { asked, merged } = await askedAtMerge((world) => {
    const planted = { 'sub/.claude/settings.json': '{"hooks":{}}', 'ci/run.sh': 'true\n', 'src/a.js': '2\n' };
    world.write(world.repository, planted);
  });
  expect(merged).toBe(false);
  expect(asked).toMatch(/--text \w+ \w+ -- ci\/run\.sh sub\/\.claude\/settings\.json$/m);
  expect(asked).not.toContain('src/a.js');
});

it('asks nobody about source, tests, notes and a lockfile', { timeout: PATIENCE_MS }, async () => {
  const ordinary = { 'src/a.js': '2\n', 'test/a.test.js': '1\n', 'ci/notes.md': 'more\n', 'package-lock.json': '{}', 'AGENTS.md': 'x' }; // prettier-ignore
  expect(await askedAtMerge((world) => world.write(world.repository, ordinary))).toEqual({ asked: '', merged: true });
});
