import { findSha } from '../repository.ts';
import { operatorIdentity, readOperatorConfig, signingArguments, type GitIdentity } from '../config.ts';
import { gitFailure, git, gitText, type GitResult, type GitLocation } from '../run-git.ts';
import { findMergeBase } from '../commits.ts';

export const COMBINE_METHODS = ['squash', 'merge', 'rebase'] as const;
export type CombineMethod = (typeof COMBINE_METHODS)[number];

export interface CombineRequest {
  readonly head: string;
  /** The current commit of the main branch. */
  readonly onto: string;
  readonly method: CombineMethod;
  /** The message of the merge commit; a rebase keeps the original messages. */
  readonly message: string;
}

/** The commit that would become the main branch, or the conflicting files. */
export type CombineResult =
  | { readonly kind: 'combined'; readonly sha: string }
  | { readonly kind: 'nothing'; /** The main branch has all of it already. */ readonly sha: string }
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
    return gitFailure(
      'git/unrelated',
      `${head} and ${onto} have no history in common`,
      'Recreate the branch from main.',
    );
  }
  if (base.value === head) return { ok: true, value: { kind: 'nothing', sha: onto } };
  return method === 'rebase' ? replay(repository, request, base.value) : join(repository, request);
}

async function join(repository: GitLocation, request: CombineRequest): Promise<GitResult<CombineResult>> {
  const { head, onto, method, message } = request;
  const tree = await mergeTrees(repository, onto, head);
  if (!tree.ok) return tree;
  if (tree.value.kind === 'conflict') return { ok: true, value: tree.value };
  const parents = method === 'squash' ? [onto] : [onto, head];
  if (method === 'squash' && tree.value.tree === (await findTree(repository, onto))) {
    return { ok: true, value: { kind: 'nothing', sha: onto } };
  }
  return commitTree(repository, { tree: tree.value.tree, parents, message });
}

/** Replays the commits one by one on the main branch; merge commits are skipped, as in `git rebase`. */
async function replay(
  repository: GitLocation,
  { head, onto }: CombineRequest,
  base: string,
): Promise<GitResult<CombineResult>> {
  const args = ['rev-list', '--reverse', '--topo-order', '--no-merges', '--end-of-options', head, `^${onto}`, '--'];
  const commits = await gitText(args, { cwd: repository });
  if (!commits.ok) return commits;
  let tip = onto;
  for (const commit of commits.value.split('\n').filter((line) => line !== '')) {
    const parent = (await findSha(repository, `${commit}^1`)) ?? base;
    const tree = await applyTo(repository, tip, commit, parent);
    if (!tree.ok) return tree;
    if (tree.value.kind === 'conflict') return { ok: true, value: tree.value };
    if (tree.value.tree === (await findTree(repository, tip))) continue;
    const message = await gitText(['log', '-1', '--format=%B', commit, '--'], { cwd: repository });
    if (!message.ok) return message;
    const author = await readAuthor(repository, commit);
    if (!author.ok) return author;
    const made = await commitTree(repository, {
      tree: tree.value.tree,
      parents: [tip],
      message: message.value,
      author: author.value,
    });
    if (!made.ok) return made;
    tip = made.value.sha;
  }
  return { ok: true, value: { kind: tip === onto ? 'nothing' : 'combined', sha: tip } };
}

type Trees = { readonly kind: 'merged'; readonly tree: string } | Extract<CombineResult, { kind: 'conflict' }>;

/** Applies one commit to the tip: a merge whose common ancestor is the commit's parent. */
async function applyTo(
  repository: GitLocation,
  tip: string,
  commit: string,
  parent: string,
): Promise<GitResult<Trees>> {
  const tree = await findTree(repository, tip);
  const stand = await commitTree(repository, { tree: tree ?? tip, parents: [parent], message: 'tip' });
  return stand.ok ? mergeTrees(repository, stand.value.sha, commit) : stand;
}

async function mergeTrees(repository: GitLocation, ours: string, theirs: string): Promise<GitResult<Trees>> {
  const args = ['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', ours, theirs];
  const merged = await git(args, { cwd: repository, answers: [1] });
  if (!merged.ok) return merged;
  const [tree = '', ...files] = merged.value.stdout.split('\0').filter((field) => field !== '');
  return {
    ok: true,
    value: merged.value.code === 0 ? { kind: 'merged', tree } : { kind: 'conflict', files: [...new Set(files)] },
  };
}

export async function findTree(repository: GitLocation, commit: string): Promise<string | null> {
  const tree = await gitText(['rev-parse', '--verify', `${commit}^{tree}`], { cwd: repository });
  return tree.ok ? tree.value : null;
}

interface NewCommit {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
  /** The author of the copied commit; the operator if omitted. */
  readonly author?: Author;
}

interface Author extends GitIdentity {
  readonly date: string;
}

/** A rebased commit keeps its author, as in `git rebase`. */
async function readAuthor(repository: GitLocation, commit: string): Promise<GitResult<Author>> {
  const args = await gitText(['log', '-1', '--format=%an%x00%ae%x00%aI', commit, '--'], { cwd: repository });
  if (!args.ok) return args;
  const [name = '', email = '', date = ''] = args.value.split('\0');
  return { ok: true, value: { name, email, date } };
}

/** Identity and signature come from the operator's configuration, because agents can write the repository's. */
async function commitTree(
  repository: GitLocation,
  commit: NewCommit,
): Promise<GitResult<{ kind: 'combined'; sha: string }>> {
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
  if (sha.ok) return { ok: true, value: { kind: 'combined', sha: sha.value.stdout.trim() } };
  if (signing === undefined) return sha;
  const hint =
    'Commits are signed because of commit.gpgSign in your git configuration. Check that the key works without a prompt.';
  return gitFailure('git/cannot-sign', `the merge commit cannot be signed: ${sha.problem.message}`, hint);
}
