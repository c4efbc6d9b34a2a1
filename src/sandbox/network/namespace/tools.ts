import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process';
import { constants, existsSync } from 'node:fs';
import { delimiter } from 'node:path';
import { Readable } from 'node:stream';
import type { Environment } from '../../../protocol/environment.ts';
import { findInFolders, isAccessible } from '../../system-program.ts';

/** Starts a system program without the supervisor's secrets. */
export function startTool(argv: readonly string[], env: Environment, stdio: StdioOptions): ChildProcess {
  const [program = '', ...args] = argv;
  return spawn(program, args, { env: toolEnvironment(env), stdio });
}

/** Collects the beginning of a program's output. */
export function collectText(stream: unknown, onText: () => void = () => {}): { text: string } {
  const collected = { text: '' };
  if (!(stream instanceof Readable)) return collected;
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    if (collected.text.length < MAX_TEXT) collected.text += chunk;
    onText();
  });
  return collected;
}

const MAX_TEXT = 2000;

/**
 * The environment of system programs: `ip` is often not on a user's PATH. Podman finds its user namespace by the
 * folders.
 */
function toolEnvironment(env: Environment): { readonly PATH: string } {
  const folders = ['HOME', 'XDG_RUNTIME_DIR', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME'].flatMap((name) => {
    const value = env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const PATH = [env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin', '/usr/sbin', '/sbin'].join(delimiter);
  return { ...Object.fromEntries(folders), PATH };
}

export function hasProgram(name: string, env: Environment): boolean {
  return findTool(name, env) !== undefined;
}

export function findTool(name: string, env: Environment): string | undefined {
  const folders = toolEnvironment(env)
    .PATH.split(delimiter)
    .filter((folder) => folder !== '');
  return findInFolders(name, folders);
}

/** Why this user cannot have an uplink; undefined if no obstacle is known. */
export function refuseTunDevice(): string | undefined {
  if (!existsSync(TUN)) return `${TUN} does not exist`;
  return isAccessible(TUN, constants.R_OK | constants.W_OK) ? undefined : `this user may not open ${TUN}`;
}

const TUN = '/dev/net/tun';

/** The first line of a program's standard error. */
export function firstLine(text: string): string {
  return text.trim().split('\n')[0]?.slice(0, 300) || 'it ended without a reason';
}
