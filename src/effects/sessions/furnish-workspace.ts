import { fillWorktree } from '../../git/worktree/fill.ts';
import { findRepository } from '../../git/repository.ts';
import { readWorktreeNote, writeWorktreeNote } from '../../git/worktree/worktree-note.ts';
import { recordOrigin } from '../../git/worktree/origin.ts';
import { findPort } from './find-port.ts';
import { superviseCommand } from '../processes/supervise-command.ts';
import type { EffectContext } from '../context.ts';

export type FurnishResult =
  | { readonly ok: true; readonly port: number | null }
  | { readonly ok: false; readonly reason: string };

/** What a set-up command is known by: it is run once for a start, however often that is tried. */
export function setupCommandOf(agentId: string): string {
  return `setup-${agentId}`;
}

/**
 * Brings into a worktree what git does not: configured files, a port, and what the set-up command makes, which is run until it has
 * succeeded once. How the worktree is then is what later findings in it are judged by. Undefined where nobody wants to know any more.
 */
export async function furnishWorkspace(
  worktree: string,
  agentId: string,
  world: EffectContext,
  signal: AbortSignal,
): Promise<FurnishResult | undefined> {
  const { workspace } = world.sessions;
  const filled = await fillWorktree(worktree, workspace);
  if (!filled.ok) return { ok: false, reason: `${filled.problem.message}. ${filled.problem.hint}` };
  const port = await world.placeMutex.run(' port', async () => findPort(worktree));
  const { setup, setupTimeoutMs: timeoutMs } = workspace;
  const found = await findRepository(worktree);
  if (!found.ok) return { ok: false, reason: found.problem.message };
  const note = readWorktreeNote(found.value.gitDir);
  const keep = async (): Promise<FurnishResult> => {
    const kept = await recordOrigin(world.stateDir, worktree, filled.value);
    return kept.ok ? { ok: true, port } : { ok: false, reason: kept.problem.message };
  };
  if (setup === undefined || note.setup === setup) return keep();
  const env = port === null ? {} : { BATON_PORT: String(port) };
  const prepare = async () => ({ ok: true, shell: { command: setup, cwd: worktree, env, timeoutMs } }) as const;
  const end = await superviseCommand(setupCommandOf(agentId), prepare, world, signal);
  if (end === undefined) return undefined;
  if (end.exitCode !== 0) {
    const how = end.timedOut ? 'timed out' : `exit code ${end.exitCode ?? 'unknown'}`;
    return { ok: false, reason: `the set-up of its worktree failed (${how}): ${end.output ?? 'no output'}` };
  }
  writeWorktreeNote(found.value.gitDir, { ...note, setup });
  return keep();
}
