import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readFileIfPresent } from '../api/files.ts';
import type { Environment } from '../protocol/environment.ts';
import type { BwrapProgram } from './bubblewrap/argv.ts';
import { prepareBubblewrap } from './bubblewrap/prepare-bubblewrap.ts';
import { explainBubblewrap, KERNEL_SETTINGS, type NotUsable } from './explain-bubblewrap.ts';
import { findSystemProgram } from './system-program.ts';
import { isRoot } from './user/agent-user.ts';

export type Usable<T = unknown> = ({ readonly works: true } & T) | NotUsable;

/** Which modes work on this machine. */
export interface Probe<Container = unknown, User = unknown> {
  readonly bubblewrap: Usable<BwrapProgram>;
  readonly container: Usable<Container>;
  readonly user: Usable<User>;
  readonly 'sandbox-exec': Usable;
}

export interface OtherProbes<Container, User> {
  readonly container: () => Promise<Usable<Container>>;
  readonly user: () => Promise<Usable<User>>;
}

/**
 * Tries each mode. The result for bubblewrap is cached for this process: the trial takes 10 ms, and the result does not
 * change.
 */
export async function probeSandboxes<Container, User>(
  others: OtherProbes<Container, User>,
  env: Environment = process.env,
): Promise<Probe<Container, User>> {
  const [bubblewrap, container, user] = await Promise.all([probeBubblewrap(env), others.container(), others.user()]);
  return { bubblewrap, container, user, 'sandbox-exec': probeSandboxExec() };
}

let known: { readonly path: string | undefined; readonly answer: Promise<Usable<BwrapProgram>> } | undefined;

export async function probeBubblewrap(env: Environment = process.env): Promise<Usable<BwrapProgram>> {
  if (known?.path !== env['PATH'] || known === undefined) known = { path: env['PATH'], answer: tryBubblewrap(env) };
  return known.answer;
}

async function tryBubblewrap(env: Environment): Promise<Usable<BwrapProgram>> {
  const path = process.platform === 'linux' ? findSystemProgram('bwrap', env) : undefined;
  const printed = path === undefined ? undefined : await run([path, '--version']);
  const [, version = '0.0.0'] = /(\d+\.\d+(?:\.\d+)?)/.exec(printed?.stdout ?? '') ?? [];
  const tried = path === undefined ? undefined : await runInside({ path, version });
  if (path !== undefined && tried?.code === 0) return { works: true, path, version };
  return explainBubblewrap({
    stderr: tried?.stderr,
    platform: process.platform,
    sysctl: readSysctl,
    isContainer: ['/.dockerenv', '/run/.containerenv'].some((file) => existsSync(file)),
    isRoot: isRoot(),
    osRelease: readFileIfPresent('/etc/os-release'),
  });
}

/** Runs a command with every option that a session uses. */
async function runInside(bwrap: BwrapProgram): Promise<Ran> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-probe-'));
  try {
    const start = prepareBubblewrap({
      bwrap,
      folder,
      spec: {
        system: [{ kind: 'read', at: '/', from: '/' }],
        mounts: ['empty' as const, 'scratch' as const].map((kind) => ({ kind, at: '/tmp' })),
        nested: false,
        limits: { processes: 100, memory_bytes: 2 ** 24, disk_bytes: 2 ** 24 },
        env: {},
      },
      argv: ['/bin/sh', '-c', ':'],
      cwd: '/',
      enter: [],
      unsharesNet: true,
      isTerminal: false,
      procs: [],
      prlimit: [],
      resolvConf: null,
    });
    return start.ok ? await run(start.argv) : { code: null, stdout: '', stderr: start.problem.message };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function run([program = '', ...args]: readonly string[]): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(program, args, { timeout: TIMEOUT_MS, killSignal: 'SIGKILL' }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : null;
      resolve({ code, stdout, stderr: stderr === '' && error !== null ? error.message : stderr });
    });
  });
}

const TIMEOUT_MS = 10_000;

function readSysctl(name: string): string | undefined {
  if (!KERNEL_SETTINGS.includes(name)) return undefined;
  const text = readFileIfPresent(`/proc/sys/${name.replaceAll('.', '/')}`).trim();
  return text === '' ? undefined : text;
}

function probeSandboxExec(): Usable {
  const fix = 'Use sandbox = "bubblewrap" or "container".';
  if (process.platform !== 'darwin') return { works: false, reason: 'sandbox-exec is a program of macOS', fix };
  return existsSync('/usr/bin/sandbox-exec')
    ? { works: true }
    : { works: false, reason: 'there is no /usr/bin/sandbox-exec', fix };
}
