import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { fieldsInJson, objectsOf, textOf } from '../protocol/shape/read-unknown.ts';
import { readFileIfPresent } from './files.ts';
import { stateFiles } from './state-folder.ts';

/** A file that `baton init` wrote. */
export interface WrittenFile {
  /** Relative to the root of the repository. */
  readonly path: string;
  readonly sha256: string;
}

/** The record of a repository. It is in the state folder, because a file in the repository would be committed. */
export function initRecordPath(stateDir: string, top: string): string {
  return join(stateFiles(stateDir).init, `${hashOf(top).slice(0, 16)}.json`);
}

export function readInitRecord(stateDir: string, top: string): readonly WrittenFile[] {
  const { files } = fieldsInJson(readFileIfPresent(initRecordPath(stateDir, top)));
  return objectsOf(files).map(({ path, sha256 }) => ({ path: textOf(path), sha256: textOf(sha256) }));
}

/** Reports whether a person wrote all of these files with `baton init`, and nobody has changed one since. */
export function isFromInit(
  stateDir: string,
  top: string,
  files: readonly { readonly path: string; readonly text: string }[],
): boolean {
  const written = readInitRecord(stateDir, top);
  return files.length > 0 && files.every(({ path, text }) => isAsWritten(written, path, text));
}

/** Ignores line ends, because git may have checked the file out with others. */
function isAsWritten(written: readonly WrittenFile[], path: string, text: string): boolean {
  const hash = written.find((each) => each.path === path)?.sha256;
  return hash !== undefined && [text, text.replaceAll('\r\n', '\n')].some((each) => hashOf(each) === hash);
}

export function hashOf(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
