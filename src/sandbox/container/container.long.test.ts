import { chownSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { itHoldsItsSession } from './attacks.cases.ts';
import type { ContainerRequest } from './container-argv.ts';
import { ContainerScene, findPodman } from './container.cases.ts';
import { prepareImage } from './prepare-image.ts';
import { runEngine } from './run-engine.ts';
import { writeSeccompProfile } from './seccomp-profile.ts';

const { podman, why } = await findPodman();

describe.skipIf(podman === undefined)(`containers of podman at length${why}`, () => {
  const scene = new ContainerScene(podman);
  const { engine } = scene;
  beforeAll(() => scene.prepare());
  afterAll(() => scene.remove());

  it.skipIf(engine.limits === 'rlimits')('bounds memory', async () => {
    symlinkSync(scene.at('main/file'), scene.at('worktree/oom'));
    const { output } = await scene.run('memory', 'head -c 400000000 /dev/zero | tail | wc -c; echo ended');
    expect(output).toMatch(/^0\nended\n/);
    expect(readFileSync(scene.at('main/file'), 'utf8')).toBe('main\n');
    expect(existsSync('oom')).toBe(false);
  });

  it.skipIf(process.arch !== 'x64')('refuses keyctl, bpf, perf_event_open and open_by_handle_at', async () => {
    const script = [250, 321, 298, 304]
      .map((call) => `print syscall(${call}, 0, 0, 0, 0, 0) + 0, " ", $! + 0, "\\n";`)
      .join('');
    const { output } = await scene.run('calls', `perl -e '${script}'`);
    expect(output).toBe('-1 1\n'.repeat(4));
  });

  it('allows user namespaces if nesting is enabled', async () => {
    mkdirSync(scene.at('nested'));
    const seccompFile = writeSeccompProfile(engine, scene.at('nested'), { nested: true });
    const { output } = await scene.run('nested', 'unshare --user --map-root-user id -u', {
      seccompFile,
      owner: { uid: 1234, gid: 1234 },
    });
    expect(output).toBe('0\n');
  });

  it.skipIf(process.getuid?.() !== 0)('keeps a file system below a read-only folder read-only', async () => {
    const below = scene.at('main/.git');
    const enter = ['unshare', '--mount', 'sh', '-c', `mount -t tmpfs none ${below} && exec "$@"`, 'sh'];
    const container = {
      engine: { ...engine, command: [...enter, ...engine.command] },
      source: { rootfs: scene.at('rootfs') },
      args: [],
    };
    const script = `echo x > ${below}/x && echo written`;
    expect((await scene.run('above', script, { container, mountPoints: [] })).output).toBe('written\n');
    const { output } = await scene.run('below', script, { container, mountPoints: [below] });
    expect(output).toContain('Read-only file system');
  });

  it('builds the image of a devcontainer once, and runs in it', async () => {
    const folder = scene.at('project');
    const label = `baton.test=${process.pid}`;
    mkdirSync(join(folder, '.devcontainer/rootfs'), { recursive: true });
    const root = ['proc', 'sys', 'dev', 'tmp', 'run', 'usr', 'var/tmp', 'etc'];
    for (const name of root) mkdirSync(join(folder, '.devcontainer/rootfs', name), { recursive: true });
    for (const name of ['bin', 'lib', 'lib64']) symlinkSync(`usr/${name}`, join(folder, '.devcontainer/rootfs', name));
    writeFileSync(join(folder, '.devcontainer/rootfs/etc/from-image'), 'yes\n');
    const lines = [
      'FROM scratch',
      `LABEL ${label}`,
      'ARG VALUE',
      'ENV VALUE=$VALUE',
      'COPY rootfs /',
      'ENTRYPOINT ["/no/such/program"]',
    ];
    const build = {
      dockerfile: '.devcontainer/Dockerfile',
      context: '.devcontainer',
      args: { VALUE: `of-${process.pid}` },
      target: null,
    };
    const checkOut = async () => ({ ok: true, folder, remove: async () => {} }) as const;
    const source = { build, dockerfile: `${lines.join('\n')}\n`, tree: 'of the context', checkOut };
    const log = scene.at('state/build.log');
    const [first, second] = await Promise.all([
      prepareImage({ engine, source, log }),
      prepareImage({ engine, source, log }),
    ]);
    expect(first).toEqual(second);
    const image = first.ok ? first.image : '';
    try {
      expect(first).toMatchObject({ ok: true, env: { VALUE: `of-${process.pid}` } });
      expect(readFileSync(log, 'utf8').match(/^\$ /gm)).toHaveLength(1);
      const { output } = await scene.run('image', 'cat /etc/from-image; echo $VALUE', {
        container: { engine, source: { image }, args: [] },
      });
      expect(output).toBe(`yes\nof-${process.pid}\n`);
    } finally {
      // Earlier layers are images without a name.
      const layers = ['images', '--all', '--quiet', '--filter', `label=${label}`];
      const { output } = await runEngine(engine.command, layers, { timeoutMs: 20_000 });
      await runEngine(engine.command, ['rmi', '--force', ...output.split('\n').filter(Boolean)], { timeoutMs: 20_000 });
    }
  });

  it('reports where the output of a failed pull is', async () => {
    const log = scene.at('state/pull.log');
    const request = { engine, source: { image: 'localhost:9/baton/nothing' }, log };
    expect(await prepareImage(request)).toEqual({ ok: false, reason: expect.stringContaining(log) as unknown });
    expect(readFileSync(log, 'utf8')).toContain('localhost:9/baton/nothing');
  });
});

const user = findRootlessUser();
const noUser = user === undefined ? ' (NOT RUN: not root, or no other user has subordinate ids)' : '';

/** The tests of the int lane, run by a user without privileges. */
describe.skipIf(podman === undefined || user === undefined)(`rootless podman${why}${noUser}`, () => {
  const { uid, gid } = user ?? { uid: 0, gid: 0 };
  // The tests' temporary folder belongs to another user.
  const home = `/tmp/baton-rootless-${process.pid}`;
  const asUser = ['setpriv', '--reuid', String(uid), '--regid', String(gid), '--init-groups'];
  const enter = [...asUser, 'env', `HOME=${home}`, `XDG_RUNTIME_DIR=${home}`, `TMPDIR=${home}`];
  const { command = [] } = podman ?? {};
  const rootless = command[0] === 'unshare' ? ['podman', 'unshare', ...command.slice(2)] : command;
  const engine =
    podman && ({ ...podman, command: [...enter, ...rootless], isRootless: true, limits: 'rlimits' } as const);
  const scene = new ContainerScene(engine, { uid, gid }, '/tmp');
  beforeAll(() => {
    mkdirSync(home, { mode: 0o700 });
    chownSync(home, uid, gid);
    scene.prepare();
  });
  afterAll(async () => {
    // Ends the process that keeps the user's namespaces alive.
    await runEngine([...enter, 'podman'], ['system', 'migrate'], { timeoutMs: 20_000 });
    scene.remove();
    rmSync(home, { recursive: true, force: true });
  });
  itHoldsItsSession(scene, [...enter, 'podman', 'unshare']);
});

function findRootlessUser(): ContainerRequest['owner'] | undefined {
  if (process.getuid?.() !== 0) return undefined;
  try {
    const [name = ''] = readFileSync('/etc/subuid', 'utf8').split(':');
    const line =
      readFileSync('/etc/passwd', 'utf8')
        .split('\n')
        .find((each) => each.startsWith(`${name}:`)) ?? '';
    const [, , uid, gid] = line.split(':').map(Number);
    return uid === undefined || gid === undefined ? undefined : { uid, gid };
  } catch {
    return undefined;
  }
}
