import { findSha } from '../repository.ts';
import { operatorIdentity, readOperatorConfig, signingArguments, type GitIdentity } from '../config.ts';
import { attempt, gitFailure, git, gitLines, gitText, type GitResult, type GitLocation, unwrap } from '../run-git.ts';
import { findMergeBase } from '../commits.ts';

export const COMBINE_METHODS = ['squash', 'merge', 'rebase'] as const;
export type CombineMethod = (typeof COMBINE_METHODS)[number];

export interface CombineRequest {
  readonly head: string;
  readonly onto: string;
  readonly method: CombineMethod;
  /** The message of the merge commit; a rebase keeps the original messages. */
  readonly message: string;
}

export type CombineResult =
  | { readonly kind: 'combined'; readonly sha: string }
  | { readonly kind: 'nothing'; /** The main branch already contains all of it. */ readonly sha: string }
  | { readonly kind: 'conflict'; readonly files: readonly string[] };

/** Creates the commit of a merge without moving a branch. Attributes do not affect it: blobs are raw. */
export async function createMergeCommit(
  repository: GitLocation,
  request: CombineRequest,
): Promise<GitResult<CombineResult>> {
  const { head, onto, method } = request;
  const base = await findMergeBase(repository, head, onto);
  if (!base.ok) return base;
  if (base.value === null) {
    const message = `${head} and ${onto} have no history in common`;
    return gitFailure('git/unrelated', message, UNRELATED_HINT);
  }
  const { value } = base;
  if (value === head) return { ok: true, value: { kind: 'nothing', sha: onto } };
  return attempt(async () => (method === 'rebase' ? replay(repository, request, value) : join(repository, request)));
}

const UNRELATED_HINT = 'Recreate the branch from main.';

async function join(repository: GitLocation, request: CombineRequest): Promise<CombineResult> {
  const { head, onto, method, message } = request;
  const merged = await mergeTrees(repository, onto, head);
  if (merged.kind === 'conflict') return merged;
  const parents = method === 'squash' ? [onto] : [onto, head];
  if (method === 'squash' && merged.tree === (await findTree(repository, onto))) return { kind: 'nothing', sha: onto };
  return { kind: 'combined', sha: await commitTree(repository, { tree: merged.tree, parents, message }) };
}

/** Replays the commits one by one on the main branch; merge commits are skipped, as in `git rebase`. */
async function replay(repository: GitLocation, { head, onto }: CombineRequest, base: string): Promise<CombineResult> {
  const args = ['rev-list', '--reverse', '--topo-order', '--no-merges', '--end-of-options', head, `^${onto}`, '--'];
  let tip = onto;
  for (const commit of unwrap(await gitLines(args, { cwd: repository }))) {
    const parent = (await findSha(repository, `${commit}^1`)) ?? base;
    const merged = await applyTo(repository, tip, commit, parent);
    if (merged.kind === 'conflict') return merged;
    const { tree } = merged;
    if (tree === (await findTree(repository, tip))) continue;
    const message = unwrap(await gitText(['log', '-1', '--format=%B', commit, '--'], { cwd: repository }));
    const author = await readAuthor(repository, commit);
    tip = await commitTree(repository, { tree, parents: [tip], message, author });
  }
  return { kind: tip === onto ? 'nothing' : 'combined', sha: tip };
}

type Trees = { readonly kind: 'merged'; readonly tree: string } | Extract<CombineResult, { kind: 'conflict' }>;

/** Applies one commit to the tip: a merge whose common ancestor is the commit's parent. */
async function applyTo(repository: GitLocation, tip: string, commit: string, parent: string): Promise<Trees> {
  const tree = await findTree(repository, tip);
  const stand = await commitTree(repository, { tree: tree ?? tip, parents: [parent], message: 'tip' });
  return mergeTrees(repository, stand, commit);
}

async function mergeTrees(repository: GitLocation, ours: string, theirs: string): Promise<Trees> {
  const merged = await mergeAutomatically(repository, ours, theirs);
  if (merged.kind === 'conflict') return { kind: 'conflict', files: merged.files };
  if (merged.kind === 'merged') return merged;
  return unwrap(gitFailure('git/unrelated', `${ours} and ${theirs} have no history in common`, UNRELATED_HINT));
}

type AutomaticMerge =
  | { readonly kind: 'merged'; readonly tree: string }
  | { readonly kind: 'unrelated' }
  /** The tree has the conflicting files with git's conflict marks. */
  | { readonly kind: 'conflict'; readonly tree: string; readonly files: readonly string[] };

/** The automatic three-way merge of two commits, as a tree. */
export async function mergeAutomatically(
  repository: GitLocation,
  ours: string,
  theirs: string,
): Promise<AutomaticMerge> {
  const common = unwrap(await findMergeBase(repository, ours, theirs));
  if (common === null) return { kind: 'unrelated' };
  const args = ['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', ours, theirs];
  const merged = unwrap(await git(args, { cwd: repository, answers: [1] }));
  const [tree = '', ...files] = merged.stdout.split('\0').filter((field) => field !== '');
  return merged.code === 0 ? { kind: 'merged', tree } : { kind: 'conflict', tree, files: [...new Set(files)] };
}

/**
 * Returns the newest commit of main that the tip contains, if the tip's tree is the automatic merge of the approved
 * commit with it; null otherwise.
 */
export async function findAutomaticMerge(
  repository: GitLocation,
  { approved, tip, main }: { readonly approved: string; readonly tip: string; readonly main: string },
): Promise<string | null> {
  const contained = await findMergeBase(repository, main, tip);
  if (!contained.ok || contained.value === null) return null;
  const merged = await attempt(async () => mergeTrees(repository, approved, contained.value ?? main));
  const isSame = merged.ok && merged.value.kind === 'merged' && merged.value.tree === (await findTree(repository, tip));
  return isSame ? contained.value : null;
}

export async function findTree(repository: GitLocation, commit: string): Promise<string | null> {
  const tree = await gitText(['rev-parse', '--verify', `${commit}^{tree}`], { cwd: repository });
  return tree.ok ? tree.value : null;
}

interface NewCommit {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
  /** The author of the copied commit; absent for the operator. */
  readonly author?: GitIdentity & { readonly date: string };
}

/** Reads the author, because a rebased commit keeps it, as in `git rebase`. */
async function readAuthor(repository: GitLocation, commit: string): Promise<NonNullable<NewCommit['author']>> {
  const args = ['log', '-1', '--format=%an%x00%ae%x00%aI', commit, '--'];
  const [name = '', email = '', date = ''] = unwrap(await gitText(args, { cwd: repository })).split('\0');
  return { name, email, date };
}

/**
 * Writes a commit. Identity and signature are the operator's, because agents can write the repository's configuration.
 */
async function commitTree(repository: GitLocation, commit: NewCommit): Promise<string> {
  const config = await readOperatorConfig();
  const { name, email } = commit.author ?? operatorIdentity('author', config);
  const committer = operatorIdentity('committer', config);
  const signing = signingArguments(config);
  const parents = commit.parents.flatMap((parent) => ['-p', parent]);
  const sign = signing === undefined ? [] : ['-S'];
  const sha = await git([...(signing ?? []), 'commit-tree', ...sign, ...parents, '-F', '-', commit.tree], {
    cwd: repository,
    input: commit.message,
    env: {
      GIT_AUTHOR_NAME: name,
      GIT_AUTHOR_EMAIL: email,
      ...(commit.author === undefined ? {} : { GIT_AUTHOR_DATE: commit.author.date }),
      GIT_COMMITTER_NAME: committer.name,
      GIT_COMMITTER_EMAIL: committer.email,
      // The operator's keys are in their home folder.
      ...(signing === undefined || process.env['HOME'] === undefined ? {} : { HOME: process.env['HOME'] }),
    },
  });
  if (sha.ok || signing === undefined) return unwrap(sha).stdout.trim();
  const hint =
    'Commits are signed because of commit.gpgSign in your git configuration. Check that the key works without a prompt.';
  return unwrap(gitFailure('git/cannot-sign', `the merge commit cannot be signed: ${sha.problem.message}`, hint));
}
