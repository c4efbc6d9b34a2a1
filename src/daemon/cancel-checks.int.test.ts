import { execFileSync } from 'node:child_process';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findProcesses } from '../../test/processes/find-processes.ts';
import { record } from '../../test/processes/messages.ts';
import { readProcFile } from '../api/processes.ts';
import { until } from './running.cases.ts';
import { RunScene } from './runs.cases.ts';

let scene: RunScene;
beforeEach(() => {
  scene = new RunScene();
});
afterEach(async () => scene.end());

it('a check that runs for a task ends when the task is cancelled', async () => {
  scene.write('exit_protocol = true\n[[ci.required]]\nname = "test"\nrun = "sleep 300"\n');
  await scene.start();
  const sha = execFileSync('git', ['-C', scene.repository, 'rev-parse', 'HEAD'], { encoding: 'utf8' }).trim();
  await scene.ask('task_create', { task_id: 'A', title: 'do it', phase: 'IMPLEMENTATION' });
  const { epoch } = await scene.ask<{ epoch: number }>('task_claim', { task_id: 'A', as: 'ada', role: 'implementer' });
  await scene.ask('thought_record', { ...record('A', sha, { branch: 'main' }), epoch });
  await scene.ask('handoff_send', { handoff: handoff(sha), task_id: 'A' });
  const isRunning = (): boolean =>
    findProcesses(scene.stateDir).some((pid) => readProcFile(pid, 'cmdline') === 'sleep\x00300\x00');
  await until(isRunning, 'the check runs', 30_000);
  await scene.ask('task_cancel', { task_id: 'A', reason: 'not wanted' });
  await until(() => !isRunning(), 'the check has ended', 20_000);
  const finished = (await scene.entries()).filter(({ type }) => type === 'ChecksFinished' || type === 'CheckFinished');
  expect(finished.map(({ type, data }) => [type, data['outcome']])).toEqual([['ChecksFinished', 'cancelled']]);
});

function handoff(sha: string): string {
  return `<handoff><from>implementer-agent</from><to>reviewer-agent</to><issue_url>https://example.org/1</issue_url><issue_number>1</issue_number><pr_url>https://example.org/2</pr_url><pr_number>2</pr_number><branch>main</branch><summary>x</summary><files_changed>0</files_changed><tests_added>0</tests_added><coverage>0%</coverage><commits><commit sha="${sha}">x</commit></commits></handoff>`;
}
