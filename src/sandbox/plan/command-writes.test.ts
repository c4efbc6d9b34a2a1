import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Layer, Mount, SandboxSpec } from '../../protocol/sandbox.ts';
import { samples } from '../../../test/lanes.ts';
import { planCommandWrites } from './command-writes.ts';
import { isInside } from './paths.ts';

const SPEC: SandboxSpec = {
  kind: 'bubblewrap',
  system: [],
  mounts: [],
  layers: [],
  nested: false,
  limits: { processes: 1, memory_bytes: 1, disk_bytes: 1 },
  network: { policy: 'none', hosts: [], local: [], port: null, inject: [] },
  env: {},
  git: null,
  credentials: [],
  hidden: [],
  temporary: [],
  measured: [],
  shared: [],
  bwrap: null,
  container: null,
  user: null,
  notes: [],
};

const FOLDERS = { own: ['/work/tree', '/state/run'], layers: '/state/run/layers' } as const;
const KINDS = { '/data': 'folder', '/data/file': 'file', '/run/socket': 'other' } as const;
const find = (path: string) => {
  const kind = Object.entries(KINDS).find(([known]) => known === path)?.[1];
  return kind === undefined ? undefined : { kind, real: path, isPrivate: false };
};
const write = (from: string): Mount => ({ kind: 'write', at: `/at${from}`, from });
const plan = (mounts: readonly Mount[], how: Layer['how'] = 'overlay', spec = SPEC) =>
  planCommandWrites({ ...spec, mounts }, { ...FOLDERS, how }, { find });

describe('a command of the project', () => {
  it('writes its own folders', () => {
    const mounts = [write('/work/tree'), write('/state/run/sandbox/tmp')];
    expect(plan(mounts)).toMatchObject({ mounts, layers: [], notes: [] });
  });

  it('writes into a layer over a folder of sandbox.write', () => {
    const { mounts, layers, measured } = plan([write('/data')]);
    expect(mounts).toEqual([{ kind: 'write', at: '/at/data', from: '/state/run/layers/write-0' }]);
    expect(layers).toEqual([{ folder: '/state/run/layers/write-0', lowers: ['/data'], how: 'overlay' }]);
    expect(measured).toEqual(['/state/run/layers/write-0.overlay/upper']);
  });

  it('reads that folder where there is no overlay, and a file always', () => {
    expect(plan([write('/data')], 'copy')).toMatchObject({ mounts: [{ kind: 'read', from: '/data' }], layers: [] });
    const { mounts, notes } = plan([write('/data/file')]);
    expect(mounts).toEqual([{ kind: 'read', at: '/at/data/file', from: '/data/file' }]);
    expect(notes).toEqual(['sandbox.write: /at/data/file is read-only for commands of the project.']);
  });

  it('keeps devices and sockets', () => {
    expect(plan([write('/run/socket')]).mounts).toEqual([write('/run/socket')]);
  });

  it('has an empty volume in place of one that other containers share', () => {
    const engine = {
      name: 'podman',
      command: [],
      isRootless: true,
      hasInit: true,
      limits: 'none',
      seccomp: null,
    } as const;
    const args = ['--mount', 'type=volume,source=baton-p-modules,target=/modules'];
    const container = { engine, source: { image: 'i' }, args };
    expect(plan([], 'copy', { ...SPEC, container }).container?.args).toEqual([
      '--mount',
      'type=volume,target=/modules',
    ]);
  });

  it('shares no file and no folder that it writes, whatever a runbook mounts', () => {
    const path = fc.constantFrom(
      '/data',
      '/data/file',
      '/work/tree',
      '/work/tree2',
      '/state/run/x',
      '/state/runs',
      '/none',
    );
    const mount = fc.oneof(
      path.map(write),
      path.map((from): Mount => ({ kind: 'read', at: from, from })),
      path.map((at): Mount => ({ kind: 'scratch', at })),
    );
    const how = fc.constantFrom('overlay', 'copy');
    fc.assert(
      fc.property(fc.array(mount), fc.array(mount), how, (system, mounts, kind) => {
        const made = plan(mounts, kind, { ...SPEC, system });
        const written = [...made.system, ...made.mounts].flatMap((each) => (each.kind === 'write' ? [each.from] : []));
        const isOwn = (from: string): boolean => FOLDERS.own.some((folder) => isInside(from, folder));
        expect(written.filter((from) => !isOwn(from) && find(from)?.kind !== 'other')).toEqual([]);
        expect(made.layers.every(({ folder }) => isOwn(folder))).toBe(true);
      }),
      { numRuns: samples(200) },
    );
  });
});
