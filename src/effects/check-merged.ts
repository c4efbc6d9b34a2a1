import { fetchBranch } from '../git/push-branch.ts';
import type { Pulls } from '../github/pulls.ts';
import { loginConfig } from '../github/remote-url.ts';
import type { Effect } from '../state/runs/effect.ts';
import { checkCommit } from './check-commit.ts';
import type { Tried } from './github.ts';
import type { World } from './world.ts';

/** A merge at GitHub, and what it takes. */
export interface MergeScene {
  readonly effect: Extract<Effect, { kind: 'merge' }>;
  readonly world: World;
  readonly signal: AbortSignal;
  readonly pulls: Pulls;
  readonly number: number;
  /** The branch that it is merged into. */
  readonly base: string;
}

/** Runs the checks on what a merge makes: what fails, or `passed`; undefined where it was called off. */
export async function checkMerged(
  { effect, world, signal }: MergeScene,
  sha: string,
): Promise<'passed' | { readonly reason: string; readonly output: string | null } | undefined> {
  const own = effect.checks.filter(({ run }) => run !== undefined);
  const id = `${effect.mergeId}.${sha.slice(0, 12)}`;
  const checked = await checkCommit({ id, sha, checks: own }, world, signal);
  const bad = checked?.find(({ passed }) => !passed);
  if (checked === undefined) return undefined;
  return bad === undefined ? 'passed' : { reason: `check failed on the merged tree: ${bad.name}`, output: bad.output };
}

/** Where the main branch stands at GitHub. */
export async function fetchBase({ effect, world, pulls, base }: MergeScene): Promise<Tried<string>> {
  const remote = effect.pull?.remote ?? 'origin';
  return fetchBranch(world.path, { remote, branch: base, config: loginConfig(pulls.repository) });
}
