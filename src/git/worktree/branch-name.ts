import { DEFAULT_BRANCH, renderBranch, type BranchTask } from '../../protocol/branch-name.ts';
import { gitFailure, type GitResult } from '../run-git.ts';

/** The name that a task's branch is given, once: from then on what was recorded counts, whatever the template says by then. */
export function branchName(task: BranchTask, template = DEFAULT_BRANCH): GitResult<string> {
  const named = renderBranch(template, task);
  return named.ok ? named : gitFailure('git/bad-name', named.problems[0].message, named.problems[0].hint);
}

/** The folder of a branch's worktree, below `.worktrees`: the branch's name without its first part. */
export function worktreeFolder(branch: string): string {
  const rest = branch.includes('/') ? branch.slice(branch.indexOf('/') + 1) : branch;
  return rest.replaceAll('/', '-');
}
