import { realpath, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { OwnRepository } from '../own/own-repository.ts';
import { failed, git, type GitResult, type OwnPlace } from '../run-git.ts';
import { findInTheWay } from './find-in-the-way.ts';
import { withCheckout } from '../own/with-checkout.ts';

export interface CheckoutMove {
  readonly from: string;
  readonly to: string;
}

/**
 * Takes the files and the index of a user's checkout from one commit to another, as a fast-forward would. The bytes come from Baton's own
 * repository, and nothing that the user's repository is configured to do happens. A failure leaves the files as they were.
 */
export async function moveCheckout(own: OwnRepository, path: string, move: CheckoutMove): Promise<GitResult<null>> {
  const { from, to } = move;
  return withCheckout(
    { stateDir: own.stateDir, path, format: own.format, objects: [own.objects] },
    async (place, settings) => {
      const run = async (...args: string[]): Promise<GitResult<unknown>> =>
        git([...settings, ...args], { cwd: place, timeoutMs: 600_000 });
      // A file that was touched but not changed is not in the way.
      await run('update-index', '-q', '--refresh');
      const untracked = await findInTheWay(place, settings, move);
      if (!untracked.ok) return untracked;
      const tried = await run('read-tree', '-m', '-u', '--dry-run', from, to);
      if (!tried.ok) return tried;
      const moved = await run('read-tree', '-m', '-u', from, to);
      if (moved.ok) return { ok: true, value: null };
      await restore(place, settings, move);
      const { message, hint } = moved.problem;
      return failed('git/checkout-failed', `the files of '${path}' cannot be updated: ${message}`, hint);
    },
  );
}

/**
 * It was clear before that nothing is in the way, so every file of the change is as `from` has it or already as `to` has it; the index
 * still stands at `from`.
 */
async function restore(
  place: OwnPlace & { readonly worktree: string },
  settings: readonly string[],
  { from, to }: CheckoutMove,
): Promise<void> {
  const asked = ['diff-tree', '-r', '-z', '--name-status', '--no-renames', from, to, '--'];
  const changed = await git(asked, { cwd: place, maxBytes: 64 * 1024 * 1024 });
  if (!changed.ok) return;
  const words = changed.value.stdout.split('\0');
  const old: string[] = [];
  for (let i = 0; i + 1 < words.length; i += 2) {
    const file = words[i + 1] ?? '';
    if (words[i] === 'A') await removeInside(place.worktree, file);
    else old.push(file);
  }
  const input = old.map((file) => `${file}\0`).join('');
  await git([...settings, 'checkout-index', '--force', '--index', '-z', '--stdin'], { cwd: place, input });
}

/** Not through a link: what it leads to is not part of the checkout. */
async function removeInside(folder: string, file: string): Promise<void> {
  const top = await realpath(folder).catch(() => null);
  const parent = await realpath(dirname(join(folder, file))).catch(() => null);
  if (top === null || parent !== join(top, dirname(file))) return;
  await rm(join(parent, basename(file)), { force: true });
}
