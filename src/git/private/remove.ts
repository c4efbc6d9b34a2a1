import { existsSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Known } from './known.ts';
import { shellWord } from '../../protocol/text/quote-for-shell.ts';
import { git as runGit, gitFailure, type GitFailure, type GitResult } from '../run-git.ts';
import { discardAgentFiles } from './agent-files.ts';
import { findUnsyncedRefs, UNSYNCED_PREFIXES } from './carried-refs.ts';
import { privateGitFolder } from './find.ts';
import { readKnown, readSnapshot } from './known.ts';
import { placeOf } from './move-refs.ts';
import { readPrivateRefs, type Refs } from './private-refs.ts';

/** Removes the private git directory of a worktree, unless it has commits or a stash that exist nowhere else. */
export async function removePrivateGit(stateDir: string, worktree: string): Promise<GitResult<null>> {
  const folder = privateGitFolder(stateDir, worktree);
  const known = readKnown(folder);
  if (known !== null && !known.isBuilding) {
    const refs = readPrivateRefs(known.git, UNSYNCED_PREFIXES);
    const unsynced = findUnsyncedRefs(refs, known, readSnapshot(known.git));
    if (!refs.isComplete) return keepsWork(known, ['refs that Baton cannot read']);
    if (unsynced.size > 0 && !(await hasAll(known, unsynced))) return keepsWork(known, [...unsynced.keys()]);
  } else if (known !== null && known.carried.size > 0) return keepsWork(known, [...known.carried.keys()]);
  // In mode `user` the folder is a link.
  if (existsSync(folder)) discardAgentFiles(realpathSync(folder), dirname(realpathSync(folder)));
  discardAgentFiles(folder, dirname(folder));
  return { ok: true, value: null };
}

/** Git fails if the user's repository lacks one of the commits, and prints a commit that none of its refs reaches. */
async function hasAll({ git }: Known, refs: Refs): Promise<boolean> {
  const input = `${[...new Set(refs.values())].join('\n')}\n`;
  const missing = await runGit(['rev-list', '--max-count=1', '--stdin', '--not', '--all'], { ...placeOf(git), input });
  return missing.ok && missing.value.stdout === '';
}

function keepsWork({ git }: Known, refs: readonly string[]): GitFailure {
  const names = refs.map((name) => name.replace(/^refs\/(?:baton\/kept\/)?/, ''));
  const shown = names.slice(0, 5).join(', ') + (names.length > 5 ? ` and ${names.length - 5} more` : '');
  const message = `a session in '${git.worktree}' left commits that are only in its own git directory: ${shown}`;
  const hint = `Start a session there again to commit them on its branch. To give them up: rm -r ${shellWord(git.folder)}`;
  return gitFailure('git/worktree-keeps-work', message, hint);
}
