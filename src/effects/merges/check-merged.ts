import { fetchBranch } from '../../git/push-branch.ts';
import { findRemoteUrl, isPath } from '../../git/remote-url.ts';
import { githubFailure } from '../../github/call-api.ts';
import type { PullRequestApi } from '../../github/pulls.ts';
import { ghLoginConfig, parseRemoteUrl, renderRepository, type GithubRepository } from '../../github/remote-url.ts';
import type { Effect } from '../../state/runs/effect.ts';
import { checkCommit } from './check-commit.ts';
import type { GithubOutcome } from './github.ts';
import type { EffectContext } from '../context.ts';

/** A merge at GitHub, and what it takes. */
export interface PullMergeContext {
  readonly effect: Extract<Effect, { kind: 'merge' }>;
  readonly world: EffectContext;
  readonly signal: AbortSignal;
  readonly pulls: PullRequestApi;
  readonly number: number;
  /** The branch that it is merged into. */
  readonly base: string;
}

/** Runs the checks on what a merge makes: what fails, or `passed`; undefined where it was called off. */
export async function checkMerged(
  { effect, world, signal }: PullMergeContext,
  sha: string,
): Promise<'passed' | { readonly reason: string; readonly output: string | null } | undefined> {
  const own = effect.checks.filter(({ run }) => run !== undefined);
  const id = `${effect.mergeId}.${sha.slice(0, 12)}`;
  const checked = await checkCommit({ id, sha, taskId: effect.taskId, checks: own }, world, signal);
  const bad = checked?.find(({ passed }) => !passed);
  if (checked === undefined) return undefined;
  return bad === undefined ? 'passed' : { reason: `check failed on the merged tree: ${bad.name}`, output: bad.output };
}

/** Where the main branch stands at GitHub. */
export async function fetchBase({ effect, world, pulls, base }: PullMergeContext): Promise<GithubOutcome<string>> {
  const remote = effect.pull?.remote ?? 'origin';
  // With the head, so that GitHub sends only what is new.
  const own = await world.ownRepository.with(effect.head);
  if (!own.ok) return own;
  const url = await findRemoteUrl(world.path, remote, 'fetch');
  if (!url.ok) return url;
  if (!isAddressOf(url.value, pulls.repository)) {
    const wanted = renderRepository(pulls.repository);
    const hint = `Set its address: git remote set-url ${remote} https://${pulls.repository.host}/${pulls.repository.owner}/${pulls.repository.name}.git`;
    return githubFailure('github/other-repository', `the remote '${remote}' is not at ${wanted}`, hint);
  }
  return fetchBranch(own.value, { remote, branch: base, url: url.value, config: ghLoginConfig(pulls.repository) });
}

/**
 * Whether a remote is at the repository of the pull request. An agent can change the address, and would choose the main branch that its
 * work is checked with. A path is taken as it is: it names a mirror here.
 */
function isAddressOf(url: string, { host, owner, name }: GithubRepository): boolean {
  if (isPath(url)) return true;
  const at = parseRemoteUrl(url);
  const isSame = (a: string | undefined, b: string) => a?.toLowerCase() === b.toLowerCase();
  return isSame(at?.host, host) && isSame(at?.owner, owner) && isSame(at?.name, name);
}
