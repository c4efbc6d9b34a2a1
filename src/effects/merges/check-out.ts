import { makeCheckout } from '../../git/checkout/make-checkout.ts';
import { findMergeBase } from '../../git/commits.ts';
import type { OwnRepository } from '../../git/own/own-repository.ts';
import { gitFailure, type GitResult } from '../../git/run-git.ts';
import { findMainOf } from '../sessions/main-commit.ts';
import type { EffectContext } from '../context.ts';

/**
 * Makes the folder in which the checks of a commit run, from Baton's own repository: the commit has been copied there and hashed again.
 * What its files look like is decided by the main branch, at the commit where the task's work began.
 */
export async function checkOut(
  { sha, taskId }: { readonly sha: string; readonly taskId: string },
  folder: string,
  world: EffectContext,
): Promise<GitResult<string>> {
  const began = await world.readState((state) => {
    const task = state.tasks.get(taskId);
    return { task: task ?? null, mainAt: task?.flow.mainAt ?? null, filters: world.settingsFor(task ?? null).filters };
  });
  if (began === undefined)
    return gitFailure('git/failed', 'the ledger does not answer', 'See what the daemon says: baton up --foreground');
  const found = await findMainOf(began.task, world);
  if (!found.ok) return found;
  const { name, sha: mainSha } = found.value;
  const own = await world.ownRepository.with(sha, mainSha);
  if (!own.ok) return own;
  const base = (await hasCommit(began.mainAt, world)) ?? (await findCommon(own.value, sha, mainSha));
  const main = { name, sha: mainSha };
  return makeCheckout(own.value, { sha, base, filters: began.filters, main, stateDir: world.stateDir }, folder);
}

async function hasCommit(sha: string | null, world: EffectContext): Promise<string | undefined> {
  return sha !== null && (await world.ownRepository.with(sha)).ok ? sha : undefined;
}

/** Work by hand has no recorded beginning: the last commit that it has in common with the main branch counts. */
async function findCommon(own: OwnRepository, sha: string, main: string): Promise<string> {
  const common = await findMergeBase(own, sha, main);
  return common.ok ? (common.value ?? main) : main;
}
