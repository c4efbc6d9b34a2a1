import { defineCheck, type Diagnosis, ok, problem, warning } from '../finding.ts';
import { isAtLeast } from './node.ts';

export interface GitFacts {
  /** Null if git does not run. */
  readonly version: string | null;
  /** Why git does not run, or why the folder is not a repository; null if it is one. */
  readonly trouble: { readonly code: string; readonly message: string; readonly hint: string } | null;
  readonly folder: string;
  /** Whether `--project` names the folder. */
  readonly isNamed: boolean;
  /** Null outside of a repository. */
  readonly repository: GitRepositoryFacts | null;
}

interface GitRepositoryFacts {
  readonly top: string;
  readonly isBare: boolean;
  /** `NAME <EMAIL>`; null if git has none. */
  readonly identity: string | null;
  readonly main: { readonly name: string; readonly sha: string } | null;
  readonly mainTrouble: { readonly message: string; readonly hint: string } | null;
}

const OLDEST_GIT = '2.38';

export const gitCheck = defineCheck('git', 'Its version, the repository, its main branch, and who commits', {
  fits: ok('git is new enough; where the repository and its main branch are'),
  missing: problem('git is not on the `PATH`, or does not start'),
  old: problem('git is older than Baton needs'),
  'no-repository': warning('The folder is in no git repository: what belongs to a project is not checked'),
  'not-a-repository': problem('The folder of `--project` is in no git repository'),
  refuses: problem('git finds a repository and cannot use it: it does not trust its owner, or does not answer'),
  bare: warning('The repository has no files: agents cannot work in it'),
  'no-main-branch': problem('The repository has no main branch with a commit, so nothing can be merged into it'),
  'no-identity': warning('git knows no name or email address, so commits of agents fail'),
});

export function diagnoseGit(facts: GitFacts): readonly Diagnosis[] {
  const { version, trouble, folder, isNamed, repository } = facts;
  if (version === null) {
    const detail = `${trouble?.message ?? 'git cannot be run'}; the project is not checked`;
    return [gitCheck.found('missing', { detail, fix: trouble?.hint ?? 'Install git again.' })];
  }
  const found: Diagnosis[] = [];
  if (!isAtLeast(version, OLDEST_GIT)) {
    const detail = `git ${version}; Baton needs ${OLDEST_GIT} or newer`;
    found.push(gitCheck.found('old', { detail, fix: 'Install a newer one: https://git-scm.com/downloads' }));
  }
  if (repository === null) {
    if (trouble !== null && trouble.code !== 'git/no-repository')
      return [...found, gitCheck.found('refuses', { detail: `git ${version}: ${trouble.message}`, fix: trouble.hint })];
    const detail = `git ${version}; ${folder} is in no repository, so no project is checked`;
    const fix = 'Change to a repository, or name one: --project DIR';
    return [...found, gitCheck.found(isNamed ? 'not-a-repository' : 'no-repository', { detail, fix })];
  }
  found.push(...diagnoseRepository(repository));
  const { main, top } = repository;
  if (found.length > 0 || main === null) return found;
  const detail = `git ${version}; ${top}, main branch ${main.name} at ${main.sha.slice(0, 8)}`;
  return [gitCheck.found('fits', { detail })];
}

function diagnoseRepository({ top, isBare, identity, main, mainTrouble }: GitRepositoryFacts): readonly Diagnosis[] {
  const found: Diagnosis[] = [];
  if (isBare) {
    const detail = `${top} is a bare repository`;
    found.push(gitCheck.found('bare', { detail, fix: 'Clone it, and work in the clone.' }));
  }
  if (main === null) {
    const detail = mainTrouble?.message ?? 'there is no main branch';
    const fix = mainTrouble?.hint ?? 'Make a first commit: git commit --allow-empty -m "chore: first commit"';
    found.push(gitCheck.found('no-main-branch', { detail, fix }));
  }
  if (identity === null) {
    const detail =
      'git has no user.name and user.email: commits of agents fail, and merge commits have Baton as their author';
    const fix = 'git config --global user.name "YOUR NAME" && git config --global user.email YOU@EXAMPLE.ORG';
    found.push(gitCheck.found('no-identity', { detail, fix }));
  }
  return found;
}
