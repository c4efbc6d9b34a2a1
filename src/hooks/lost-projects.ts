import { existsSync } from 'node:fs';
import type { HookedClient, HookMachine } from './client.ts';
import { uninstallHooks, type InstallResult } from './install.ts';
import { InstallRecord } from './record.ts';

/**
 * Of a repository that has gone, something of ours is left in files of the home, and nobody can go there any more to take it out. Says for
 * which ones it was done.
 */
export function uninstallDeletedProjects(
  client: HookedClient,
  machine: HookMachine,
): { readonly done: InstallResult; readonly roots: string[] } {
  const roots: string[] = [];
  for (const { scope, options } of new InstallRecord(machine.stateDir).all(client.name)) {
    if (scope.kind !== 'project' || existsSync(scope.root)) continue;
    const done = uninstallHooks(client, { scope, options, machine });
    if (!done.ok) return { done, roots };
    roots.push(scope.root);
  }
  return { done: { ok: true, changed: [], notes: [] }, roots };
}
