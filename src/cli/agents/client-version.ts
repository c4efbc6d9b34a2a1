import { spawn } from 'node:child_process';
import { findProgram } from '../../notify/run-program.ts';
import { choice, text, variants } from '../../protocol/shape/build-shape.ts';
import type { ValueOf } from '../../protocol/shape/shape.ts';
import { allowedEnvironment, type Environment } from '../../protocol/environment.ts';

export type FoundVersion =
  | { readonly kind: 'missing' }
  /** The program reports no version, or not in time. */
  | { readonly kind: 'silent' }
  | { readonly kind: 'found'; readonly version: string };

const STANDINGS = ['known', 'older', 'newer', 'untested'] as const;
/** `known`: between the oldest and the newest version that the tests ran with. */
type VersionStanding = (typeof STANDINGS)[number];

export const versionShape = variants({
  missing: {},
  silent: {},
  found: {
    version: text,
    is: { ...choice(STANDINGS), about: '`known`: between the oldest and the newest version that the tests ran with.' },
  },
});
export type Version = ValueOf<typeof versionShape>;

interface Program {
  readonly program: string;
  /** Variables that switch off the client's updates. */
  readonly env?: Environment;
}

/** Runs `PROGRAM --version` without the variables of its API. */
export async function findVersion(
  { program, env: own = {} }: Program,
  env: Environment,
  timeoutMs = VERSION_TIMEOUT_MS,
): Promise<FoundVersion> {
  const path = findProgram(program, env);
  if (path === undefined) return { kind: 'missing' };
  const printed = await readPrinted(path, { ...allowedEnvironment(env).passed, ...own }, timeoutMs);
  const version = /(?<![\d.])\d{1,6}\.\d{1,6}\.\d{1,6}(?!\.?\d)/.exec(printed)?.[0];
  return version === undefined ? { kind: 'silent' } : { kind: 'found', version };
}

export function compareVersion(found: FoundVersion, tested: readonly string[]): Version {
  return found.kind === 'found' ? { ...found, is: standingOf(found.version, tested) } : found;
}

/**
 * Returns the first kilobytes of standard output. If the program exceeds the time limit, it is killed with everything
 * that it started.
 */
async function readPrinted(path: string, env: Environment, timeoutMs: number): Promise<string> {
  return new Promise((resolve) => {
    // Runs in `/`, because in a project a client would read the project's settings.
    const child = spawn(path, ['--version'], { cwd: '/', env, detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
    let printed = '';
    const finish = (): void => {
      clearTimeout(timer);
      resolve(printed);
    };
    const cutOff = (): void => {
      killGroup(child.pid);
      child.stdout.destroy();
      finish();
    };
    const timer = setTimeout(cutOff, timeoutMs);
    child.stdout.on('data', (chunk: Buffer) => {
      printed += chunk.toString('utf8');
      if (printed.length > MAX_PRINTED) cutOff();
    });
    child.once('error', finish);
    child.once('close', finish);
  });
}

const VERSION_TIMEOUT_MS = 5000;
const MAX_PRINTED = 4096;

/** Kills the group, because the program may have left processes that hold the pipe open. */
function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // All processes have ended.
  }
}

function standingOf(version: string, tested: readonly string[]): VersionStanding {
  const [oldest, newest] = [tested[0], tested.at(-1)];
  if (oldest === undefined || newest === undefined) return 'untested';
  if (compare(version, oldest) < 0) return 'older';
  return compare(version, newest) > 0 ? 'newer' : 'known';
}

function compare(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}

export function describeVersion(tested: readonly string[], version: Version): string {
  switch (version.kind) {
    case 'missing':
      return 'not on the PATH';
    case 'silent':
      return `on the PATH, but does not report its version${tested.length === 0 ? '' : ` (tested: ${renderTested(tested)})`}`;
    case 'found':
      return `${version.version}, ${describeStanding(version.is, tested)}`;
  }
}

function describeStanding(is: VersionStanding, tested: readonly string[]): string {
  if (is === 'known') return 'tested';
  if (is === 'untested') return 'not tested in any version';
  return `not tested: ${is} than the tested versions (${renderTested(tested)})`;
}

export function renderTested(tested: readonly string[]): string {
  return tested.length <= 1 ? (tested[0] ?? 'none') : `${tested[0]} to ${tested.at(-1)}`;
}
