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

/** Where a path that the client named lies outside of its sandbox. What it does not see itself is not read for it. */
export function outsideOf(path: string, sandbox: SandboxSpec | undefined): string {
  if (sandbox === undefined) return path;
  return outsidePath(path, [...sandbox.system, ...sandbox.mounts]) ?? NOWHERE;
}

const NOWHERE = '/dev/null';
