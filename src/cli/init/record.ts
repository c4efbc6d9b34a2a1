import { constants, copyFileSync, linkSync, readSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { writeFileAtomically } from '../../api/files.ts';
import { hashOf, initRecordPath, readInitRecord, type WrittenFile } from '../../api/init-record.ts';
import { makeFolder, stateFiles } from '../../api/state-folder.ts';
import { readRegular } from '../../streams/file-lines.ts';

export const ROOT_FILE = 'baton.toml';

export interface Undone {
  readonly removed: readonly string[];
  /** Files that were edited since and so kept. */
  readonly edited: readonly string[];
  readonly missing: readonly string[];
}

/** A record of the files that `baton init` wrote to a repository. */
export class InitRecord {
  readonly #top: string;
  readonly #stateDir: string;

  constructor(top: string, stateDir: string) {
    this.#top = top;
    this.#stateDir = stateDir;
  }

  get #file(): string {
    return initRecordPath(this.#stateDir, this.#top);
  }

  /**
   * Writes a new file, or throws and leaves nothing. The record is written first, so that after a crash undo finds the
   * file missing.
   */
  write(path: string, text: string): WrittenFile {
    const written = { path, sha256: hashOf(text) };
    const before = this.files().filter((file) => file.path !== path);
    makeFolder(stateFiles(this.#stateDir).init);
    this.#save([...before, written]);
    try {
      createFile(join(this.#top, path), text);
    } catch (error) {
      this.#save(before);
      throw error;
    }
    return written;
  }

  files(): readonly WrittenFile[] {
    return readInitRecord(this.#stateDir, this.#top);
  }

  /** Whether init wrote this file and it is unedited. */
  isUnchanged(path: string): boolean {
    return this.files().some((file) => file.path === path && this.#stateOf(file) === 'removed');
  }

  /** Removes the files that are unchanged. Keeps only the edited ones in the record. */
  undo(): Undone {
    const byState = Map.groupBy(this.files(), (file) => this.#stateOf(file));
    const pathsOf = (state: FileState): readonly string[] => (byState.get(state) ?? []).map(({ path }) => path);
    for (const path of pathsOf('removed')) rmSync(join(this.#top, path));
    this.#save(byState.get('edited') ?? []);
    return { removed: pathsOf('removed'), edited: pathsOf('edited'), missing: pathsOf('missing') };
  }

  #save(files: readonly WrittenFile[]): void {
    if (files.length === 0) rmSync(this.#file, { force: true });
    else writeFileAtomically(this.#file, `${JSON.stringify({ v: 1, top: this.#top, files })}\n`);
  }

  /** Ignores line ends, because git may have checked the file out with others. */
  #stateOf({ path, sha256: hash }: WrittenFile): FileState {
    const content = readRegular(join(this.#top, path), readWhole);
    if (content === undefined) return 'missing';
    const isAsWritten = [content, content.replaceAll('\r\n', '\n')].some((text) => hashOf(text) === hash);
    return isAsWritten ? 'removed' : 'edited';
  }
}

type FileState = keyof Undone;

/** Creates a file without replacing one. No reader sees a part of the text. */
function createFile(path: string, text: string): void {
  const draft = `${path}.draft-${process.pid}`;
  try {
    writeFileSync(draft, text, { flag: 'wx', flush: true });
    linkOrCopy(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Unlike a rename, neither replaces a file. Some file systems have no links. */
function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (!NO_LINKS.has(code)) throw error;
    copyFileSync(from, to, constants.COPYFILE_EXCL);
  }
}

const NO_LINKS: ReadonlySet<string> = new Set(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK']);

function readWhole(file: number, size: number): string {
  const bytes = Buffer.alloc(size);
  return bytes.toString('utf8', 0, readSync(file, bytes, 0, size, 0));
}

/** The path as a person would type it in the current folder. */
export function pathFrom(cwd: string, top: string, path: string): string {
  return relative(realpathSync(cwd), join(top, path));
}
