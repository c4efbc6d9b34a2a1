import { execFile } from 'node:child_process';
import {
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { DiskWatch } from './disk-watch.ts';
import { measureFolders } from './measure-folders.ts';
import { countsByNamespace, openLimits } from './open-limits.ts';
import { parseGroupMounts, parseOwnGroups } from './parse-groups.ts';

const run = promisify(execFile);
const LIMITS = { processes: 40, memory_bytes: 256 * 1024 * 1024, disk_bytes: 1024 * 1024 };
let folder = '';
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'baton-limits-'))));
afterAll(() => rmSync(folder, { recursive: true }));

describe('openLimits', () => {
  it('limits the size of files, and removes its control groups', async () => {
    const limits = openLimits(LIMITS, 'size');
    const [program = 'prlimit', ...args] = limits.prlimit;
    const { stdout } = await run(program, [...args, 'sh', '-c', 'ulimit -f; ulimit -c']);
    expect(stdout).toBe('2048\n0\n');
    for (const procs of limits.procs) expect(readFileSync(procs, 'utf8')).toBe('');
    await limits.close();
    for (const procs of limits.procs) expect(existsSync(procs)).toBe(false);
  });

  it('removes control groups that a killed supervisor left behind', async () => {
    const first = openLimits(LIMITS, 'kept');
    const left = first.procs.map((procs) =>
      procs.replace(`baton-${process.pid}-`, 'baton-999999999-').replace('/cgroup.procs', ''),
    );
    for (const group of left) mkdirSync(join(group, 'made by the session'), { recursive: true });
    const second = openLimits(LIMITS, 'next');
    expect(left.filter((group) => existsSync(dirname(group)))).toEqual([]);
    expect(first.procs.filter((procs) => !existsSync(procs))).toEqual([]);
    await Promise.all([first.close(), second.close()]);
  });

  it('knows kernels that count the processes of all namespaces', () => {
    expect(['4.18.0', '5.4.0-100-generic', '5.14.0', '6.1.0-x'].map(countsByNamespace)).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });
});

describe('the files about control groups', () => {
  it('are read in both versions', () => {
    const mounts = [
      '31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755',
      '39 31 0:36 / /sys/fs/cgroup/pids rw,relatime shared:1 - cgroup cgroup rw,pids',
      '32 31 0:29 /docker/a /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct',
      String.raw`41 31 0:38 / /sys/fs/my\040groups rw,relatime - cgroup2 cgroup2 rw,nsdelegate`,
    ].join('\n');
    expect(parseGroupMounts(mounts)).toEqual([
      { at: '/sys/fs/cgroup/pids', root: '/', controllers: ['rw', 'pids'] },
      { at: '/sys/fs/cgroup/cpu,cpuacct', root: '/docker/a', controllers: ['rw', 'cpu', 'cpuacct'] },
      { at: '/sys/fs/my groups', root: '/', controllers: [''] },
    ]);
    expect([...parseOwnGroups('8:pids:/a:b\n1:cpu,cpuacct:/\n0::/user.slice\n')]).toEqual([
      ['pids', '/a:b'],
      ['cpu', '/'],
      ['cpuacct', '/'],
      ['', '/user.slice'],
    ]);
  });
});

describe('measureFolders', () => {
  it('counts each file once, and follows no link', async () => {
    const inside = join(folder, 'measured');
    mkdirSync(join(inside, 'sub'), { recursive: true });
    writeFileSync(join(inside, 'sub/a'), Buffer.alloc(1024 * 1024));
    const { bytes: before } = await measureFolders([inside], Infinity);
    linkSync(join(inside, 'sub/a'), join(inside, 'b'));
    symlinkSync('/usr', join(inside, 'usr'));
    expect(before).toBeGreaterThanOrEqual(1024 * 1024);
    const after = await measureFolders([inside, join(inside, 'gone')], Infinity);
    expect(after).toEqual({ bytes: before + 4096, isWhole: true });
  });

  it('counts files without content, and only what changed since a time', async () => {
    const inside = join(folder, 'many');
    mkdirSync(inside);
    for (let i = 0; i < 300; i++) writeFileSync(join(inside, String(i)), '');
    expect(await measureFolders([inside], Infinity)).toEqual({ bytes: 300 * 4096, isWhole: true });
    expect(await measureFolders([inside], Infinity, Date.now() + 60_000)).toEqual({ bytes: 0, isWhole: true });
    expect((await measureFolders([inside], 100 * 4096)).bytes).toBeLessThan(300 * 4096);
  });

  it('reports that folders are nested too deep to be read', async () => {
    const inside = join(folder, 'deep');
    mkdirSync(inside);
    const script = 'i=0; while [ $i -lt 30 ]; do mkdir "$1" && cd "$1" || break; i=$((i+1)); done';
    await run('sh', ['-c', script, 'sh', 'd'.repeat(200)], { cwd: inside });
    expect(await measureFolders([inside], Infinity)).toMatchObject({ isWhole: false });
  });
});

describe('DiskWatch', () => {
  const open = (name: string, limitBytes: number): { watch: DiskWatch; over: number[]; at: string } => {
    const at = join(folder, name);
    mkdirSync(at);
    const over: number[] = [];
    const watch = new DiskWatch({
      folders: [at],
      limitBytes,
      pids: () => [process.pid],
      onOver: (bytes) => over.push(bytes),
      intervalMs: 3_600_000,
      // Other programs use the disk too, so each check measures the folders.
      maxAgeMs: 0,
    });
    onTestFinished(() => watch.close());
    return { watch, over, at };
  };

  it('reports once that the folders are too large', async () => {
    const { watch, over, at } = open('large', 4 * 1024 * 1024);
    await watch.check();
    expect(over).toEqual([]);
    writeFileSync(join(at, 'big'), Buffer.alloc(8 * 1024 * 1024));
    await watch.check();
    expect(over).toHaveLength(1);
  });

  it('counts a deleted file that is still open', async () => {
    const { watch, over, at } = open('deleted', 4 * 1024 * 1024);
    await watch.check();
    const file = openSync(join(at, 'big'), 'w');
    onTestFinished(() => closeSync(file));
    rmSync(join(at, 'big'));
    writeFileSync(file, Buffer.alloc(8 * 1024 * 1024));
    await watch.check();
    expect(over).toHaveLength(1);
  });
});
