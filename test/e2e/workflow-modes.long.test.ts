import { afterEach, describe, expect, it } from 'vitest';
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
  it('waits for a person at its four places, and continues when they approve', { timeout: 150_000 }, async () => {
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
      error: { code: 'runbook/usage' },
    });
    expect(await walked.call('run_start', { name: 'issue', args: [] })).toMatchObject({ ok: false });
    const stages = await stagesOf(walked, 'semi');
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

describe('a workflow in the mode supervised', () => {
  it('waits for a person at every stage', { timeout: 150_000 }, async () => {
    const walked = new WorkflowScene();
    scene = walked;
    await walked.start();
    expect(await stagesOf(walked, 'supervised')).toEqual([
      'requested',
      'issue written',
      'ready for work',
      'fix decision',
      'ready for review',
      'fix decision',
      'ready for review',
      'merge',
      'merged',
    ]);
  });
});

/** The stages at which a person is asked, approving each until the workflow is closed. */
async function stagesOf(walked: WorkflowScene, mode: string): Promise<string[]> {
  const id = await walked.run('issue', 'Read durations back', '--mode', mode);
  const stages: string[] = [];
  for (let end = await settled(walked, id); end.is !== 'closed'; end = await settled(walked, id)) {
    const { needs_you } = await walked.ask<{ needs_you: Asked[] }>('status_get');
    expect(needs_you).toHaveLength(1);
    stages.push(/^Task needs attention: \S+ \((.+)\)$/.exec(needs_you[0]?.title ?? '')?.[1] ?? '');
    await walked.resolveAll(id);
  }
  return stages;
}

async function settled(walked: WorkflowScene, id: string) {
  const [end] = await walked.settled([id], 60_000);
  if (end === undefined) throw new Error('there is no such workflow');
  return end;
}
