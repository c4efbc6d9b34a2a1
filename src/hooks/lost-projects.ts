import { existsSync } from 'node:fs';
import type { Client, Machine } from './client.ts';
import { uninstallHooks, type Done } from './install.ts';
import { InstallRecord } from './record.ts';

/**
 * Of a repository that has gone, something of ours is left in files of the home, and nobody can go there any more to take it out. Says for
 * which ones it was done.
 */
export function uninstallLost(client: Client, machine: Machine): { readonly done: Done; readonly roots: string[] } {
  const roots: string[] = [];
  for (const { scope, options } of new InstallRecord(machine.stateDir).all(client.name)) {
    if (scope.kind !== 'project' || existsSync(scope.root)) continue;
    const done = uninstallHooks(client, { scope, options, machine });
    if (!done.ok) return { done, roots };
    roots.push(scope.root);
  }
  return { done: { ok: true, changed: [], notes: [] }, roots };
}
