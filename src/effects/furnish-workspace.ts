import { fillWorktree } from '../git/fill-worktree.ts';
import { findRepository } from '../git/repository.ts';
import { readNote, writeNote } from '../git/worktree-note.ts';
import { keepOrigin } from '../git/worktree-origin.ts';
import { findPort } from './find-port.ts';
import { superviseCommand } from './supervise-command.ts';
import type { World } from './world.ts';

export type Furnished =
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
  world: World,
  signal: AbortSignal,
): Promise<Furnished | undefined> {
  const { workspace } = world.sessions;
  const filled = await fillWorktree(worktree, workspace);
  if (!filled.ok) return { ok: false, reason: `${filled.problem.message}. ${filled.problem.hint}` };
  const port = await world.places.pass(' port', async () => findPort(worktree));
  const { setup, setupTimeoutMs: timeoutMs } = workspace;
  const found = await findRepository(worktree);
  if (!found.ok) return { ok: false, reason: found.problem.message };
  const note = readNote(found.value.gitDir);
  const keep = async (): Promise<Furnished> => {
    const kept = await keepOrigin(world.stateDir, worktree, filled.value);
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
  writeNote(found.value.gitDir, { ...note, setup });
  return keep();
}
