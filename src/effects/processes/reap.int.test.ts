import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { readFileIfPresent } from '../../api/files.ts';
import { readProcessIdentity } from '../../api/processes.ts';
import { until } from '../../daemon/running.cases.ts';
import { Scene } from '../../supervisor/scene.cases.ts';
import { findProcessesByArguments, findProcessesByMark, killRemains } from './supervised.ts';

const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

it('ends a group that ignores SIGTERM, and children that left it', async () => {
  const value = randomUUID();
  // The grandchild has its own session, so no signal to the group reaches it.
  const script =
    'trap "" TERM; setsid sh -c "trap \\"\\" TERM; while :; do sleep 60; done" & while :; do sleep 60; done';
  const leader = start('sh', ['-c', script], value);
  const mark = { name: 'BATON_AGENT_ID', value };
  await until(() => findProcessesByMark(mark).length >= 4, 'all of them run');
  const identity = readProcessIdentity(leader.pid ?? 0) ?? '';
  expect(await killRemains({ mark, leaders: [identity] })).toBe(true);
  expect(findProcessesByMark(mark)).toEqual([]);
});

it("spares another session's process that has the mark in its environment", async () => {
  await using scene = new Scene();
  const value = randomUUID();
  const mark = { name: 'BATON_AGENT_ID', value };
  const run = await scene.start({ argv: ['/bin/sh', '-c', `BATON_AGENT_ID=${value} sh -c 'echo $$; exec sleep 600'`] });
  const said = (): number => Number(readFileIfPresent(run.files.log).trim());
  await until(() => said() > 0, 'it runs');
  const pid = said();
  // Its mark differs from the scene's, so it outlives the scene.
  onTestFinished(() => void process.kill(pid, 'SIGKILL'));
  expect(await killRemains({ mark, leaders: [] })).toBe(true);
  expect(readProcessIdentity(pid)).toBeDefined();
});

it('spares a process with a reused process id', async () => {
  const stranger = start('sleep', ['60'], 'somebody-else');
  await once(stranger, 'spawn');
  const [boot] = (readProcessIdentity(stranger.pid ?? 0) ?? '').split('/');
  const gone = `${boot}/${stranger.pid}/1`;
  expect(await killRemains({ mark: { name: 'BATON_AGENT_ID', value: randomUUID() }, leaders: [gone] })).toBe(true);
  expect(readProcessIdentity(stranger.pid ?? 0)).toBeDefined();
});

it('finds a process by its arguments', async () => {
  const word = randomUUID();
  // Uses a process without children, because a forked child has its parent's arguments until it calls exec.
  const child = start('sh', ['-c', 'kill -STOP $$', word, '7'], word);
  await until(() => findProcessesByArguments(word, '7').length === 1, 'it runs');
  expect(findProcessesByArguments(word, '7')).toEqual([child.pid]);
  expect(findProcessesByArguments(word, '8')).toEqual([]);
});

function start(program: string, args: readonly string[], value: string): ChildProcess {
  const child = spawn(program, args, {
    env: { ...process.env, BATON_AGENT_ID: value },
    detached: true,
    stdio: 'ignore',
  });
  children.push(child);
  return child;
}
