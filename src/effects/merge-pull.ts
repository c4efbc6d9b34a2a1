import { setTimeout as sleep } from 'node:timers/promises';
import { isAncestor } from '../git/commits.ts';
import { advanceBranch } from '../git/merge/advance-branch.ts';
import { combine, treeOf } from '../git/merge/combine.ts';
import { fetchBranch } from '../git/push-branch.ts';
import { findMainBranch, findSha } from '../git/repository.ts';
import { failed } from '../github/call-api.ts';
import { openPulls, type Pull, type Pulls } from '../github/pulls.ts';
import { loginConfig } from '../github/remote-url.ts';
import type { Effect } from '../state/runs/effect.ts';
import { checkCommit } from './check-commit.ts';
import { apiContext, inWords, tryAgain, type Tried } from './github.ts';
import { type Ended } from './merge-end.ts';
import { endedElsewhere } from './publish-pull.ts';
import type { World } from './world.ts';

type Merge = Extract<Effect, { kind: 'merge' }>;

/**
 * GitHub merges, and Baton sees to it that it is the right thing: the merge is first made here, beside everything, onto the main branch as
 * GitHub has it, and checked whole. GitHub then merges exactly the head that was checked. What came of it is read back. Undefined: it is
 * not at GitHub yet.
 */
export async function mergePull(effect: Merge, world: World, signal: AbortSignal): Promise<Ended | undefined> {
  const known = await world.read((state) => state.tasks.get(effect.taskId)?.flow.pull ?? null);
  if (known === undefined || known?.isWanted === true) return undefined;
  const place = openPulls(effect.pull?.repository ?? '', apiContext(world, signal));
  if (!place.ok) return refused(place);
  if (known === null || known.number === null || known.published !== effect.head) {
    return { outcome: 'refused', reason: `the head ${effect.head.slice(0, 12)} is not at GitHub` };
  }
  const main = await findMainBranch(world.path, effect.into === '' ? undefined : effect.into);
  if (!main.ok) return refused(main);
  const scene = { effect, world, signal, pulls: place.value, number: known.number, base: main.value.name };
  for (let tries = 0; tries < MOST_TRIES && !signal.aborted; tries += 1) {
    const ended = await tryOnce(scene);
    if (ended !== 'again') return ended;
    await sleep(AGAIN_MS, undefined, { signal, ref: false }).catch(() => undefined);
  }
  return signal.aborted
    ? undefined
    : { outcome: 'refused', reason: `it could not be merged at GitHub in ${MOST_TRIES} tries` };
}

const MOST_TRIES = 10;
const AGAIN_MS = 1000;

interface Scene {
  readonly effect: Merge;
  readonly world: World;
  readonly signal: AbortSignal;
  readonly pulls: Pulls;
  readonly number: number;
  /** The branch that it is merged into. */
  readonly base: string;
}

async function tryOnce(scene: Scene): Promise<Ended | 'again' | undefined> {
  const { effect, world, signal, pulls, number } = scene;
  const { head, method, message } = effect;
  const found = await tryAgain(() => readAt(pulls, number, head), signal);
  if (!found.ok) return refused(found);
  // An earlier daemon may have merged it and died before it could say so; or a person was faster.
  if (found.value.isMerged) return readBack(scene, found.value.mergeSha, null);
  const onto = await tryAgain(() => fetchBase(scene), signal);
  if (!onto.ok) return refused(onto);
  const combined = await combine(world.path, { head, onto: onto.value, method, message });
  if (!combined.ok) return refused(combined);
  const trial = combined.value;
  if (trial.kind === 'conflict')
    return { outcome: 'conflict', base: onto.value, reason: 'conflict', files: trial.files };
  if (trial.kind === 'combined') {
    const checked = await checkMerged(scene, trial.sha);
    if (checked === undefined) return undefined;
    if (checked !== 'passed') return { outcome: 'failed', base: onto.value, ...checked };
    const now = await fetchBase(scene);
    if (now.ok && now.value !== onto.value) return 'again';
  }
  const ready = found.value.isDraft ? await tryAgain(() => pulls.markReady(found.value), signal) : found;
  if (!ready.ok) return refused(ready);
  if (signal.aborted) return undefined;
  const [title = '', ...words] = message.split('\n');
  const order = { head, method, title: `${title} (#${number})`, message: words.join('\n').trim() };
  const merged = await pulls.merge(number, order);
  if (merged.ok) return readBack(scene, merged.value, trial.sha);
  // It is not known whether it was done: the next look says so. Right after a push GitHub may not know yet that it fits.
  const isUnclear =
    merged.isPassing || merged.status === 409 || /modified|not mergeable|try again/i.test(merged.problem.message);
  return isUnclear ? 'again' : refused(merged);
}

/** The pull request, open and with the head that is to be merged; right after a push GitHub takes a moment to know of it. */
async function readAt(pulls: Pulls, number: number, head: string): Promise<Tried<Pull>> {
  const found = await pulls.read(number);
  if (!found.ok) return found;
  const pull = found.value;
  if (pull.head !== head) {
    if (pull.isMerged) return endedElsewhere(pull);
    const message = `pull request #${number} has the head ${pull.head.slice(0, 12)} at GitHub, and ${head.slice(0, 12)} was reviewed: somebody has pushed to it`;
    const hint =
      'Bring their commits into the task’s branch and have it reviewed again, or take them off the branch at GitHub; then try again.';
    return failed('github/head-moved', message, hint, { isPassing: true });
  }
  return pull.isOpen || pull.isMerged ? { ok: true, value: pull } : endedElsewhere(pull);
}

async function fetchBase({ effect, world, pulls, base }: Scene): Promise<Tried<string>> {
  const remote = effect.pull?.remote ?? 'origin';
  return fetchBranch(world.path, { remote, branch: base, config: loginConfig(pulls.repository) });
}

/** What fails, or `passed`; undefined where it was called off. */
async function checkMerged(
  { effect, world, signal }: Scene,
  sha: string,
): Promise<'passed' | { reason: string; output: string | null } | undefined> {
  const own = effect.checks.filter(({ run }) => run !== undefined);
  const id = `${effect.mergeId}.${sha.slice(0, 12)}`;
  const checked = await checkCommit({ id, sha, checks: own }, world, signal);
  const bad = checked?.find(({ passed }) => !passed);
  if (checked === undefined) return undefined;
  return bad === undefined ? 'passed' : { reason: `check failed on the merged tree: ${bad.name}`, output: bad.output };
}

/**
 * The merge commit, as it is on the main branch now. Where somebody pushed there in the instant between the last look and the merge, it is
 * not what was checked: then it is checked now, and people hear of it if it is broken.
 */
async function readBack(scene: Scene, sha: string | null, trial: string | null): Promise<Ended | undefined> {
  const { world, base, signal } = scene;
  const { path } = world;
  if (sha === null)
    return { outcome: 'refused', reason: 'GitHub says that it is merged, and does not say as which commit' };
  const fetched = await tryAgain(async () => {
    const now = await fetchBase(scene);
    return now.ok && (await findSha(path, sha)) === null
      ? failed('github/odd-answer', `${sha} is not on the main branch yet`, '', { isPassing: true })
      : now;
  }, signal);
  if (signal.aborted) return undefined;
  if (!fetched.ok) {
    world.log.error('what was merged at GitHub cannot be fetched', { sha, reason: fetched.problem.message });
    return { outcome: 'merged', merge_sha: sha };
  }
  await followRemote(path, base, fetched.value, world);
  const onto = await findSha(path, `${sha}^1`);
  const [own, tried] = await Promise.all([treeOf(path, sha), trial === null ? null : treeOf(path, trial)]);
  if (trial === null || own === tried) return { outcome: 'merged', base: onto, merge_sha: sha };
  const checked = await checkMerged(scene, sha);
  if (checked === undefined) return undefined;
  return { outcome: 'merged', base: onto, merge_sha: sha, ...(checked === 'passed' ? {} : checked) };
}

/** Our own main branch follows where it can: the next task begins there. Work that is in the way stays as it is. */
async function followRemote(path: string, branch: string, to: string, { log }: World): Promise<void> {
  const from = await findSha(path, `refs/heads/${branch}`);
  if (from === null || from === to) return;
  const isBehind = await isAncestor(path, from, to);
  const moved = isBehind.ok && isBehind.value ? await advanceBranch(path, { branch, from, to }) : undefined;
  if (moved?.ok !== true)
    log.info('the main branch here does not follow GitHub’s', {
      branch,
      reason: moved?.problem.message ?? 'it has commits of its own',
    });
}

function refused({ problem }: Extract<Tried<never>, { ok: false }>): Ended {
  return { outcome: 'refused', reason: inWords(problem) };
}
