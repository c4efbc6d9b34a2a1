import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listLiving, readProcFile } from '../../api/processes.ts';
import type { ContainerEngine, Mount, SandboxSpec } from '../../protocol/sandbox.ts';
import { type ContainerCommand, containerArgv, type ContainerRequest } from './container-argv.ts';
import { containerName } from './end-container.ts';
import { readMountPoints, readOwnLimits } from './machine-facts.ts';
import { probeContainers } from './probe-containers.ts';
import { writeSeccompProfile } from './seccomp-profile.ts';

/** A worktree, files that a session must not reach, and a root folder with this machine's programs. */
export class ContainerScene {
  readonly folder: string;
  readonly engine: ContainerEngine;
  readonly owner: ContainerRequest['owner'];

  constructor(
    engine: ContainerEngine | undefined,
    owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
    parent = tmpdir(),
  ) {
    this.engine = engine ?? NO_ENGINE;
    this.owner = owner;
    this.folder = join(parent, `baton-container-test-${process.pid}-${++scenes}`);
  }

  prepare(): void {
    for (const path of ['worktree', 'main/.git', 'state', ...ROOT_FOLDERS])
      mkdirSync(this.at(path), { recursive: true });
    for (const name of ['bin', 'lib', 'lib64']) symlinkSync(`usr/${name}`, this.at('rootfs', name));
    writeFileSync(this.at('state/operator.token'), 'TOKEN-OF-OPERATOR\n');
    writeFileSync(this.at('main/file'), 'main\n');
    writeFileSync(this.at('state/empty'), '');
    execFileSync('chown', ['-hR', `${this.owner.uid}:${this.owner.gid}`, this.folder]);
  }

  at(...path: readonly string[]): string {
    return join(this.folder, ...path);
  }

  command(id: string, argv: readonly string[], changes: Partial<ContainerRequest> = {}): ContainerCommand {
    const spec = specWith([
      { kind: 'read', at: '/usr', from: '/usr' },
      { kind: 'read', at: this.at('main'), from: this.at('main') },
      { kind: 'write', at: this.at('worktree'), from: this.at('worktree') },
      { kind: 'masked', at: this.at('main/file') },
      { kind: 'scratch', at: '/home/agent' },
      { kind: 'empty', at: '/opt' },
    ]);
    return containerArgv({
      spec,
      container: { engine: this.engine, source: { rootfs: this.at('rootfs') }, args: [] },
      argv,
      cwd: this.at('worktree'),
      env: { HOME: '/home/agent', PATH: '/usr/bin:/bin', SECRET: 'value of the secret' },
      ownEnv: process.env,
      isTerminal: false,
      name: containerName(id),
      stateDir: this.at('state'),
      owner: this.owner,
      network: 'none',
      resolvConfFile: null,
      seccompFile: writeSeccompProfile(this.engine, this.at('state'), { nested: false }),
      emptyFile: this.at('state/empty'),
      folder: this.at('state'),
      mountPoints: readMountPoints(),
      ulimits: readOwnLimits(),
      ...changes,
    });
  }

  async run(id: string, script: string, changes: Partial<ContainerRequest> = {}): Promise<RunResult> {
    return runToEnd(this.command(id, ['/bin/sh', '-c', script], changes));
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

let scenes = 0;

/** Skipped tests are also defined, and need an engine. */
export const NO_ENGINE: ContainerEngine = {
  name: 'podman',
  command: [],
  isRootless: false,
  hasInit: false,
  limits: 'none',
  seccomp: null,
};

const ROOT_FOLDERS = ['usr', 'proc', 'sys', 'dev', 'etc', 'run', 'tmp'].map((name) => `rootfs/${name}`);

export function specWith(mounts: readonly Mount[]): SandboxSpec {
  return {
    kind: 'container',
    bwrap: null,
    system: [],
    mounts,
    layers: [],
    nested: false,
    limits: { processes: 64, memory_bytes: 128 * 1024 * 1024, disk_bytes: 8 * 1024 * 1024 },
    network: { policy: 'none', hosts: [], local: [], port: null, inject: [] },
    env: {},
    git: null,
    credentials: [],
    hidden: [],
    temporary: [],
    measured: [],
    shared: [],
    container: null,
    user: null,
    notes: [],
  };
}

export interface RunResult {
  readonly code: number | null;
  /** Standard output, followed by standard error. */
  readonly output: string;
}

export async function runToEnd({ argv: [program, ...args], env }: ContainerCommand): Promise<RunResult> {
  const child = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  let [output, errors] = ['', ''];
  child.stdout.on('data', (chunk) => (output += String(chunk)));
  child.stderr.on('data', (chunk) => (errors += String(chunk)));
  child.stdin.end();
  return new Promise((resolve) => {
    child.once('close', (code) => resolve({ code, output: output + errors }));
  });
}

/** Returns this machine's engine if it is podman; otherwise the reason, for the names of the tests. */
export async function findPodman(): Promise<{ readonly podman?: ContainerEngine; readonly why: string }> {
  const here = await probeContainers();
  if (!here.ok) return { why: ` (NOT RUN: ${here.reasons.join('; ')})` };
  return here.engine.name === 'podman' ? { podman: here.engine, why: '' } : { why: ' (NOT RUN: only docker is here)' };
}

/** The number of processes of this machine that have the word among their arguments. */
export function countProcessesWith(word: string): number {
  return listLiving().filter(({ pid }) => readProcFile(pid, 'cmdline').split('\0').includes(word)).length;
}
