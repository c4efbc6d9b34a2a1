import { setTimeout as sleep } from 'node:timers/promises';
import { isOnFirstParents } from '../../git/commits.ts';
import { findRemoteUrl, isPath } from '../../git/config.ts';
import { createMergeCommit, findTree } from '../../git/merge/combine.ts';
import { pinCommits } from '../../git/own/own-repository.ts';
import { fetchBranch } from '../../git/push-branch.ts';
import { findSha } from '../../git/repository.ts';
import { githubFailure } from '../../github/call-api.ts';
import { ghLoginConfig, type GithubRepository, parseRemoteUrl, renderRepository } from '../../github/find-github.ts';
import { type GithubPull, openPullRequestApi, type PullMergeRequest, type PullRequestApi } from '../../github/pulls.ts';
import type { Events } from '../../state/event.ts';
import { findSharedRemote } from '../../state/fleet/fleet.ts';
import type { FinishMerge } from '../../state/workflow/merge.ts';
import type { EffectContext } from '../context.ts';
import { findBaseOf } from '../sessions/workplace.ts';
import { fastForwardMain } from '../travel/follow-main.ts';
import { checkCommit, ownChecks } from './checks.ts';
import { apiContext, type GithubOutcome, renderGithubProblem, retryGithub } from './github.ts';
import { endedElsewhere } from './pulls.ts';

/**
 * Lets GitHub merge the head. Baton first makes the merge itself, onto GitHub's current main branch, and checks it.
 * GitHub then merges exactly the checked head, and Baton reads the result back. Undefined if the branch is not
 * published yet.
 */
export async function mergePull(
  effect: PullMergeContext['effect'],
  context: EffectContext,
  signal: AbortSignal,
): Promise<MergeResult | undefined> {
  const known = await context.readState((state) => state.tasks.get(effect.task_id)?.flow.pull ?? null);
  if (known === undefined || known?.isWanted === true) return undefined;
  const place = openPullRequestApi(effect.pull?.repository ?? '', apiContext(context, signal));
  if (!place.ok) return refused(place);
  if (known === null || known.number === null || known.published !== effect.head) {
    return { outcome: 'refused', reason: `the head ${effect.head.slice(0, 12)} is not at GitHub` };
  }
  const main = await findBaseOf(effect.into, context);
  if (!main.ok) return refused(main);
  const merge = { effect, context, signal, pulls: place.value, number: known.number, base: main.value.name };
  for (let tries = 0; tries < MOST_TRIES && !signal.aborted; tries += 1) {
    const ended = await tryMergeOnce(merge);
    if (ended !== 'moved') return ended;
  }
  return signal.aborted
    ? undefined
    : { outcome: 'refused', reason: `the main branch moved ${MOST_TRIES} times during the merge` };
}

export const MOST_TRIES = 20;

/** `moved`: the main branch has new commits, so the checked tree no longer equals the merge. */
async function tryMergeOnce(merge: PullMergeContext): Promise<MergeResult | 'moved' | undefined> {
  const { effect, context, signal, pulls, number } = merge;
  const { head, method, message } = effect;
  const found = await retryGithub(() => readPullAtHead(pulls, number, head), signal);
  if (!found.ok) return refused(found);
  // An earlier daemon may have merged it without recording that, or a person has merged it.
  if (found.value.isMerged) return readMergeCommit(merge, found.value.mergeSha, null);
  const onto = await retryGithub(() => fetchBase(merge), signal);
  if (!onto.ok) return refused(onto);
  const own = await context.ownRepository.with(head, onto.value);
  if (!own.ok) return refused(own);
  const combined = await createMergeCommit(own.value, { head, onto: onto.value, method, message });
  if (!combined.ok) return refused(combined);
  const trial = combined.value;
  if (trial.kind === 'conflict')
    return { outcome: 'conflict', base: onto.value, reason: 'conflict', files: trial.files };
  if (trial.kind === 'combined') {
    const pinned = await pinCommits(own.value, [trial.sha]);
    if (!pinned.ok) return refused(pinned);
    const checked = await checkMerged(merge, trial.sha);
    if (checked === undefined) return undefined;
    if (checked !== 'passed') return { outcome: 'failed', base: onto.value, ...checked };
    const now = await fetchBase(merge);
    if (now.ok && now.value !== onto.value) return 'moved';
  }
  const ready = found.value.isDraft ? await retryGithub(() => pulls.markReady(found.value), signal) : found;
  if (!ready.ok) return refused(ready);
  const [title = '', ...body] = message.split('\n');
  const order = { head, method, title: `${title} (#${number})`, message: body.join('\n').trim() };
  const merged = await mergeAtGithub(merge, order);
  if (merged === 'moved' || merged === undefined) return merged;
  return merged.ok ? readMergeCommit(merge, merged.value, trial.sha) : refused(merged);
}

/**
 * After an unclear response the pull request shows whether it was merged. Right after a push GitHub may not know yet
 * that it is mergeable.
 */
async function mergeAtGithub(
  { pulls, number, signal }: PullMergeContext,
  order: PullMergeRequest,
): Promise<GithubOutcome<string | null> | 'moved' | undefined> {
  for (const waitMs of [1000, 2000, 4000, 0]) {
    if (signal.aborted) return undefined;
    const merged = await pulls.merge(number, order);
    if (merged.ok || isConclusive(merged)) return merged;
    if (/base branch was modified/i.test(merged.problem.message)) return 'moved';
    if (waitMs === 0) return merged;
    await sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
    const found = await readPullAtHead(pulls, number, order.head);
    if (found.ok && found.value.isMerged) return { ok: true, value: found.value.mergeSha };
    if (!found.ok && !found.isPassing) return found;
  }
  return undefined;
}

function isConclusive(failed: Extract<Awaited<ReturnType<PullRequestApi['merge']>>, { ok: false }>): boolean {
  const { isPassing, status, problem } = failed;
  return !isPassing && status !== 409 && !/not mergeable|was modified|try again/i.test(problem.message);
}

/**
 * Reads the pull request. If it has another head, the failure is transient, because GitHub needs a moment after a push.
 */
async function readPullAtHead(pulls: PullRequestApi, number: number, head: string): Promise<GithubOutcome<GithubPull>> {
  const found = await pulls.read(number);
  if (!found.ok) return found;
  const pull = found.value;
  if (pull.head === head) return pull.isOpen || pull.isMerged ? { ok: true, value: pull } : endedElsewhere(pull);
  if (pull.isMerged) return endedElsewhere(pull);
  const message = `pull request #${number} has the head ${pull.head.slice(0, 12)} at GitHub, and ${head.slice(0, 12)} was reviewed: another commit was pushed to its branch`;
  const hint =
    'Merge the pushed commits into the task’s branch and have it reviewed again, or remove them from the branch at GitHub; then try again.';
  return githubFailure('github/head-moved', message, hint, { isPassing: true });
}

function refused({ problem }: Extract<GithubOutcome<never>, { ok: false }>): MergeResult {
  return { outcome: 'refused', reason: renderGithubProblem(problem) };
}

export type MergeResult = Pick<FinishMerge, 'outcome'> & Partial<FinishMerge>;

export interface PullMergeContext {
  readonly effect: Events['MergeRequested'];
  readonly context: EffectContext;
  readonly signal: AbortSignal;
  readonly pulls: PullRequestApi;
  readonly number: number;
  readonly base: string;
}

/** Runs the checks on a merge commit. Returns `passed`, or what failed; undefined if cancelled. */
export async function checkMerged(
  { effect, context, signal }: Pick<PullMergeContext, 'effect' | 'context' | 'signal'>,
  sha: string,
): Promise<'passed' | { readonly reason: string; readonly output: string | null } | undefined> {
  const id = `${effect.merge_id}.${sha.slice(0, 12)}`;
  const plan = { id, sha, taskId: effect.task_id, checks: ownChecks(effect.checks) };
  const checked = await checkCommit(plan, context, signal);
  const bad = checked?.find(({ passed }) => !passed);
  if (checked === undefined) return undefined;
  return bad === undefined ? 'passed' : { reason: `check failed on the merged tree: ${bad.name}`, output: bad.output };
}

async function fetchBase({ effect, context, pulls, base }: PullMergeContext): Promise<GithubOutcome<string>> {
  const remote = effect.pull?.remote ?? 'origin';
  // Including the head makes GitHub send only new objects.
  const own = await context.ownRepository.with(effect.head);
  if (!own.ok) return own;
  // In a fleet the recorded address counts, if it is that of the pull request.
  const shared = await context.readState((state) => findSharedRemote(state));
  const isShared = shared && !isPath(shared) && isAddressOf(shared, pulls.repository);
  const url = isShared ? ({ ok: true, value: shared } as const) : await findRemoteUrl(context.path, remote, 'fetch');
  if (!url.ok) return url;
  if (!isAddressOf(url.value, pulls.repository)) {
    const wanted = renderRepository(pulls.repository);
    const hint = `Set its address: git remote set-url ${remote} https://${pulls.repository.host}/${pulls.repository.owner}/${pulls.repository.name}.git`;
    return githubFailure('github/other-repository', `the remote '${remote}' is not at ${wanted}`, hint);
  }
  return fetchBranch(own.value, { remote, branch: base, url: url.value, config: ghLoginConfig(pulls.repository) });
}

/**
 * Whether a remote is the pull request's repository. An agent can change the address, and would thereby choose the main
 * branch for its checks. A path is accepted: it names a mirror on this machine.
 */
function isAddressOf(url: string, { host, owner, name }: GithubRepository): boolean {
  if (isPath(url)) return true;
  const at = parseRemoteUrl(url);
  const isSame = (a: string | undefined, b: string) => a?.toLowerCase() === b.toLowerCase();
  return isSame(at?.host, host) && isSame(at?.owner, owner) && isSame(at?.name, name);
}

/**
 * Returns the merge commit as it is on the main branch. If another push came between the check and the merge, its tree
 * was not checked. It is checked now, and people are notified if it fails.
 */
async function readMergeCommit(
  merge: PullMergeContext,
  sha: string | null,
  trial: string | null,
): Promise<MergeResult | undefined> {
  const { context, base, signal } = merge;
  if (sha === null)
    return { outcome: 'refused', reason: 'GitHub reports that the pull request is merged, but not as which commit' };
  const fetched = await retryGithub(async () => {
    const now = await fetchBase(merge);
    const copied = await context.ownRepository.with();
    return now.ok && copied.ok && (await findSha(copied.value, sha)) === null
      ? githubFailure('github/odd-answer', `${sha} is not on the main branch yet`, '', { isPassing: true })
      : now;
  }, signal);
  if (signal.aborted) return undefined;
  if (!fetched.ok) {
    context.log.error('the commit that was merged at GitHub cannot be fetched', {
      sha,
      reason: fetched.problem.message,
    });
    const reason = `GitHub reports that the pull request is merged as ${sha}, but Baton cannot fetch that commit: ${renderGithubProblem(fetched.problem)}`;
    return { outcome: 'refused', reason };
  }
  const own = await context.ownRepository.with(fetched.value);
  if (!own.ok) return refused(own);
  const before = await findSha(own.value, `${sha}^1`);
  const landed = await isOnFirstParents(own.value, { sha, since: before ?? sha, head: fetched.value });
  if (!landed.ok || !landed.value)
    return {
      outcome: 'refused',
      reason: `GitHub reports that the pull request is merged as ${sha}, but that commit is not on ${base} there`,
    };
  await fastForwardMain(own.value, base, fetched.value, context);
  const merged = { outcome: 'merged', base: before, merge_sha: sha } as const;
  if (trial === null || (await findTree(own.value, sha)) === (await findTree(own.value, trial))) return merged;
  const checked = await checkMerged(merge, sha);
  if (checked === undefined) return undefined;
  return checked === 'passed' ? merged : { ...merged, ...checked };
}
