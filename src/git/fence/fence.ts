import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** The claim that may write, as the hooks in a worktree see it. */
export interface LiveClaim {
  readonly epoch: number;
  /** A process with another session's id in its environment is refused, even in the holder's worktree. */
  readonly sessionId: string;
}

/**
 * Records the live claim on a task for the hooks; null if there is none. Synchronous, so that it is written before the
 * claim is reported. It need not survive a power cut: a missing file refuses, and the daemon rewrites all files when it
 * starts.
 */
export function writeFence(stateDir: string, project: string, taskId: string, claim: LiveClaim | null): void {
  const path = fencePath(stateDir, project, taskId);
  rewriteFile(path, claim === null ? '-\n' : `${claim.epoch} ${claim.sessionId}\n`);
  if (claim === null) rewriteFile(endedConfigPath(path), renderEndedConfig(taskId));
  else rmSync(endedConfigPath(path), { force: true });
}

/**
 * Git configuration that exists while nobody holds the task. A worktree of the task includes it for the task's branch.
 * Clients whose shell clears the hooks (Gemini CLI) do not clear this: git commits nothing that it cannot sign, and
 * prints the name of the program that is missing.
 */
export function endedConfigPath(livePath: string): string {
  return join(dirname(livePath), '.ended', basename(livePath));
}

function renderEndedConfig(taskId: string): string {
  const program = `claim ended: ${taskId} is no longer held (baton task claim ${taskId} --worktree)`;
  return `[commit]\n\tgpgSign = true\n[gpg]\n\tformat = openpgp\n\tprogram = "${program}"\n`;
}

export function readLiveClaim(path: string): LiveClaim | null {
  const [epoch = '', sessionId = ''] = (readOrNull(path) ?? '').trimEnd().split(' ');
  return /^[0-9]+$/.test(epoch) ? { epoch: Number(epoch), sessionId } : null;
}

/** Task ids are valid file names; project names may contain anything. */
export function fencePath(stateDir: string, project: string, taskId: string): string {
  return join(stateDir, 'fences', encodeURIComponent(project).replace(/^\./, '%2E'), taskId);
}

/** The claim that a worktree belongs to. The file has one value per line, so that a shell can read it. */
export interface Fence {
  readonly taskId: string;
  readonly epoch: number;
  readonly branch: string;
  readonly livePath: string;
  /** The user's hooks folder, unless the configuration names another. */
  readonly hooksDir: string;
  /** The worktree's hooks path before the fence; empty if it had none. */
  readonly ownHooksPath: string;
  /** The branch that work is merged into; empty if there is none, or an older Baton wrote the fence. */
  readonly mainBranch: string;
}

export const FENCE_FILE = 'baton-fence';
/** The hooks accept only this version; the daemon also reads the previous one, without main branch. */
export const FENCE_VERSION = 'baton-fence 2';
const VERSIONS: ReadonlySet<string | undefined> = new Set([FENCE_VERSION, 'baton-fence 1']);
const HEADS = 'refs/heads/';

export function renderFence(fence: Fence): string {
  const { taskId, epoch, branch, livePath, hooksDir, ownHooksPath, mainBranch } = fence;
  const main = mainBranch === '' ? '' : `${HEADS}${mainBranch}`;
  const values = [FENCE_VERSION, taskId, epoch, `${HEADS}${branch}`, livePath, hooksDir, ownHooksPath, main];
  return `${values.join('\n')}\n`;
}

export function readFence(gitDir: string): Fence | null {
  const lines = readOrNull(join(gitDir, FENCE_FILE))?.split('\n') ?? [];
  const [version, taskId, epoch, ref, livePath, hooksDir, ownHooksPath, main = ''] = lines;
  if (!VERSIONS.has(version) || taskId === undefined || epoch === undefined || ref === undefined) return null;
  if (livePath === undefined || hooksDir === undefined || ownHooksPath === undefined) return null;
  const [branch = '', mainBranch = ''] = [ref, main].map((name) => name.replace(HEADS, ''));
  return { taskId, epoch: Number(epoch), branch, livePath, hooksDir, ownHooksPath, mainBranch };
}

/**
 * Readers see the old content, no file, or the new content, never a part. The old file is removed first: a rename over
 * it makes ext4 flush, which takes fifteen times as long. While the file is missing the hooks refuse, which is correct
 * while a claim changes hands.
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
 * Makes every git process of a session use the fence's hooks, in any folder, including the main checkout. Configuration
 * from the environment overrides the repository's. A session can unset it; the daemon then notices changes of the main
 * branch (`daemon/main-watch.ts`).
 */
export function fenceEnvironment(
  hooksPath: string,
  own: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  // The runbook may set configuration the same way; this pair comes after it.
  const count = /^[0-9]{1,4}$/.test(own['GIT_CONFIG_COUNT'] ?? '') ? Number(own['GIT_CONFIG_COUNT']) : 0;
  return {
    GIT_CONFIG_COUNT: String(count + 1),
    [`GIT_CONFIG_KEY_${count}`]: 'core.hooksPath',
    [`GIT_CONFIG_VALUE_${count}`]: hooksPath,
  };
}
