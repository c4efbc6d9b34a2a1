import { createHash } from 'node:crypto';
import { linkSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { readFileIfPresent, writeFileAtomically } from '../../api/files.ts';
import { makeFolder, stateFiles } from '../../api/state-folder.ts';
import { fieldsInJson, objectsOf, textOf } from '../../protocol/shape/read-unknown.ts';

export interface WrittenFile {
  /** Relative to the root of the repository. */
  readonly path: string;
  readonly sha256: string;
}

export interface Undone {
  readonly removed: readonly string[];
  /** Edited since, and left as they are. */
  readonly edited: readonly string[];
  readonly missing: readonly string[];
}

/** What `baton init` wrote into a repository, kept in the state folder: a file in the repository would be committed. */
export class InitRecord {
  readonly #top: string;
  readonly #folder: string;

  constructor(top: string, stateDir: string) {
    this.#top = top;
    this.#folder = stateFiles(stateDir).init;
  }

  get #file(): string {
    return join(this.#folder, `${sha256(this.#top).slice(0, 16)}.json`);
  }

  /** Writes a new file; throws if there is one. The record comes first: after a crash, undo finds the file missing. */
  write(path: string, text: string): WrittenFile {
    const written = { path, sha256: sha256(text) };
    makeFolder(this.#folder);
    const files = [...this.files().filter((file) => file.path !== path), written];
    writeFileAtomically(this.#file, `${JSON.stringify({ v: 1, top: this.#top, files })}\n`);
    const full = join(this.#top, path);
    const draft = `${full}.draft-${process.pid}`;
    writeFileSync(draft, text, { flag: 'wx', flush: true });
    try {
      // Unlike a rename, a link never replaces a file.
      linkSync(draft, full);
    } finally {
      rmSync(draft);
    }
    return written;
  }

  files(): readonly WrittenFile[] {
    const { files } = fieldsInJson(readFileIfPresent(this.#file));
    return objectsOf(files).map(({ path, sha256: hash }) => ({ path: textOf(path), sha256: textOf(hash) }));
  }

  /** Removes the files that are as they were written. Forgets everything but the edited ones. */
  undo(): Undone {
    const byState = Map.groupBy(this.files(), (file) => this.#stateOf(file));
    const pathsOf = (state: FileState): readonly string[] => (byState.get(state) ?? []).map(({ path }) => path);
    for (const path of pathsOf('removed')) rmSync(join(this.#top, path));
    const edited = byState.get('edited') ?? [];
    if (edited.length === 0) rmSync(this.#file, { force: true });
    else writeFileAtomically(this.#file, `${JSON.stringify({ v: 1, top: this.#top, files: edited })}\n`);
    return { removed: pathsOf('removed'), edited: pathsOf('edited'), missing: pathsOf('missing') };
  }

  #stateOf({ path, sha256: hash }: WrittenFile): FileState {
    try {
      return sha256(readFileSync(join(this.#top, path))) === hash ? 'removed' : 'edited';
    } catch {
      return 'missing';
    }
  }
}

type FileState = keyof Undone;

/** As a person types it in the current folder. */
export function pathFrom(cwd: string, top: string, path: string): string {
  return relative(realpathSync(cwd), join(top, path));
}

function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
