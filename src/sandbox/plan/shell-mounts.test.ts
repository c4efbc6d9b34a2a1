import { expect, it } from 'vitest';
import type { Mount } from '../../protocol/sandbox.ts';
import { madeUpMachine } from './made-up-machine.cases.ts';
import { outsidePath } from './outside-path.ts';
import { planShellMounts } from './shell-mounts.ts';

const RUN = '/state/agents/1';
const PATHS = {
  home: `${RUN}/sandbox/home`,
  shellHome: `${RUN}/sandbox/shell-home`,
  runFolder: RUN,
  shared: [`${RUN}/sandbox/tmp`, `${RUN}/bin`],
  folder: `${RUN}/sandbox/shell`,
};
const SYSTEM: readonly Mount[] = [
  { kind: 'read', at: '/usr', from: '/usr' },
  { kind: 'link', at: '/bin', to: '/usr/bin' },
  { kind: 'scratch', at: '/run' },
];
const MOUNTS: readonly Mount[] = [
  { kind: 'write', at: '/home/ada', from: PATHS.home },
  { kind: 'write', at: '/home/ada/.gitconfig', from: `${PATHS.home}/.gitconfig` },
  { kind: 'write', at: '/home/ada/.claude', from: `${RUN}/sandbox/client-0` },
  { kind: 'write', at: '/tmp', from: `${RUN}/sandbox/tmp` },
  { kind: 'read', at: `${RUN}/claude-mcp.json`, from: `${RUN}/claude-mcp.json` },
  { kind: 'read', at: `${RUN}/bin`, from: `${RUN}/bin` },
  { kind: 'write', at: '/home/ada/app', from: '/home/ada/app' },
];
const DEBIAN = [
  '/bin -> usr/bin',
  '/usr/bin/dash',
  '/usr/bin/sh -> dash',
  '/usr/bin/bash',
  '/usr/bin/git',
  '/usr/bin/make',
];

function plan(files: readonly string[]) {
  return planShellMounts(madeUpMachine(files), { system: SYSTEM, mounts: MOUNTS }, PATHS);
}

it('puts a program in the place of each shell and of git, and keeps the real ones for the client itself', () => {
  const planned = plan(DEBIAN);
  if (!planned.ok) throw new Error(planned.reason);
  const inside = [...SYSTEM, ...MOUNTS, ...planned.client];
  for (const path of ['/usr/bin/dash', '/usr/bin/bash', '/usr/bin/git', '/bin/bash'])
    expect([path, outsidePath(path, inside)]).toEqual([path, `${PATHS.folder}/run`]);
  expect(outsidePath('/bin/make', inside)).toBe('/usr/bin/make');
  expect(Object.entries(planned.real).map(([path, at]) => outsidePath(at, inside) === path)).toEqual([
    true,
    true,
    true,
  ]);
});

it('shows the commands nothing of the client: another HOME, and none of its files', () => {
  const planned = plan(DEBIAN);
  if (!planned.ok) throw new Error(planned.reason);
  const seen = (path: string): string | undefined => outsidePath(path, [...SYSTEM, ...planned.commands]);
  expect(seen('/home/ada/.gitconfig')).toBe(`${PATHS.shellHome}/.gitconfig`);
  expect(seen('/home/ada/.claude/.credentials.json')).toBe(`${PATHS.shellHome}/.claude/.credentials.json`);
  expect(seen(`${RUN}/claude-mcp.json`)).toBeUndefined();
  expect(seen('/run/baton/shell/socket')).toBeUndefined();
  expect(seen('/bin/sh')).toBe('/usr/bin/sh');
  expect(seen(`${RUN}/bin/git`)).toBe(`${RUN}/bin/git`);
  expect(seen('/tmp/x')).toBe(`${RUN}/sandbox/tmp/x`);
  expect(seen('/home/ada/app/x')).toBe('/home/ada/app/x');
});

it('replaces a shell with its version in its name', () => {
  const planned = plan([...DEBIAN, '/usr/bin/zsh -> zsh-5.9', '/usr/bin/zsh-5.9']);
  expect(planned.ok && planned.real).toHaveProperty('/usr/bin/zsh-5.9');
});

it('refuses where the shell is part of a program with other uses', () => {
  const busybox = plan(['/bin -> usr/bin', '/usr/bin/busybox', '/usr/bin/sh -> busybox']);
  expect(busybox).toEqual({ ok: false, reason: 'the shell is part of a program with other uses, /usr/bin/busybox' });
});

it('leaves out another name of such a program', () => {
  expect(plan([...DEBIAN, '/usr/bin/busybox', '/usr/bin/ash -> busybox']).ok).toBe(true);
});
