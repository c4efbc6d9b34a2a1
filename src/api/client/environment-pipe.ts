import { closeSync, readFileSync } from 'node:fs';
import { allowedEnvironment, type Environment } from '../../protocol/environment.ts';

/** The daemon reads the rest of its environment from this file descriptor. */
export const ENVIRONMENT_FD = 4;

export interface SplitEnvironment {
  /** What the daemon is started with. */
  readonly shown: Readonly<Record<string, string>>;
  /** Everything else, as JSON for the pipe. */
  readonly piped: string;
}

/**
 * Every process of the same user can read in `/proc` which environment a program was started with, and agents are such processes. So a daemon
 * is started with what agents may have anyway, and gets its secrets through a pipe.
 */
export function splitEnvironment(env: Environment): SplitEnvironment {
  const { passed: shown } = allowedEnvironment(env, READ_AT_START);
  const rest = Object.entries(env).filter(([name, value]) => value !== undefined && !(name in shown));
  return { shown, piped: JSON.stringify(Object.fromEntries(rest)) };
}

/** Node and the loader read these before any code of ours runs. */
const READ_AT_START = ['NODE_*', 'LD_*', 'DYLD_*', 'FAKETIME*', 'OPENSSL_*', 'UV_*', 'MALLOC_*', 'GLIBC_TUNABLES'];

/** Completes the environment of this process, if the process that started it left a pipe. */
export function applyPipedEnvironment(env: NodeJS.ProcessEnv = process.env): void {
  const fd = Number(env['BATON_ENVIRONMENT_FD'] ?? 0);
  delete env['BATON_ENVIRONMENT_FD'];
  if (fd !== ENVIRONMENT_FD) return;
  const piped: unknown = JSON.parse(readFileSync(fd, 'utf8'));
  closeSync(fd);
  for (const [name, value] of Object.entries(Object(piped))) if (typeof value === 'string') env[name] = value;
}
