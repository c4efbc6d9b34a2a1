import { setTimeout as sleep } from 'node:timers/promises';
import { createMergeCommit } from '../../git/merge/combine.ts';
import { pinCommits } from '../../git/own/own-repository.ts';
import { githubFailure } from '../../github/call-api.ts';
import { openPullRequestApi, type PullMergeRequest, type GithubPull, type PullRequestApi } from '../../github/pulls.ts';
import { checkMerged, fetchBase, type PullMergeContext } from './check-merged.ts';
import { apiContext, renderGithubProblem, retryGithub, type GithubOutcome } from './github.ts';
import { findBaseOf } from '../sessions/main-commit.ts';
import type { MergeResult } from './merge-end.ts';
import { endedElsewhere } from './pulls.ts';
import { readMergeCommit } from './read-back.ts';
import type { EffectContext } from '../context.ts';

/**
 * GitHub merges, and Baton sees to it that it is the right thing: the merge is first made here, beside everything, onto the main branch as
 * GitHub has it, and checked whole. GitHub then merges exactly the head that was checked. What came of it is read back. Undefined: it is
 * not at GitHub yet.
 */
export async function mergePull(
  effect: PullMergeContext['effect'],
  world: EffectContext,
  signal: AbortSignal,
): Promise<MergeResult | undefined> {
  const known = await world.readState((state) => state.tasks.get(effect.taskId)?.flow.pull ?? null);
  if (known === undefined || known?.isWanted === true) return undefined;
  const place = openPullRequestApi(effect.pull?.repository ?? '', apiContext(world, signal));
  if (!place.ok) return refused(place);
  if (known === null || known.number === null || known.published !== effect.head) {
    return { outcome: 'refused', reason: `the head ${effect.head.slice(0, 12)} is not at GitHub` };
  }
  const main = await findBaseOf(effect.into, world);
  if (!main.ok) return refused(main);
  const scene = { effect, world, signal, pulls: place.value, number: known.number, base: main.value.name };
  for (let tries = 0; tries < MOST_TRIES && !signal.aborted; tries += 1) {
    const ended = await tryMergeOnce(scene);
    if (ended !== 'moved') return ended;
  }
  return signal.aborted
    ? undefined
    : { outcome: 'refused', reason: `the main branch moved ${MOST_TRIES} times while it was merged` };
}

const MOST_TRIES = 20;

/** `moved`: somebody pushed to the main branch, and what was checked is no longer what would be merged. */
async function tryMergeOnce(scene: PullMergeContext): Promise<MergeResult | 'moved' | undefined> {
  const { effect, world, signal, pulls, number } = scene;
  const { head, method, message } = effect;
  const found = await retryGithub(() => readPullAtHead(pulls, number, head), signal);
  if (!found.ok) return refused(found);
  // An earlier daemon may have merged it and died before it could say so; or a person was faster.
  if (found.value.isMerged) return readMergeCommit(scene, found.value.mergeSha, null);
  const onto = await retryGithub(() => fetchBase(scene), signal);
  if (!onto.ok) return refused(onto);
  const own = await world.ownRepository.with(head, onto.value);
  if (!own.ok) return refused(own);
  const combined = await createMergeCommit(own.value, { head, onto: onto.value, method, message });
  if (!combined.ok) return refused(combined);
  const trial = combined.value;
  if (trial.kind === 'conflict')
    return { outcome: 'conflict', base: onto.value, reason: 'conflict', files: trial.files };
  if (trial.kind === 'combined') {
    const pinned = await pinCommits(own.value, [trial.sha]);
    if (!pinned.ok) return refused(pinned);
    const checked = await checkMerged(scene, trial.sha);
    if (checked === undefined) return undefined;
    if (checked !== 'passed') return { outcome: 'failed', base: onto.value, ...checked };
    const now = await fetchBase(scene);
    if (now.ok && now.value !== onto.value) return 'moved';
  }
  const ready = found.value.isDraft ? await retryGithub(() => pulls.markReady(found.value), signal) : found;
  if (!ready.ok) return refused(ready);
  const [title = '', ...words] = message.split('\n');
  const merged = await mergeAtGithub(scene, {
    head,
    method,
    title: `${title} (#${number})`,
    message: words.join('\n').trim(),
  });
  if (merged === 'moved' || merged === undefined) return merged;
  return merged.ok ? readMergeCommit(scene, merged.value, trial.sha) : refused(merged);
}

/** Where it is not clear what came of it, the pull request says so; and right after a push GitHub may not know yet that it fits. */
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

function isConclusive({
  isPassing,
  status,
  problem,
}: Extract<Awaited<ReturnType<PullRequestApi['merge']>>, { ok: false }>): boolean {
  return !isPassing && status !== 409 && !/not mergeable|was modified|try again/i.test(problem.message);
}

/** The pull request, open and with the head that is to be merged; right after a push GitHub takes a moment to know of it. */
async function readPullAtHead(pulls: PullRequestApi, number: number, head: string): Promise<GithubOutcome<GithubPull>> {
  const found = await pulls.read(number);
  if (!found.ok) return found;
  const pull = found.value;
  if (pull.head === head) return pull.isOpen || pull.isMerged ? { ok: true, value: pull } : endedElsewhere(pull);
  if (pull.isMerged) return endedElsewhere(pull);
  const message = `pull request #${number} has the head ${pull.head.slice(0, 12)} at GitHub, and ${head.slice(0, 12)} was reviewed: somebody has pushed to it`;
  const hint =
    'Bring their commits into the task’s branch and have it reviewed again, or take them off the branch at GitHub; then try again.';
  return githubFailure('github/head-moved', message, hint, { isPassing: true });
}

function refused({ problem }: Extract<GithubOutcome<never>, { ok: false }>): MergeResult {
  return { outcome: 'refused', reason: renderGithubProblem(problem) };
}
