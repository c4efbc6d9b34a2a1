import { describe, expect, it } from 'vitest';
import { collectDevcontainer, findDevcontainer, parseDevcontainer } from './devcontainer.ts';
import { devcontainerMounts } from './devcontainer-mounts.ts';
import { fillRemoteEnv } from './fill-variables.ts';

const PATH = '.devcontainer/devcontainer.json';
const VARIABLES = { local: { HOME: '/home/me' }, container: { PATH: '/bin' }, worktree: '/p/.worktrees/W-1' };

describe('the files of a devcontainer', () => {
  const collect = async (files: Readonly<Record<string, string>>) =>
    collectDevcontainer(async (path) => files[path] ?? null);

  it('are its text and the Dockerfile that it builds', async () => {
    const text = '{"build": {"dockerfile": "../Dockerfile"}}';
    const texts = await collect({ [PATH]: text, Dockerfile: 'FROM a\n', '.devcontainer.json': '{}' });
    expect(texts).toEqual({ [PATH]: text, Dockerfile: 'FROM a\n' });
    expect(findDevcontainer(texts)).toMatchObject({
      dockerfile: 'FROM a\n',
      source: { build: { context: '.devcontainer' } },
    });
    expect(await collect({ [PATH]: text })).toEqual({ [PATH]: text, Dockerfile: null });
  });

  it('are one text with an image, and none without a devcontainer', async () => {
    const text = '{"image": "a"}';
    expect(await collect({ '.devcontainer.json': text })).toEqual({ '.devcontainer.json': text });
    expect(findDevcontainer({ '.devcontainer.json': text })).toMatchObject({
      dockerfile: null,
      source: { image: 'a' },
    });
    expect(await collect({})).toEqual({});
    expect(findDevcontainer({})).toBeUndefined();
    expect(findDevcontainer({ '.devcontainer.json': '{"name": "x"}' })).toBeUndefined();
  });
});

describe('a devcontainer', () => {
  it('has an image, or a build with paths below the project', () => {
    expect(parse('{"image": "docker.io/library/node:24", "name": "x"}')).toMatchObject({
      ok: true,
      devcontainer: { source: { image: 'docker.io/library/node:24' }, notes: [] },
    });
    const build = { dockerfile: 'D', context: '..', args: { A: '1', 'B C': '2', D: 3 }, target: 'dev' };
    expect(parse(JSON.stringify({ build }))).toMatchObject({
      devcontainer: {
        source: { build: { dockerfile: '.devcontainer/D', context: '.', args: { A: '1' }, target: 'dev' } },
      },
    });
    expect(parseDevcontainer('.devcontainer.json', '{"build": {}}')).toMatchObject({
      devcontainer: { source: { build: { dockerfile: 'Dockerfile', context: '.', args: {}, target: null } } },
    });
  });

  it.for([
    ['{"image": "--privileged"}', 'image: not the name of an image'],
    ['{"image": 7}', 'image: not the name of an image'],
    ['{"build": {"dockerfile": "../../etc/passwd"}}', 'build: a path leads out of the project'],
    ['{"build": {"context": "/"}}', 'build: a path leads out of the project'],
    ['[]', 'is not JSON'],
  ])('is refused: %s', ([text = '', reason = '']) => {
    expect(parse(text)).toEqual({ ok: false, reason: expect.stringContaining(reason) as unknown });
  });

  it('names what is ignored', () => {
    const parsed = parse('{"features": {}, "runArgs": ["--privileged"], "mounts": ["type=npipe,target=/x"]}');
    expect(parsed).toMatchObject({ ok: true, devcontainer: { source: null, mounts: [] } });
    expect(parsed.ok && parsed.devcontainer.notes).toEqual([
      `${PATH}: a mount that is not understood is ignored: "type=npipe,target=/x"`,
      `${PATH}: ignored: features, runArgs`,
    ]);
  });

  it('reads both forms of a mount', () => {
    const text = ['source=a,target=/a,type=volume,readonly', { src: '/h', dst: '/b/../c', type: 'bind' }];
    const parsed = parse(JSON.stringify({ mounts: text }));
    expect(parsed.ok && parsed.devcontainer.mounts).toEqual([
      { type: 'volume', source: 'a', target: '/a', isReadOnly: true },
      { type: 'bind', source: '/h', target: '/c', isReadOnly: false },
    ]);
  });

  it('sets variables, except those with a value that sessions do not have', () => {
    const remoteEnv = {
      A: '${localEnv:HOME}/x',
      B: '${containerEnv:PATH}:${containerWorkspaceFolder}/bin',
      C: '${localEnv:TOKEN}',
      D: '${localEnv:NONE:default}${containerEnv:NONE}',
      E: '$HOME ${localWorkspaceFolderBasename}',
    };
    expect(fillRemoteEnv(remoteEnv, VARIABLES)).toEqual({
      env: { A: '/home/me/x', B: '/bin:/p/.worktrees/W-1/bin', D: 'default', E: '$HOME W-1' },
      notes: ['devcontainer: C is not set, because ${localEnv:TOKEN} does not pass to sessions'],
    });
  });

  it('mounts folders of this machine only if the operator listed them', () => {
    const mount = (source: string, type: 'bind' | 'volume' | 'tmpfs' = 'bind', isReadOnly = false) =>
      ({ type, source, target: '/t', isReadOnly }) as const;
    const rules = { variables: VARIABLES, project: 'p1', read: ['/data'], write: ['/home/me/cache'] };
    const resolve = (...mounts: ReturnType<typeof mount>[]) => devcontainerMounts(mounts, rules);
    expect(resolve(mount('${localEnv:HOME}/.ssh', 'bind', true))).toEqual({
      mounts: [],
      args: [],
      notes: ['devcontainer: /home/me/.ssh is not mounted. To allow it: sandbox.read = ["/home/me/.ssh"]'],
    });
    expect(resolve(mount('/home/me/cache/../.ssh')).mounts).toEqual([]);
    expect(resolve(mount('${localWorkspaceFolder}/link')).mounts).toEqual([]);
    expect(resolve(mount('/home/me/cache/x'), mount('/data'), mount('', 'tmpfs')).mounts).toEqual([
      { kind: 'write', at: '/t', from: '/home/me/cache/x' },
      { kind: 'read', at: '/t', from: '/data' },
      { kind: 'scratch', at: '/t' },
    ]);
    expect(resolve(mount('modules', 'volume')).args).toEqual([
      '--mount',
      'type=volume,source=baton-p1-modules,target=/t',
    ]);
    expect(resolve(mount('/etc', 'volume'), mount('${localEnv:TOKEN}', 'volume'))).toMatchObject({
      args: [],
      mounts: [],
    });
  });
});

function parse(text: string): ReturnType<typeof parseDevcontainer> {
  return parseDevcontainer(PATH, text);
}
