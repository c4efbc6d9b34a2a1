import { existsSync } from 'node:fs';
import type { ClientFile, HookedClient, HookMachine, InstallRequest, Scope } from './client.ts';
import { HOOKED_CLIENTS } from './clients.ts';
import { insertAll, lineEndOf, removeInsertions } from './edit/insertions.ts';
import { findWriteObstacle, hashOf, readFileText } from './files/file-text.ts';
import { changeFiles, type FileChange, findMissingFolders, removeFolders, undoUnfinished } from './files/journal.ts';
import { type InstalledFile, InstallRecord } from './record.ts';

export type InstallResult =
  | { readonly ok: true; readonly changed: readonly string[]; readonly notes: readonly string[] }
  | { readonly ok: false; readonly what: string; readonly hint: string };

/** Adds Baton's hooks and MCP server to all files of a client, or to none. A second run changes nothing. */
export function installHooks(client: HookedClient, wanted: InstallRequest): InstallResult {
  return change(client, wanted, (file, text, earlier) => {
    const before = textWithoutBaton(file, text ?? '', earlier);
    const added = file.add(before);
    if (!added.ok) return added;
    const after = insertAll(before, added.insertions);
    const installed: InstalledFile = {
      path: '',
      hash: hashOf(after),
      insertions: added.insertions,
      made: added.made,
      created: text === null || (earlier?.created === true && isEmptySettings(before)),
      folders: [],
    };
    return { ok: true, after, installed, notes: added.notes };
  });
}

/** Removes every entry of Baton, and the files and folders that the installation created. */
export function uninstallHooks(client: HookedClient, wanted: InstallRequest): InstallResult {
  return change(client, wanted, (file, text, earlier) => {
    if (text === null) return { ok: true, after: null, notes: [] };
    const before = textWithoutBaton(file, text, earlier);
    const isLeftOver = earlier?.created === true && isEmptySettings(before);
    return { ok: true, after: isLeftOver ? null : before, notes: [] };
  });
}

/** Undoes the changes of a run that was killed. Returns false if there were none. */
export function restoreUnfinished(wanted: InstallRequest): ReturnType<typeof undoUnfinished> {
  return undoUnfinished(wanted.machine.stateDir, salvageFor(wanted));
}

type Plan =
  | {
      readonly ok: true;
      readonly after: string | null;
      readonly installed?: InstalledFile;
      readonly notes: readonly string[];
    }
  | { readonly ok: false; readonly what: string };

function change(
  client: HookedClient,
  wanted: InstallRequest,
  plan: (file: ClientFile, text: string | null, earlier: InstalledFile | undefined) => Plan,
): InstallResult {
  const { stateDir } = wanted.machine;
  const files = client.files(wanted);
  const cleared = restoreUnfinished(wanted);
  if (!cleared.ok) return { ok: false, what: cleared.what, hint: 'Run the command again.' };
  const record = new InstallRecord(stateDir);
  const earlier = record.find(client.name, wanted.scope);
  const changes: FileChange[] = [];
  const installed: InstalledFile[] = [];
  const notes: string[] = [];
  const folders: string[] = [];
  for (const file of files) {
    const read = readFileText(file.path);
    if (!read.ok) return refused(file.path, read.what);
    const { path, text } = read.file;
    const known = earlier?.files.find((each) => each.path === path);
    const planned = plan(file, text, known);
    if (!planned.ok) return refused(file.path, planned.what);
    const obstacle = planned.after === text ? undefined : findWriteObstacle(path);
    if (obstacle !== undefined) return refused(file.path, obstacle);
    changes.push({ path, before: text, after: planned.after });
    notes.push(...planned.notes);
    const made = [...(known?.folders ?? []), ...findMissingFolders(path)];
    if (planned.installed !== undefined) installed.push({ ...planned.installed, path, folders: made });
    else folders.push(...(known?.folders ?? []));
  }
  const { scope, options } = wanted;
  const next = installed.length === 0 ? undefined : { client: client.name, scope, options, files: installed };
  const kept = { path: record.path, before: record.text, after: record.renderWith(client.name, scope, next) };
  const done = changeFiles(stateDir, [...changes, kept], salvageFor(wanted));
  if (!done.ok) return { ok: false, what: done.what, hint: 'Nothing was changed.' };
  removeFolders(folders);
  return { ok: true, changed: changes.filter(({ before, after }) => before !== after).map(({ path }) => path), notes };
}

/** The recovery function for an unfinished run, which may have been for another client or scope. */
function salvageFor(wanted: InstallRequest) {
  return (path: string, text: string): string => {
    const scopes: readonly Scope[] = [wanted.scope, { kind: 'user' }];
    const files = Object.values(HOOKED_CLIENTS).flatMap((client) =>
      scopes.flatMap((scope) => client.files({ ...wanted, scope })),
    );
    const isThere = (file: ClientFile): boolean => {
      const read = readFileText(file.path);
      return read.ok && read.file.path === path;
    };
    return files.filter(isThere).reduce((left, file) => file.remove(left, () => true), text);
  };
}

function refused(path: string, what: string): InstallResult {
  return {
    ok: false,
    what: `${path}: ${what}`,
    hint: 'Nothing was changed. Correct the file and run the command again.',
  };
}

/**
 * Restores a text that is unchanged since the installation byte for byte; from an edited text, removes only Baton's
 * entries.
 */
export function textWithoutBaton(file: ClientFile, text: string, installed: InstalledFile | undefined): string {
  const exact = installed?.hash === hashOf(text) ? removeInsertions(text, installed.insertions) : undefined;
  if (exact !== undefined) return exact;
  const without = file.remove(text, (path) => installed?.made.some((made) => isWithin(path, made)) ?? true);
  return file.format === 'toml' ? reopened(text, without, installed) : without;
}

function isWithin(path: readonly string[], made: readonly string[]): boolean {
  return made.every((key, n) => key === path[n]);
}

function isEmptySettings(text: string): boolean {
  return /^\s*(?:\{\s*\})?\s*$/.test(text);
}

/** Restores the missing line end at the end of the file, if Baton's entry is still the last one. */
function reopened(text: string, without: string, installed: InstalledFile | undefined): string {
  const lineEnd = lineEndOf(text);
  const wasOpen = installed?.insertions[0]?.text.startsWith(`${lineEnd}${lineEnd}`) === true && !installed.created;
  const wasLast = without !== text && without.endsWith(lineEnd) && text.startsWith(without);
  return wasOpen && wasLast ? without.slice(0, -lineEnd.length) : without;
}

/**
 * Removes the entries for deleted repositories from the files in the home folder. Returns the paths of these
 * repositories.
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
