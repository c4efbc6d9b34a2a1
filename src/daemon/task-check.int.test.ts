import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findProcesses } from '../../test/processes/find-processes.ts';
import { record } from '../../test/processes/messages.ts';
import { createClient } from '../api/client/connect.ts';
import { readProcFile } from '../api/processes.ts';
import { until } from './running.cases.ts';
import { RunScene } from './runs.cases.ts';

let scene: RunScene;
beforeEach(() => {
  scene = new RunScene();
});
afterEach(async () => scene.end());

const RUNBOOK = `
[[ci.required]]
name = "clean"
run = "test ! -e left.txt && test -z \\"$BATON_TOKEN\\" && git rev-parse HEAD"
[[ci.required]]
name = "broken"
run = "echo WHY; exit 3"
[[ci.required]]
name = "later"
run = "sleep 300"
`;

const isSlowRunning = (): boolean =>
  findProcesses(scene.stateDir).some((pid) => readProcFile(pid, 'cmdline') === 'sleep\x00300\x00');

/** A session that reviews the head of main; its token. */
async function review(id: string): Promise<string> {
  const sha = execFileSync('git', ['-C', scene.repository, 'rev-parse', 'HEAD'], { encoding: 'utf8' }).trim();
  await scene.ask('task_create', { task_id: id, title: 'do it', phase: 'REVIEW' });
  const claim = { task_id: id, as: 'ada', role: 'reviewer' };
  const { token, epoch } = await scene.ask<{ token: string; epoch: number }>('task_claim', claim);
  await scene.ask('thought_record', { ...record(id, sha, { branch: 'main' }), epoch });
  return token;
}

it('a reviewer gets the outcomes of the checks on the commit that it judges, and not of its files', async () => {
  scene.write(RUNBOOK);
  await scene.start();
  const token = await review('A');
  writeFileSync(join(scene.repository, 'left.txt'), '');
  const answer = await scene.call('task_check', {}, token);
  const sha = execFileSync('git', ['-C', scene.repository, 'rev-parse', 'HEAD'], { encoding: 'utf8' }).trim();
  expect(answer).toMatchObject({
    ok: true,
    result: {
      head: sha,
      checks: [
        { name: 'clean', passed: true, exit_code: 0, timed_out: false, output: sha },
        { name: 'broken', passed: false, exit_code: 3, output: 'WHY' },
      ],
      not_run: ['later'],
    },
  });
  expect(await scene.call('task_check', { names: ['none'] }, token)).toMatchObject({
    error: { code: 'bad-request', hint: 'Its checks: clean, broken, later' },
  });
  const timed = await scene.call('task_check', { names: ['later'], wait_ms: 1000 }, token);
  expect(timed).toMatchObject({ ok: true, result: { checks: [], not_run: ['later'] } });
  await untilNothingIsLeft();

  await scene.ask('task_create', { task_id: 'B', title: 'write it', phase: 'IMPLEMENTATION' });
  const author = await scene.ask<{ token: string }>('task_claim', { task_id: 'B', as: 'bob', role: 'implementer' });
  expect(await scene.call('task_check', {}, author.token)).toMatchObject({ error: { code: 'forbidden' } });
});

it('the checks of a session end with its call, its claim and the daemon, and it runs them once at a time', async () => {
  scene.write(RUNBOOK);
  await scene.start();
  const client = createClient({ stateDir: scene.stateDir, env: scene.scene.env, autostart: false });
  const start = async (token: string) => {
    const caller = new AbortController();
    const about = { projectPath: scene.repository, token, signal: caller.signal };
    const answer = client.forward('task_check', { names: ['later'], wait_ms: 60_000 }, about);
    await until(isSlowRunning, 'the check runs', 30_000);
    return { caller, answer };
  };
  const token = await review('A');
  const first = await start(token);
  expect(await scene.call('task_check', {}, token)).toMatchObject({ error: { code: 'checks-running' } });
  first.caller.abort();
  expect(await first.answer).toMatchObject({ ok: false });
  await untilNothingIsLeft();

  const second = await start(token);
  await scene.ask('task_release', { task_id: 'A', reason: 'enough' });
  expect(await second.answer).toMatchObject({ error: { code: 'claim-ended' } });
  await untilNothingIsLeft();

  const third = await start(await review('B'));
  await scene.stop();
  await third.answer;
  await untilNothingIsLeft();
  client.close();
});

async function untilNothingIsLeft(): Promise<void> {
  const checkouts = join(scene.stateDir, 'checkouts');
  const isGone = (): boolean => !isSlowRunning() && (!existsSync(checkouts) || readdirSync(checkouts).length === 0);
  await until(isGone, 'nothing is left', 20_000);
}
