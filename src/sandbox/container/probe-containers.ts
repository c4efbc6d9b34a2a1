import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fieldsInJson, fieldsOf, listOf, textOf } from '../../protocol/shape/read-unknown.ts';
import type { ContainerEngine } from '../../protocol/sandbox.ts';
import { readOwnLimits } from './machine-facts.ts';
import { lastLine, runEngine } from './run-engine.ts';

export type ContainersHere =
  | { readonly ok: true; readonly engine: ContainerEngine; readonly notes: readonly string[] }
  /** The reason for each engine that cannot be used. */
  | { readonly ok: false; readonly reasons: readonly string[] };

/** Finds the engine that works here: podman, else docker. Runs a trial container once per process. */
export async function probeContainers(): Promise<ContainersHere> {
  known ??= probe(process.env);
  return known;
}

let known: Promise<ContainersHere> | undefined;

async function probe(env: NodeJS.ProcessEnv): Promise<ContainersHere> {
  const podman = await probePodman(env);
  if (podman.ok) return podman;
  const docker = await probeDocker(env);
  return docker.ok ? docker : { ok: false, reasons: [...podman.reasons, ...docker.reasons] };
}

async function probePodman(env: NodeJS.ProcessEnv): Promise<ContainersHere> {
  if (env['CONTAINER_HOST'])
    return refused('podman: CONTAINER_HOST names a remote engine, which has no files of this machine');
  const info = await runEngine(['podman'], ['info', '--format', 'json'], { timeoutMs: ANSWER_MS, env });
  if (info.code !== 0) return refused(`podman: ${lastLine(info.errors)}`);
  const { host, version } = fieldsInJson(info.output);
  const release = textOf(fieldsOf(version)['Version']);
  if (Number.parseInt(release, 10) < OLDEST_PODMAN)
    return refused(`podman: ${release} is too old: Baton needs 4.0 or newer`);
  const { cgroupVersion, cgroupControllers, security } = fieldsOf(host);
  const { rootless, seccompProfilePath } = fieldsOf(security);
  const isRootless = rootless === true;
  const controllers = listOf(cgroupControllers);
  const hasCgroup = controllers.includes('pids') && controllers.includes('memory');
  const limits = !hasCgroup ? 'rlimits' : cgroupVersion === 'v2' ? 'cgroup v2' : 'cgroup v1';
  const seccomp = textOf(seccompProfilePath) || null;
  const reasons: string[] = [];
  for (const command of [['podman'], ...besideCgroupV2(isRootless)]) {
    for (const hasInit of [true, false]) {
      const engine: ContainerEngine = { name: 'podman', command, isRootless, hasInit, limits, seccomp };
      const reason = await runTrial(engine, env);
      if (reason === '') return { ok: true, engine, notes: notesOn(engine) };
      reasons.push(reason);
      if (!/init/.test(reason)) break;
    }
    if (!/cgroup/.test(reasons[0] ?? '')) break;
  }
  return refused(`podman: ${reasons[0]}`);
}

/**
 * crun refuses machines on which both versions of cgroups have controllers. runc does not, nor does crun if version 2
 * is hidden.
 */
function besideCgroupV2(isRootless: boolean): readonly (readonly string[])[] {
  const enter = isRootless ? ['podman', 'unshare'] : ['unshare', '--mount'];
  return [
    ['podman', '--runtime', 'runc'],
    [...enter, '/bin/sh', '-c', HIDE_CGROUP_V2, 'sh', 'podman'],
  ];
}

const HIDE_CGROUP_V2 = 'mount -t tmpfs none /sys/fs/cgroup/unified && exec "$@"';

/** Runs a container from this machine's own files, without an image. Returns the reason if it fails. */
async function runTrial({ command, isRootless, hasInit }: ContainerEngine, env: NodeJS.ProcessEnv): Promise<string> {
  const rootfs = mkdtempSync(join(tmpdir(), 'baton-container-'));
  try {
    for (const name of ['usr', 'proc', 'sys', 'dev', 'etc', 'run', 'tmp']) mkdirSync(join(rootfs, name));
    for (const name of ['bin', 'lib', 'lib64']) symlinkSync(`usr/${name}`, join(rootfs, name));
    const { files, processes } = readOwnLimits();
    const args = [
      'run --rm --network none --cap-drop ALL --log-driver none --security-opt label=disable --volume /usr:/usr:ro',
      ...(hasInit ? ['--init'] : []),
      ...(isRootless ? ['--userns keep-id'] : []),
      `--ulimit nofile=${files.soft}:${files.hard} --ulimit nproc=${processes.soft}:${processes.hard} --rootfs`,
    ].flatMap((words) => words.split(' '));
    const { code, errors } = await runEngine(command, [...args, rootfs, '/usr/bin/true'], {
      timeoutMs: ANSWER_MS,
      env,
    });
    return code === 0 ? '' : lastLine(errors) || 'a container does not start';
  } finally {
    rmSync(rootfs, { recursive: true, force: true });
  }
}

async function probeDocker(env: NodeJS.ProcessEnv): Promise<ContainersHere> {
  const host = env['DOCKER_HOST'] ?? '';
  if (host !== '' && !host.startsWith('unix://'))
    return refused('docker: DOCKER_HOST names a remote engine, which has no files of this machine');
  const command = host === '' ? ['docker'] : ['docker', '--host', host];
  const info = await runEngine(command, ['info', '--format', '{{json .}}'], { timeoutMs: ANSWER_MS, env });
  const facts = fieldsInJson(info.output);
  const problem = listOf(facts['ServerErrors']).map(textOf).join(' ') || lastLine(info.errors);
  if (info.code !== 0 || textOf(facts['OSType']) === '')
    return refused(`docker: ${problem || 'the engine does not answer'}`);
  if (facts['OSType'] !== 'linux' || textOf(facts['OperatingSystem']).includes('Docker Desktop'))
    return refused('docker: its containers are in a virtual machine, where they cannot reach a supervisor');
  const hasCgroup = facts['MemoryLimit'] === true && facts['PidsLimit'] === true;
  const engine: ContainerEngine = {
    name: 'docker',
    command,
    isRootless: listOf(facts['SecurityOptions']).some((option) => textOf(option).includes('rootless')),
    hasInit: textOf(facts['InitBinary']) !== '',
    limits: !hasCgroup ? 'rlimits' : textOf(facts['CgroupVersion']) === '2' ? 'cgroup v2' : 'cgroup v1',
    seccomp: null,
  };
  return { ok: true, engine, notes: notesOn(engine) };
}

function notesOn({ limits, name }: ContainerEngine): readonly string[] {
  return [
    ...(limits === 'rlimits' ? [`${name} has no cgroup here: the memory of a session has no limit`] : []),
    ...(name === 'docker'
      ? ['docker cannot join a network of Baton: sessions are on the network of this machine']
      : []),
  ];
}

function refused(reason: string): ContainersHere {
  return { ok: false, reasons: [reason] };
}

const ANSWER_MS = 20_000;
const OLDEST_PODMAN = 4;
