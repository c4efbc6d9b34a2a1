import {
  closeSync,
  existsSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { syncFolder } from '../../api/files.ts';
import { hasEnded, readProcessIdentity } from '../../api/processes.ts';
import { makeFolder } from '../../api/state-folder.ts';
import { hashOf, readFileText } from './file-text.ts';

/** One file before and after a change; null if it does not exist. */
export interface FileChange {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

export type ChangeResult = { readonly ok: true } | { readonly ok: false; readonly what: string };

/** The journal on disk of a change in progress: if Baton is killed, the next run undoes the changes. */
interface Journal {
  readonly v: 1;
  readonly process: string | null;
  readonly changes: readonly (Omit<FileChange, 'after'> & { readonly afterHash: string | null })[];
  readonly folders: readonly string[];
}

/**
 * Changes all files or none, each atomically. If Baton is killed, `undoUnfinished` restores the files at the next run.
 */
export function changeFiles(stateDir: string, changes: readonly FileChange[], salvage: RemoveOurPart): ChangeResult {
  const real = changes.filter(({ before, after }) => before !== after);
  if (real.length === 0) return { ok: true };
  const folders = real.flatMap(({ path, after }) => (after === null ? [] : findMissingFolders(path)));
  using _ = holdSignals();
  if (!begin(stateDir, real, [...new Set(folders)])) return { ok: false, what: BUSY };
  try {
    for (const { path, before, after } of real) {
      const now = readFileText(path);
      if (!now.ok || now.file.text !== before) throw new Error(`${path} was changed by another program; try again`);
      if (after === null) {
        removeFile(path);
      } else {
        for (const folder of findMissingFolders(path)) mkdirSync(folder, { mode: 0o700 });
        replaceFile(path, after);
      }
    }
    rmSync(journalIn(stateDir));
    return { ok: true };
  } catch (error) {
    undo(stateDir, salvage);
    return { ok: false, what: error instanceof Error ? error.message : String(error) };
  }
}

/** Removes Baton's entries from a file that was edited during the interrupted run. */
export type RemoveOurPart = (path: string, text: string) => string;

export function undoUnfinished(stateDir: string, salvage: RemoveOurPart): ChangeResult & { readonly undone?: boolean } {
  const journal = readJournal(stateDir);
  if (journal === undefined) return { ok: true, undone: false };
  const isAlive = journal.process !== null && !hasEnded(journal.process);
  if (isAlive && journal.process !== readProcessIdentity(process.pid)) return { ok: false, what: BUSY };
  undo(stateDir, salvage);
  return { ok: true, undone: true };
}

export function isUnfinished(stateDir: string): boolean {
  const journal = readJournal(stateDir);
  return journal !== undefined && (journal.process === null || hasEnded(journal.process));
}

export function hooksFolder(stateDir: string): string {
  return join(stateDir, 'hooks');
}

const BUSY = 'another `baton hooks` is running; try again when it has finished';

/** Delays Ctrl-C and a closed terminal until the change is complete. */
function holdSignals(): Disposable {
  const wait = (): void => {};
  for (const name of SIGNALS) process.on(name, wait);
  return { [Symbol.dispose]: () => SIGNALS.forEach((name) => void process.off(name, wait)) };
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

function begin(stateDir: string, changes: readonly FileChange[], folders: readonly string[]): boolean {
  const journal: Journal = {
    v: 1,
    process: readProcessIdentity(process.pid) ?? null,
    changes: changes.map(({ after, ...change }) => ({ ...change, afterHash: after === null ? null : hashOf(after) })),
    folders,
  };
  makeFolder(hooksFolder(stateDir));
  const draft = join(hooksFolder(stateDir), `journal-${process.pid}`);
  writeFileSync(draft, JSON.stringify(journal), { mode: 0o600, flush: true });
  try {
    linkSync(draft, journalIn(stateDir));
    return true;
  } catch {
    return false;
  } finally {
    rmSync(draft, { force: true });
  }
}

function undo(stateDir: string, salvage: RemoveOurPart): void {
  const journal = readJournal(stateDir);
  for (const change of journal?.changes.toReversed() ?? []) undoOne(change, salvage);
  removeFolders(journal?.folders ?? []);
  rmSync(journalIn(stateDir), { force: true });
}

function undoOne({ path, before, afterHash }: Journal['changes'][number], salvage: RemoveOurPart): void {
  rmSync(draftPath(path), { force: true });
  const read = readFileText(path);
  const now = read.ok ? read.file.text : undefined;
  if (now === undefined || now === before) return;
  const isOurs = (now === null ? null : hashOf(now)) === afterHash;
  const text = isOurs || now === null ? before : salvage(path, now);
  if (text === null) removeFile(path);
  else if (text !== now) replaceFile(path, text);
}

function readJournal(stateDir: string): Journal | undefined {
  try {
    // Only Baton writes this file.
    return JSON.parse(readFileSync(journalIn(stateDir), 'utf8')) as Journal; // oxlint-disable-line typescript/no-unsafe-type-assertion
  } catch {
    return undefined;
  }
}

function journalIn(stateDir: string): string {
  return join(hooksFolder(stateDir), 'journal.json');
}

/** The temporary file that replaces `path`. Its name is fixed, so that a later run can remove it. */
function draftPath(path: string): string {
  return join(dirname(path), `.${basename(path)}.baton-draft`);
}

/** Replaces a file atomically: a reader, or a crash, sees the old or the new text. Keeps mode and owner. */
function replaceFile(path: string, text: string): void {
  const draft = draftPath(path);
  const before = statSync(path, { throwIfNoEntry: false });
  const file = openSync(draft, 'w', before === undefined ? 0o600 : before.mode & 0o777);
  try {
    if (before !== undefined) keepOwner(file, before);
    for (let bytes = Buffer.from(text); bytes.length > 0;) bytes = bytes.subarray(writeSync(file, bytes));
    fsyncSync(file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  renameSync(draft, path);
  syncFolder(dirname(path));
}

function removeFile(path: string): void {
  rmSync(path, { force: true });
  syncFolder(dirname(path));
}

export function findMissingFolders(path: string): readonly string[] {
  const missing: string[] = [];
  for (let folder = dirname(path); !existsSync(folder); folder = dirname(folder)) missing.unshift(folder);
  return missing;
}

export function removeFolders(folders: readonly string[]): void {
  for (const folder of folders.toReversed()) {
    try {
      rmdirSync(folder);
    } catch {
      // The folder is not empty, or already removed.
    }
  }
}

function keepOwner(file: number, { mode, uid, gid }: { mode: number; uid: number; gid: number }): void {
  fchmodSync(file, mode & 0o777);
  try {
    fchownSync(file, uid, gid);
  } catch {
    // Only root may change the owner.
  }
}
