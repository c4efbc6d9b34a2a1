import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** The claim that may write, as the hooks in a worktree see it. */
export interface LiveClaim {
  readonly epoch: number;
  /** Whoever has another session in its environment is refused, even in the holder's own worktree. */
  readonly sessionId: string;
}

/**
 * Says which claim on a task is live, null where none is, to the hooks in its worktrees. It is small and synchronous so
 * that it can be written before anybody is told of the claim. It need not survive a power cut: a missing file refuses,
 * and the daemon writes all of them again when it starts.
 */
export function writeFence(stateDir: string, project: string, taskId: string, claim: LiveClaim | null): void {
  const path = fencePath(stateDir, project, taskId);
  rewriteFile(path, claim === null ? '-\n' : `${claim.epoch} ${claim.sessionId}\n`);
}

/** Forgets a task. From then on its worktrees refuse, as they do where nothing is known. */
export function removeFence(stateDir: string, project: string, taskId: string): void {
  rmSync(fencePath(stateDir, project, taskId), { force: true });
}

export function readLiveClaim(path: string): LiveClaim | null {
  const [epoch = '', sessionId = ''] = (readOrNull(path) ?? '').trimEnd().split(' ');
  return /^[0-9]+$/.test(epoch) ? { epoch: Number(epoch), sessionId } : null;
}

/** Task ids begin with a letter or digit, so that they are file names as they are; names of projects may be anything. */
export function fencePath(stateDir: string, project: string, taskId: string): string {
  return join(stateDir, 'fences', encodeURIComponent(project).replace(/^\./, '%2E'), taskId);
}

/** What a worktree knows of itself: the claim it was given to. One value per line, for a shell that reads them. */
export interface Fence {
  readonly taskId: string;
  readonly epoch: number;
  readonly branch: string;
  /** The file that says which claim is live. */
  readonly livePath: string;
  /** Where the user's hooks are, where no configuration says otherwise. */
  readonly hooksDir: string;
  /** A hooks path that this worktree had before the fence; empty if it had none. */
  readonly ownHooksPath: string;
  /** The branch that work is merged into; empty if the repository has none, or an older Baton put the fence up. */
  readonly mainBranch: string;
}

export const FENCE_FILE = 'baton-fence';
/** The first line of the file. The hooks obey this version only; the daemon also reads the one before it, which names no main branch. */
export const FENCE_VERSION = 'baton-fence 2';
const VERSIONS: ReadonlySet<string | undefined> = new Set([FENCE_VERSION, 'baton-fence 1']);
const HEADS = 'refs/heads/';

export function renderFence(fence: Fence): string {
  const { taskId, epoch, branch, livePath, hooksDir, ownHooksPath, mainBranch } = fence;
  const main = mainBranch === '' ? '' : `${HEADS}${mainBranch}`;
  const values = [FENCE_VERSION, taskId, epoch, `${HEADS}${branch}`, livePath, hooksDir, ownHooksPath, main];
  return `${values.join('\n')}\n`;
}

/** The fence of a worktree, from its git folder; null if it has none. */
export function readFence(gitDir: string): Fence | null {
  const lines = readOrNull(join(gitDir, FENCE_FILE))?.split('\n') ?? [];
  const [version, taskId, epoch, ref, livePath, hooksDir, ownHooksPath, main = ''] = lines;
  if (!VERSIONS.has(version) || taskId === undefined || epoch === undefined || ref === undefined) return null;
  if (livePath === undefined || hooksDir === undefined || ownHooksPath === undefined) return null;
  const [branch = '', mainBranch = ''] = [ref, main].map((name) => name.replace(HEADS, ''));
  return { taskId, epoch: Number(epoch), branch, livePath, hooksDir, ownHooksPath, mainBranch };
}

/**
 * Readers see the old content, none, or the new one, never a part. The old file is removed first: replacing it by the
 * rename makes ext4 flush the new one to disk, which takes fifteen times as long, and for a moment without a file the
 * hooks refuse, as they should while a claim changes hands.
 */
export function rewriteFile(path: string, content: string): void {
  const temporary = join(dirname(path), `.${basename(path)}.${process.pid}.tmp`);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(temporary, content, { mode: 0o600 });
  rmSync(path, { force: true });
  renameSync(temporary, path);
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

/**
 * Names the hooks of a fence for every git process below a session, whichever folder it works in: also in the main checkout and in
 * worktrees that are added from there. Configuration from the environment counts more than that of a repository. A session can unset
 * it; what happens to the main branch then, the daemon sees (`daemon/main-watch.ts`).
 */
export function fenceEnvironment(
  hooksPath: string,
  own: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  // The runbook may set configuration in the same way: this pair comes after its own.
  const count = /^[0-9]{1,4}$/.test(own['GIT_CONFIG_COUNT'] ?? '') ? Number(own['GIT_CONFIG_COUNT']) : 0;
  return {
    GIT_CONFIG_COUNT: String(count + 1),
    [`GIT_CONFIG_KEY_${count}`]: 'core.hooksPath',
    [`GIT_CONFIG_VALUE_${count}`]: hooksPath,
  };
}
