import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { FilterAccess } from '../own/with-checkout.ts';
import {
  attempt,
  git,
  gitFailure,
  type GitResult,
  gitText,
  ownEnvironment,
  type OwnGitFolder,
  unwrap,
} from '../run-git.ts';
import { type AttributeFile, type IndexBlob, setIndexEntries } from './attributes.ts';
import type { CheckoutSource, CopiedRef } from './checkout-request.ts';

export interface WrittenFiles {
  readonly place: OwnGitFolder;
  /** The checkout with an index whose `.gitattributes` files are those of the base. */
  readonly indexed: OwnGitFolder;
  readonly sha: string;
  readonly differing: readonly AttributeFile[];
}

/**
 * Writes the files of a commit, converted by the `.gitattributes` files of the base. Git reads those from the index
 * during checkout, so the index holds the base's versions until all other files are written. The commit's own versions
 * are written last, unconverted.
 */
export async function writeFiles(
  { place, indexed, sha, differing }: WrittenFiles,
  { settings, env }: FilterAccess,
): Promise<GitResult<null>> {
  return attempt(async () => {
    const mixed = differing.length === 0 ? sha : unwrap(await gitText(['write-tree'], { cwd: indexed }));
    const args = [...settings, 'read-tree', '--reset', '-u', mixed];
    unwrap(await git(args, { cwd: place, env, timeoutMs: 1_800_000 }));
    if (differing.length > 0) await restoreIndexEntries(place, differing);
    return null;
  });
}

async function restoreIndexEntries(place: OwnGitFolder, differing: readonly AttributeFile[]): Promise<void> {
  try {
    for (const { path, head } of differing) await writeRaw(place, path, head);
  } catch (error) {
    const message = `a .gitattributes file cannot be written: ${error instanceof Error ? error.message : String(error)}`;
    const hint = 'Check the .gitattributes files of the commit: git ls-tree -r HEAD';
    unwrap(gitFailure('git/failed', message, hint));
  }
  const entries = differing.map(({ path, head, base }) => ({ path, blob: head, instead: base }));
  unwrap(await setIndexEntries(place, entries));
  unwrap(await git(['update-index', '-q', '--refresh'], { cwd: place, answers: [1], timeoutMs: 600_000 }));
}

/** The parent is a folder of the commit, so no link of the commit leads elsewhere. */
async function writeRaw(
  { gitDir, worktree = gitDir }: OwnGitFolder,
  path: string,
  blob: IndexBlob | null,
): Promise<void> {
  const file = join(worktree, path);
  await rm(file, { force: true });
  if (blob === null) return;
  await mkdir(dirname(file), { recursive: true });
  const options = { env: ownEnvironment(gitDir), encoding: 'buffer' as const, maxBuffer: MOST_BYTES };
  const { stdout } = await promisify(execFile)('git', ['cat-file', 'blob', blob.sha], options);
  if (blob.mode === '120000') await symlink(stdout, file);
  else await writeFile(file, stdout, { mode: blob.mode === '100755' ? 0o755 : 0o644, flag: 'wx' });
}

/** Copies commits, without parents if the history is large. A copy: an alternate would reveal Baton's repository. */
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
  // Reuses existing packs; searching for better deltas would take longer than the check.
  const pack = ['pack-objects', '-q', '--revs', ...shallow, '--delta-base-offset', '--window=0'];
  const options = { cwd: own, input: `${lines.join('\n')}\n`, timeoutMs: 1_800_000 };
  const packed = await git([...pack, join(gitDir, 'objects/pack/pack')], options);
  if (!packed.ok) return packed;
  if (isShallow) writeFileSync(join(gitDir, 'shallow'), shas.map((sha) => `${sha}\n`).join(''));
  for (const { name, sha } of refs) if (name !== 'HEAD') writeBranch(gitDir, name, sha);
  return { ok: true, value: null };
}

/** Up to this size, copying the whole history is faster than starting a check. */
const MOST_HISTORY_BYTES = 64 * 1024 * 1024;

function sizeOf(objects: string): number {
  const folder = join(objects, 'pack');
  // A concurrent import renames its files.
  const sizes = readdirSync(folder).map((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0);
  return sizes.reduce((sum, size) => sum + size, 0);
}

function writeBranch(gitDir: string, name: string, sha: string): void {
  const file = join(gitDir, 'refs/heads', name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${sha}\n`);
}

const MOST_BYTES = 256 * 1024 * 1024;
