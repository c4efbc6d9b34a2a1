import type { HookedClient, ClientFile, Scope, InstallRequest } from './client.ts';
import { HOOKED_CLIENTS } from './clients.ts';
import { findWriteObstacle, hashOf, readFileText } from './files/file-text.ts';
import { changeFiles, undoUnfinished, type FileChange } from './files/journal.ts';
import { findMissingFolders, removeFolders } from './files/replace-file.ts';
import { insertAll } from './edit/insertions.ts';
import { InstallRecord, type InstalledFile } from './record.ts';
import { isEmptySettings, textWithoutBaton } from './text-before.ts';

export type InstallResult =
  | {
      readonly ok: true;
      /** Files that are different now. */
      readonly changed: readonly string[];
      readonly notes: readonly string[];
    }
  | { readonly ok: false; readonly what: string; readonly hint: string };

/** Puts Baton's hooks and its MCP server into a client's files: into all of them, or into none. A second time changes nothing. */
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

/** Takes everything out again, and leaves no file that was not there before. */
export function uninstallHooks(client: HookedClient, wanted: InstallRequest): InstallResult {
  return change(client, wanted, (file, text, earlier) => {
    if (text === null) return { ok: true, after: null, notes: [] };
    const before = textWithoutBaton(file, text, earlier);
    const isLeftOver = earlier?.created === true && isEmptySettings(before);
    return { ok: true, after: isLeftOver ? null : before, notes: [] };
  });
}

/** What a run that was killed has left half done is put back first. False where there was nothing. */
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
  if (!cleared.ok) return { ok: false, what: cleared.what, hint: 'Run the same command once more.' };
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
  const kept: FileChange = {
    path: record.path,
    before: record.text,
    after: record.renderWith(client.name, scope, next),
  };
  const done = changeFiles(stateDir, [...changes, kept], salvageFor(wanted));
  if (!done.ok) return { ok: false, what: done.what, hint: 'Nothing was changed.' };
  removeFolders(folders);
  return { ok: true, changed: changes.filter(({ before, after }) => before !== after).map(({ path }) => path), notes };
}

/** What was left half done may be another client's: whoever comes next may come for that one, or for all sessions instead of one repository. */
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
    hint: 'Nothing was changed. Put it right, and run the same command again.',
  };
}
