import { gitLines, gitText, type GitResult, type GitLocation } from '../run-git.ts';

const MAX_BYTES = 128 * 1024 * 1024;

/**
 * The commits on the main branch that no other commit there claims to revert. Two processes for the whole history: most
 * tasks need no closer look than this.
 */
export async function findUnrevertedCommits(
  repository: GitLocation,
  main: string,
): Promise<GitResult<ReadonlySet<string>>> {
  const options = { cwd: repository, maxBytes: MAX_BYTES };
  const graph = await gitLines(['rev-list', '--topo-order', '--parents', main, '--'], options);
  // A history too long to hold leaves everything open to a closer look.
  if (!graph.ok) return graph.problem.code === 'git/too-much-output' ? { ok: true, value: new Set() } : graph;
  const said = ['rev-list', '--fixed-strings', '--grep=This reverts commit ', '--format=%B', main, '--'];
  const messages = await gitText(said, options);
  if (!messages.ok) return messages;
  const named = [...messages.value.matchAll(/This reverts commit ([0-9a-f]{7,64})/g)].map(([, name = '']) => name);
  return { ok: true, value: unrevertedCommits(graph.value, named) };
}

/** `graph`: each commit with its parents, newest first, as `git rev-list --parents` prints them. */
export function unrevertedCommits(graph: readonly string[], reverted: readonly string[]): Set<string> {
  const parents = new Map(graph.map((line) => line.split(' ')).map(([commit = '', ...rest]) => [commit, rest]));
  const undisputed = new Set(parents.keys());
  const trunk = trunkOf(parents, graph[0]?.split(' ')[0]);
  const full = new Map<string, string>();
  if (reverted.some((name) => name.length < 40))
    for (const commit of parents.keys()) full.set(commit.slice(0, 7), commit);
  for (const name of reverted) {
    const commit = parents.has(name) ? name : full.get(name.slice(0, 7));
    if (commit === undefined) continue;
    undisputed.delete(commit);
    // Reverting a merge undoes what came with it: all that leads back to the trunk.
    const open = parents.get(commit)?.slice(1) ?? [];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (trunk.has(next) || !undisputed.delete(next)) continue;
      open.push(...(parents.get(next) ?? []));
    }
  }
  return undisputed;
}

function trunkOf(parents: ReadonlyMap<string, readonly string[]>, head: string | undefined): Set<string> {
  const trunk = new Set<string>();
  for (let commit = head; commit !== undefined; commit = parents.get(commit)?.[0]) trunk.add(commit);
  return trunk;
}
