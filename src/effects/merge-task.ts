import { randomUUID } from 'node:crypto';
import { advanceBranch } from '../git/merge/advance-branch.ts';
import { combine, treeOf } from '../git/merge/combine.ts';
import { findMainBranch, findSha } from '../git/repository.ts';
import { gitLines } from '../git/run-git.ts';
import type { Command } from '../state/decide.ts';
import type { Effect } from '../state/runs/effect.ts';
import { checkCommit } from './check-commit.ts';
import { inWords } from './github.ts';
import type { Ended } from './merge-end.ts';
import { mergePull } from './merge-pull.ts';
import { findMissingRecord } from './missing-record.ts';
import type { World } from './world.ts';

type Merge = Extract<Effect, { kind: 'merge' }>;

/**
 * Merges one task at a time: the commit is made beside everything, checked whole in a checkout of its own, and only then does the main
 * branch move, if it is still where it was. Where it is not, the merge is made and checked anew.
 */
export async function mergeTask(effect: Merge, world: World, signal: AbortSignal): Promise<readonly Command[]> {
  return world.merges.pass(async () => {
    if (signal.aborted) return [];
    const missing = await findMissingRecord(effect, world);
    if (missing === 'unknown') return [];
    const how = effect.pull === undefined ? merge : mergePull;
    const ended =
      missing === undefined ? await how(effect, world, signal) : ({ outcome: 'failed', reason: missing } as const);
    if (ended === undefined) return [];
    const { mergeId, method } = effect;
    const nothing = { base: null, merge_sha: null, reason: null, files: [], output: null };
    return [{ kind: 'finish-merge', command: { mergeId, method, newId: randomUUID(), ...nothing, ...ended } }];
  });
}

async function merge(effect: Merge, world: World, signal: AbortSignal): Promise<Ended | undefined> {
  const { head, into, method, message, checks } = effect;
  const { path } = world;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const main = await findMainBranch(path, into === '' ? undefined : into);
    if (!main.ok) return { outcome: 'refused', reason: inWords(main.problem) };
    const onto = await findSha(path, `refs/heads/${main.value.name}`);
    if (onto === null) return { outcome: 'refused', reason: `there is no branch ${main.value.name} here` };
    const done = await findEarlier(path, head, onto);
    if (done !== undefined) return { outcome: 'merged', base: await findSha(path, `${done}^1`), merge_sha: done };
    const combined = await combine(path, { head, onto, method, message });
    if (!combined.ok) return { outcome: 'refused', base: onto, reason: inWords(combined.problem) };
    const { value } = combined;
    if (value.kind === 'conflict') return { outcome: 'conflict', base: onto, reason: 'conflict', files: value.files };
    const unseen = value.kind === 'nothing' ? [] : await findUnseen(effect, path, value.sha);
    if (unseen.length > 0) return { outcome: 'failed', base: onto, reason: describeUnseen(unseen) };
    const own = checks.filter(({ run }) => run !== undefined);
    const id = `${effect.mergeId}.${value.sha.slice(0, 12)}`;
    const checked =
      value.kind === 'nothing' ? [] : await checkCommit({ id, sha: value.sha, checks: own }, world, signal);
    if (checked === undefined) return undefined;
    const failed = checked.find(({ passed }) => !passed);
    if (failed !== undefined) {
      const reason = `check failed on the merged tree: ${failed.name}`;
      return { outcome: 'failed', base: onto, reason, output: failed.output };
    }
    // Called off in the last moment: nobody would hear that it was merged.
    if (signal.aborted) return undefined;
    const advanced = await advanceBranch(path, { branch: main.value.name, from: onto, to: value.sha });
    if (!advanced.ok) return { outcome: 'refused', base: onto, reason: inWords(advanced.problem) };
    if (advanced.value === 'advanced') return { outcome: 'merged', base: onto, merge_sha: value.sha };
  }
  return { outcome: 'refused', reason: `the main branch moved ${MOST_TRIES} times while it was merged` };
}

const MOST_TRIES = 20;

/** Checks that GitHub runs have seen the head alone. Where the merge makes anything else of it, nobody here can say whether they would pass. */
async function findUnseen({ head, checks }: Merge, path: string, sha: string): Promise<readonly string[]> {
  const elsewhere = checks.flatMap(({ name, run }) => (run === undefined ? [name] : []));
  if (elsewhere.length === 0 || (await treeOf(path, head)) === (await treeOf(path, sha))) return [];
  return elsewhere;
}

function describeUnseen(names: readonly string[]): string {
  return `the main branch has moved on, and GitHub has not checked the two together (${names.join(', ')}): merge the main branch into yours, so that it does`;
}

/** An earlier daemon may have moved the branch and died before it could say so: its commit names the head. */
async function findEarlier(path: string, head: string, onto: string): Promise<string | undefined> {
  const asked = ['log', '--max-count=1', '--format=%H', '--fixed-strings', `--grep=Baton-Head: ${head}`, onto, '--'];
  const found = await gitLines(asked, { cwd: path });
  return found.ok ? found.value[0] : undefined;
}
