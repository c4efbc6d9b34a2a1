import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { readProcFile } from '../../src/api/processes.ts';
import { until } from '../../src/daemon/running.cases.ts';
import { findProcesses } from '../processes/find-processes.ts';
import { testsAt } from '../processes/tests-at.ts';
import { WorkflowScene } from '../processes/workflow-scene.ts';

let scene: WorkflowScene | undefined;
afterEach(async () => {
  await scene?.end();
  scene = undefined;
});

/** Each task adds a file; the tests allow one file, or as many as another file states. Each branch alone is fine. */
function oneIsEnough(): WorkflowScene {
  const made = new WorkflowScene((toml) => toml.replace(/smoke = .*\n/, ''));
  const files = `readdirSync('src').filter((name) => name.startsWith('part-')).length`;
  made.put('src/limit.js', 'export const limit = 1;\n');
  made.put(
    'test/limit.test.js',
    `import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { limit } from '../src/limit.js';
test('there are not too many parts', () => {
  assert.ok(${files} <= limit);
});
`,
  );
  made.plays('implementer', `handOn('reviewer-agent', 'A part', { tests_added: '0' });`);
  made.plays(
    'implement',
    `const part = /Add (\\w+)/.exec(readTask())[1];
     writeFileSync('src/part-' + part + '.js', 'export {};\\n');
     commit('feat: ' + part);`,
  );
  made.plays('reviewer', `handOn('validator-agent', 'Fine', {});`);
  made.plays(
    'fixer',
    `git('-c', 'user.name=a', '-c', 'user.email=a@a', 'merge', '--quiet', '--no-edit', 'main');
     writeFileSync('src/limit.js', 'export const limit = 2;\\n');
     commit('fix: two may be there');
     handOn('reviewer-agent', 'Both fit', { location: 'src/limit.js:1' });`,
  );
  return made;
}

describe('two changes that pass alone and fail together', () => {
  it('are not both merged: the second goes to the fixer, and main is never broken', { timeout: 180_000 }, async () => {
    scene = oneIsEnough();
    await scene.start();
    const before = scene.git('rev-parse', 'main');
    const ids = await Promise.all(
      ['one', 'two'].map(async (part) => scene?.run('issue', `Add ${part}`, '--mode', 'semi')),
    );
    const [one = '', two = ''] = ids;
    // Both are checked, reviewed and approved before either is merged.
    for (const id of [one, two]) {
      for (let end = await scene.ended(id, 60_000); end?.because?.includes(`${id} (merge)`) !== true;) {
        await scene.resolveAll(id);
        end = await scene.ended(id, 60_000);
      }
    }
    expect(scene.git('rev-parse', 'main')).toBe(before);
    await scene.resolveAll(one);
    expect((await scene.ended(one, 60_000))?.is).toBe('closed');
    await scene.resolveAll(two);
    const held = await scene.ended(two, 60_000);
    expect(held).toMatchObject({ is: 'waits', because: expect.stringContaining('fix decision') });
    // Only one was merged.
    expect(scene.git('rev-list', '--count', `${before}..main`)).toBe('1');
    const outcomes = async (id: string) =>
      ((await scene?.story(id)) ?? []).flatMap(({ type, data }) => (type === 'MergeFinished' ? [data['outcome']] : []));
    expect(await outcomes(two)).toEqual(['failed']);
    const back = (await scene.story(two)).findLast(({ type }) => type === 'HandoffDelivered');
    expect(back?.data).toMatchObject({ from: 'validator-agent', to: 'fixer-agent' });
    expect(back?.data['xml']).toContain('there are not too many parts');
    for (let end = await scene.ended(two, 60_000); end?.is === 'waits'; end = await scene.ended(two, 60_000))
      await scene.resolveAll(two);
    expect(await outcomes(two)).toEqual(['failed', 'merged']);
    const landed = scene.git('rev-list', '--reverse', `${before}..main`).split('\n');
    expect(landed.map((sha) => testsAt(scene?.repository ?? '', sha))).toEqual(['passed', 'passed']);
  });
});

describe('a merge that is cancelled', () => {
  it('cancels its checks, and moves nothing', { timeout: 120_000 }, async () => {
    const hangs = 'case $PWD in */merge-*) exec sleep 1000;; esac; node --test';
    scene = new WorkflowScene((toml) => toml.replace('run = "node --test"', () => `run = "${hangs}"`));
    await scene.start();
    const before = scene.git('rev-parse', 'main');
    const id = await scene.run('issue', 'Read durations back');
    const { stateDir } = scene;
    const isHanging = (): boolean =>
      findProcesses(stateDir).some((pid) => readProcFile(pid, 'cmdline') === 'sleep\x001000\x00');
    await until(isHanging, 'the check hangs', 100_000);
    await scene.ask('task_cancel', { task_id: id, reason: 'not now' });
    await until(() => !isHanging(), 'the check has ended', 30_000);
    await until(() => readdirSync(join(stateDir, 'checkouts')).length === 0, 'its checkout is gone', 30_000);
    expect(scene.git('rev-parse', 'main')).toBe(before);
    expect((await scene.standing(id)).phase).toBe('BLOCKED');
  });
});
