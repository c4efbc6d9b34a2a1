import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { until } from '../../../test/processes/until.ts';
import { readProcStat } from '../../api/processes.ts';
import { ContainerScene, findPodman } from '../../sandbox/container/container.cases.ts';
import { containerName, endContainer, freezeContainer } from '../../sandbox/container/end-container.ts';
import { makeScene, startSession } from '../../sandbox/bubblewrap/session.cases.ts';
import { freezeGroups } from '../../sandbox/limits/control-groups.ts';
import { parseGroupMounts } from '../../sandbox/limits/parse-groups.ts';
import { probeBubblewrap } from '../../sandbox/probe.ts';
import { Freezer } from './freeze.ts';
import { endProcesses, findAlive } from './process-tree.ts';

const BUSY = 'while :; do sh -c "echo x >> own.txt"; done';

const bwrap = await probeBubblewrap();
const noBubblewrap = bwrap.works ? '' : ` (NOT RUN: ${bwrap.reason})`;

it.skipIf(!bwrap.works)(
  `bubblewrap: all processes in the namespace stop, continue, and can be killed${noBubblewrap}`,
  async () => {
    const root = mkdtempSync(join(tmpdir(), 'baton-freeze-'));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    makeScene(root);
    const written = join(root, 'home/app/.worktrees/W-1/own.txt');
    const { child, outcome } = await startSession({ root, script: `setsid sh -c '${BUSY}' & exec sh -c '${BUSY}'` });
    const tree = { leader: child.pid ?? 0, mark: `MARK=${root}`, isNamespace: true };
    onTestFinished(async () => endProcesses(tree, 0));
    await until('it writes', () => readFileSync(written, 'utf8').includes('x'));
    const freezer = new Freezer(tree);
    expect(await freezer.freeze()).toBe(true);
    const before = readFileSync(written).length;
    expect(findAlive(tree).every((pid) => /T|D/.test(readProcStat(pid)?.state ?? 'T'))).toBe(true);
    expect(await freezer.freeze()).toBe(true);
    expect(readFileSync(written).length).toBe(before);
    await freezer.thaw();
    await until('it goes on', () => readFileSync(written).length > before + 4);
    expect(await freezer.freeze()).toBe(true);
    await endProcesses(tree, 0);
    expect((await outcome).code).not.toBe(0);
  },
);

/** A group of version 2 needs no controllers for freezing. */
const unified = parseGroupMounts(readFileSync('/proc/self/mountinfo', 'utf8')).find(
  ({ controllers }) => controllers[0] === '',
);
const group = join(unified?.at ?? '', `baton-freeze-test-${process.pid}`);
const noGroup = makeGroup() ? '' : ' (NOT RUN: no control group of version 2 can be made here)';

it.skipIf(noGroup !== '')(`control groups: everything stands still, goes on, and can be killed${noGroup}`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-freeze-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(group);
  const script = `echo 0 > ${group}/cgroup.procs; ${BUSY}`;
  const child = spawn('/bin/sh', ['-c', script], { cwd: folder, detached: true, stdio: 'ignore' });
  const ended = once(child, 'exit');
  const tree = { leader: child.pid ?? 0, mark: 'NO=mark' };
  onTestFinished(async () => {
    await endProcesses(tree, 0);
    await until('the group is empty', () => readFileSync(join(group, 'cgroup.procs'), 'utf8') === '');
    rmdirSync(group);
  });
  const written = (): number =>
    existsSync(join(folder, 'own.txt')) ? readFileSync(join(folder, 'own.txt')).length : 0;
  await until('it writes', () => written() > 0);
  const freezer = new Freezer(tree, async (isFrozen) => freezeGroups([group], isFrozen));
  expect(await freezer.freeze()).toBe(true);
  const before = written();
  expect(await freezer.freeze()).toBe(true);
  expect(written()).toBe(before);
  await freezer.thaw();
  await until('it goes on', () => written() > before + 4);
  expect(await freezer.freeze()).toBe(true);
  await endProcesses(tree, 0);
  expect(await ended).toEqual([null, 'SIGKILL']);
  expect(await freezeGroups([join(group, 'absent')], true)).toBe(false);
});

function makeGroup(): boolean {
  try {
    mkdirSync(group);
    writeFileSync(join(group, 'cgroup.freeze'), '0', { flag: 'r+' });
    return true;
  } catch {
    return false;
  } finally {
    if (unified !== undefined && existsSync(group)) rmdirSync(group);
  }
}

const { podman, why } = await findPodman();

it.skipIf(podman === undefined)(`podman: a container is paused, continues, and can be removed${why}`, async () => {
  if (podman === undefined) return;
  const scene = new ContainerScene(podman);
  scene.prepare();
  onTestFinished(() => scene.remove());
  const name = containerName('freeze');
  const { argv, env } = scene.command('freeze', ['/bin/sh', '-c', BUSY]);
  const [program, ...args] = argv;
  const child = spawn(program, args, { env, stdio: 'ignore' });
  const ended = once(child, 'exit');
  onTestFinished(async () => void (await endContainer(podman, name)));
  const path = scene.at('worktree/own.txt');
  const written = (): number => (existsSync(path) ? readFileSync(path).length : 0);
  await until('it writes', () => written() > 0);
  expect(await freezeContainer(podman, name, true)).toBe(true);
  const before = written();
  expect(await freezeContainer(podman, name, true)).toBe(true);
  expect(written()).toBe(before);
  expect(await freezeContainer(podman, name, false)).toBe(true);
  await until('it goes on', () => written() > before + 4);
  expect(await freezeContainer(podman, name, true)).toBe(true);
  expect(await endContainer(podman, name)).toBeUndefined();
  await ended;
  expect(await freezeContainer(podman, name, true)).toBe(false);
});
