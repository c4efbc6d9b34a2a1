import type { GitResult } from '../run-git.ts';
import { reachRemote } from './reach-remote.ts';

/** The refs of a remote that match the patterns, by full name. Needs no repository. */
export async function listRemote(
  url: string,
  patterns: readonly string[],
  timeoutMs?: number,
): Promise<GitResult<ReadonlyMap<string, string>>> {
  const call = { url, command: ['ls-remote', '--quiet'], refs: patterns };
  const listed = await reachRemote(undefined, { ...call, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
  if (!listed.ok) return listed;
  const found = listed.value.stdout.matchAll(/^([0-9a-f]{40,64})\t(\S+)$/gm);
  return { ok: true, value: new Map([...found].map(([, sha = '', ref = '']) => [ref, sha])) };
}
