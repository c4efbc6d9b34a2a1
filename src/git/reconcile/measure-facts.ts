import { existsSync } from 'node:fs';
import { isAncestor } from '../commits.ts';
import type { OwnRepositoryImporter } from '../own/transfer-commits.ts';
import { findMainBranch, findSha, type MainBranchHead } from '../repository.ts';
import { attempt, gitLines, type GitLocation, type GitResult, gitText, type OwnGitFolder, unwrap } from '../run-git.ts';
import type { MeasuredFacts, RecordedTask } from './reconcile.ts';
import { type MainHistory, readMainHistory, readWorkFact, type WorkFact, type WorkPlaces } from './work-facts.ts';

export interface MeasureOptions {
  readonly own: Pick<OwnRepositoryImporter, 'with'>;
  readonly mainBranch?: string;
  /** The shared main branch of a fleet's remote, which takes precedence over the repository's. */
  readonly sharedMain?: MainBranchHead | undefined;
  /** Sessions whose process has ended. The caller checks the processes. */
  readonly deadSessions: ReadonlySet<string>;
  /** How many of the newest finished tasks are compared file by file, to find reverts without a message. */
  readonly thorough?: number;
}

const AT_ONCE = 4;

/** Measures the facts for reconciliation. Expects tasks oldest first. Writes nothing. */
export async function measureFacts(
  repository: string,
  tasks: readonly RecordedTask[],
  options: MeasureOptions,
): Promise<GitResult<MeasuredFacts>> {
  const { own, deadSessions, thorough = THOROUGH } = options;
  return attempt(async () => {
    const main = options.sharedMain ?? unwrap(await findMainBranch(repository, options.mainBranch));
    const work = await measureWork({ repository, own }, tasks, main, thorough);
    const paths = tasks.flatMap(({ worktree, status }) => (worktree === null || status === 'done' ? [] : [worktree]));
    const missingWorktrees = new Set(paths.filter((path) => !existsSync(path)));
    return { mainBranch: main.name, work, missingWorktrees, deadSessions };
  });
}

async function measureWork(
  places: WorkPlaces,
  tasks: readonly RecordedTask[],
  main: MainBranchHead,
  thorough: number,
): Promise<Map<string, WorkFact>> {
  const { repository } = places;
  const own = unwrap(await places.own.with(main.sha));
  const newest = await findNewest(own, main);
  const history = await readMainHistory(repository, main.ref, newest);
  const undisputed = await findUnrevertedCommits(own, newest);
  const branches = await readBranches(repository);
  const recent = new Set(tasks.filter(({ status }) => status === 'done').slice(-thorough));
  const isSettled = ({ status, record, mergeSha }: RecordedTask) =>
    status === 'done' && (record === null || undisputed.has(mergeSha ?? record.commitSha));
  const open = tasks.filter((task) => recent.has(task) || !isSettled(task));
  const work = new Map<string, WorkFact>();
  for (let i = 0; i < open.length; i += AT_ONCE) {
    const some = open.slice(i, i + AT_ONCE);
    const facts = await Promise.all(some.map((task) => measureTask(places, task, branches, history)));
    for (const [j, fact] of facts.entries()) if (fact !== null) work.set(some[j]?.id ?? '', fact);
  }
  return work;
}

/** The local copy of GitHub's branch may be ahead if the local main branch could not follow. */
async function findNewest(own: OwnGitFolder, { name, sha }: MainBranchHead): Promise<string> {
  const there = await findSha(own, `refs/remotes/origin/${name}`);
  const ahead = there === null ? null : await isAncestor(own, sha, there);
  return there !== null && ahead?.ok === true && ahead.value ? there : sha;
}

async function measureTask(
  places: WorkPlaces,
  task: RecordedTask,
  branches: ReadonlyMap<string, string>,
  history: MainHistory,
): Promise<WorkFact | null> {
  const { record, mergeSha } = task;
  const tip = branches.get(record?.branch ?? task.branch ?? '');
  // A finished task is judged by its record, any other by its branch, which may be gone after a merge.
  const sha = task.status === 'done' ? record?.commitSha : (tip ?? record?.commitSha);
  if (sha === undefined) return null;
  const fact = unwrap(await readWorkFact(places, { sha, mergeSha }, history));
  // An unused branch is also part of the main branch. Only a record proves that work was done.
  const isUnused = record === null && fact.state === 'on-main' && fact.landing.how === 'fast-forward';
  return isUnused ? null : fact;
}

async function readBranches(repository: string): Promise<Map<string, string>> {
  const args = ['for-each-ref', '--format=%(objectname) %(refname:lstrip=2)', 'refs/heads'];
  const lines = unwrap(await gitLines(args, { cwd: repository }));
  return new Map(lines.map((line) => [line.slice(line.indexOf(' ') + 1), line.split(' ')[0] ?? '']));
}

/** The commits on the main branch that no other commit there claims to revert. Runs two processes in all. */
async function findUnrevertedCommits(repository: GitLocation, main: string): Promise<ReadonlySet<string>> {
  const options = { cwd: repository, maxBytes: MAX_BYTES };
  const graph = await gitLines(['rev-list', '--topo-order', '--parents', main, '--'], options);
  // If the history is too long, every task goes to the later checks.
  if (!graph.ok && graph.problem.code === 'git/too-much-output') return new Set();
  const search = ['rev-list', '--fixed-strings', '--grep=This reverts commit ', '--format=%B', main, '--'];
  const messages = unwrap(await gitText(search, options));
  const named = [...messages.matchAll(/This reverts commit ([0-9a-f]{7,64})/g)].map(([, name = '']) => name);
  return unrevertedCommits(unwrap(graph), named);
}

/** `graph`: each commit with its parents, newest first, as printed by `git rev-list --parents`. */
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
    // Reverting a merge undoes everything that came with it.
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

const THOROUGH = 50;
const MAX_BYTES = 128 * 1024 * 1024;
