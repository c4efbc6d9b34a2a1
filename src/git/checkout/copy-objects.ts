import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { git, type GitResult } from '../run-git.ts';
import type { CheckoutSource, CopiedRef } from './checkout-request.ts';

/**
 * Copies commits from Baton's own repository into the git folder of a checkout: with their history if that is small, else each without its
 * parents, as a shallow clone has it. A copy and no alternate: an alternate would name Baton's own repository to the code that is checked.
 */
export async function copyObjects(
  own: CheckoutSource,
  gitDir: string,
  refs: readonly CopiedRef[],
  also: readonly string[],
): Promise<GitResult<null>> {
  const shas = [...new Set([...refs.map(({ sha }) => sha), ...also])];
  const isShallow = sizeOf(own.objects) > MOST_HISTORY_BYTES;
  const lines = isShallow ? shas.flatMap((sha) => [`--shallow ${sha}`, sha]) : shas;
  const shallow = isShallow ? ['--shallow'] : [];
  // What is packed is copied as it is; looking for better deltas would take longer than the check.
  const pack = ['pack-objects', '-q', '--revs', ...shallow, '--delta-base-offset', '--window=0'];
  const packed = await git([...pack, join(gitDir, 'objects/pack/pack')], {
    cwd: own,
    input: `${lines.join('\n')}\n`,
    timeoutMs: 1_800_000,
  });
  if (!packed.ok) return packed;
  if (isShallow) writeFileSync(join(gitDir, 'shallow'), shas.map((sha) => `${sha}\n`).join(''));
  for (const { name, sha } of refs) if (name !== 'HEAD') writeBranch(gitDir, name, sha);
  return { ok: true, value: null };
}

/** Up to here the whole history is copied in less time than a check takes to start. */
const MOST_HISTORY_BYTES = 64 * 1024 * 1024;

function sizeOf(objects: string): number {
  const folder = join(objects, 'pack');
  // An import that runs at the same time renames its files.
  return readdirSync(folder).reduce(
    (sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}

function writeBranch(gitDir: string, name: string, sha: string): void {
  const file = join(gitDir, 'refs/heads', name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${sha}\n`);
}
