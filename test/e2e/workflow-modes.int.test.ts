import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../../src/daemon/running.cases.ts';
import { WorkflowScene } from '../processes/workflow-scene.ts';

let scene: WorkflowScene | undefined;
afterEach(async () => {
  await scene?.end();
  scene = undefined;
});

interface Asked {
  readonly id: string;
  readonly title: string;
}

describe('a workflow in the mode semi', () => {
  it('waits for a person at its four places, and goes on when they say so', { timeout: 150_000 }, async () => {
    const walked = new WorkflowScene();
    scene = walked;
    await walked.start();
    const plan = await walked.ask<{ plan: { kind: string; mode: string } }>('run_plan', {
      name: 'issue',
      args: ['X', '--mode', 'semi'],
    });
    expect(plan.plan).toMatchObject({ kind: 'workflow', mode: 'semi' });
    expect(await walked.call('run_start', { name: 'issue', args: ['X', '--mode', 'loud'] })).toMatchObject({
      ok: false,
      error: { code: 'bad-request' },
    });
    expect(await walked.call('run_start', { name: 'issue', args: [] })).toMatchObject({ ok: false });
    const id = await walked.run('issue', 'Read durations back', '--mode', 'semi');
    const stages: string[] = [];
    for (let end = await settled(walked, id); end.is !== 'closed'; end = await settled(walked, id)) {
      const [asked, ...others] = (await walked.ask<{ needs_you: Asked[] }>('status_get')).needs_you;
      expect(others).toEqual([]);
      stages.push(asked?.title.replace(`Task needs attention: ${id} `, '') ?? '');
      await walked.ask('decision_resolve', { id: asked?.id, option: 1 });
      await until(
        async () =>
          (await walked.standing(id)).is !== 'waits' ||
          (await walked.ask<{ needs_you: Asked[] }>('status_get')).needs_you[0]?.id !== asked?.id,
        'it goes on',
      );
    }
    expect(stages).toEqual([
      'ready for work',
      'fix decision',
      'ready for review',
      'fix decision',
      'ready for review',
      'merge',
    ]);
  });
});

async function settled(walked: WorkflowScene, id: string) {
  const [end] = await walked.settled([id], 60_000);
  if (end === undefined) throw new Error('there is no such workflow');
  return end;
}
