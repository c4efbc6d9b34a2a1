import type { SandboxSpec } from '../../protocol/sandbox.ts';
import { outsidePath } from '../../sandbox/plan/outside-path.ts';
import { STREAMS } from '../../streams/reader.ts';
import type { Launch } from '../contract.ts';

/** The folder in which the client keeps its records, as the supervisor sees it. */
export function recordsOf({ output, env, sandbox }: Pick<Launch, 'output' | 'env' | 'sandbox'>): string {
  if (output === 'text') return NOWHERE;
  const folder = STREAMS[output].recordsIn({ ...process.env, ...env, ...sandbox?.env });
  return outsideOf(folder, sandbox);
}

/**
 * Maps a path inside the client's sandbox to the path outside. Undefined for a path that the client cannot see, which
 * is not read for it.
 */
export function outsideOf(path: string, sandbox: SandboxSpec | undefined): string {
  if (sandbox === undefined) return path;
  return outsidePath(path, [...sandbox.system, ...sandbox.mounts]) ?? NOWHERE;
}

const NOWHERE = '/dev/null';
