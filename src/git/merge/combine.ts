import { findSha } from '../repository.ts';
import { operatorIdentity, readOperatorConfig, signingArguments, type GitIdentity } from '../config.ts';
import { gitFailure, git, gitText, type GitResult, type GitLocation } from '../run-git.ts';
import { findMergeBase } from '../commits.ts';

export const MERGE_METHODS = ['squash', 'merge', 'rebase'] as const;
export type MergeMethod = (typeof MERGE_METHODS)[number];

export interface CombineRequest {
  /** The commit that is to be merged. */
  readonly head: string;
  /** The commit it is merged onto: where the main branch stands now. */
  readonly onto: string;
  readonly method: MergeMethod;
  /** Of the merge commit; a rebase keeps the messages there are. */
  readonly message: string;
}

/** The commit that would be the new main branch, or the files in which the two cannot be joined. */
export type CombineResult =
  | { readonly kind: 'combined'; readonly sha: string }
  | { readonly kind: 'nothing'; /** The main branch has all of it already. */ readonly sha: string }
  | { readonly kind: 'conflict'; readonly files: readonly string[] };

/**
 * Makes the commit that a merge would leave: no branch moves, no worktree is touched. In Baton's own repository it reads raw blobs: no
 * attribute of a file changes how it is merged.
 */
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
      'Make the branch anew from main.',
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

/** One commit after the other on top of the main branch; merges inside the branch are left out, as `git rebase` does. */
async function replay(
  repository: GitLocation,
  { head, onto }: CombineRequest,
  base: string,
): Promise<GitResult<CombineResult>> {
  const asked = ['rev-list', '--reverse', '--topo-order', '--no-merges', '--end-of-options', head, `^${onto}`, '--'];
  const commits = await gitText(asked, { cwd: repository });
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

/** What one commit did, done to the tip: a merge of the two that have the commit's own parent in common. */
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
  const asked = ['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', ours, theirs];
  const merged = await git(asked, { cwd: repository, answers: [1] });
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
  /** Of the commit that it is a copy of; left out: the operator, now. */
  readonly author?: Author;
}

interface Author extends GitIdentity {
  readonly date: string;
}

/** A rebase copies commits, and a copy keeps its author, as `git rebase` does. */
async function readAuthor(repository: GitLocation, commit: string): Promise<GitResult<Author>> {
  const asked = await gitText(['log', '-1', '--format=%an%x00%ae%x00%aI', commit, '--'], { cwd: repository });
  if (!asked.ok) return asked;
  const [name = '', email = '', date = ''] = asked.value.split('\0');
  return { ok: true, value: { name, email, date } };
}

/**
 * Author and committer of a commit that Baton makes, and whether and how it is signed, come from the operator's own configuration: agents
 * write the commits of the branch and the configuration of the repository. The message names the task and the head that was merged.
 */
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
      // The keys of the operator are in their home folder.
      ...(signing === undefined || process.env['HOME'] === undefined ? {} : { HOME: process.env['HOME'] }),
    },
  });
  if (sha.ok) return { ok: true, value: { kind: 'combined', sha: sha.value.stdout.trim() } };
  if (signing === undefined) return sha;
  const hint =
    'Commits are signed because of commit.gpgSign in your git configuration. Check that the key works without a prompt.';
  return gitFailure('git/cannot-sign', `the merge commit cannot be signed: ${sha.problem.message}`, hint);
}
