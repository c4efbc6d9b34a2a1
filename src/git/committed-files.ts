import { createHash } from 'node:crypto';
import { DAMAGED_HINT } from './own/transfer-pack.ts';
import { git, gitFailure, type GitFailure, type GitLocation, type GitResult } from './run-git.ts';

/** The files of one commit as raw blobs, without filters, attributes or replace refs. */
export interface CommittedFiles {
  /** Paths below a folder, or the path itself if it is a file; '' is the top. */
  list(path: string): Promise<readonly CommittedFile[]>;
  read(file: CommittedFile): Promise<GitResult<string>>;
}

export interface CommittedFile {
  readonly path: string;
  readonly object: string;
  readonly isLink: boolean;
}

export function openCommittedFiles(place: GitLocation, commit: string): CommittedFiles {
  const env = { GIT_NO_REPLACE_OBJECTS: '1', GIT_LITERAL_PATHSPECS: '1' };
  return {
    async list(path) {
      const args = ['ls-tree', '-r', '-z', '--full-tree', commit, ...(path === '' ? [] : ['--', path])];
      const listed = await git(args, { cwd: place, env, maxBytes: 64 * 1024 * 1024 });
      return listed.ok ? listed.value.stdout.split('\0').flatMap(parseLine) : [];
    },
    async read({ object }) {
      const read = await git(['cat-file', 'blob', object], { cwd: place, env });
      return read.ok ? { ok: true, value: read.value.stdout } : read;
    },
  };
}

function parseLine(line: string): readonly CommittedFile[] {
  const [, mode, object, path] = /^(\d+) blob ([0-9a-f]+)\t(.+)$/s.exec(line) ?? [];
  return object === undefined || path === undefined ? [] : [{ path, object, isLink: mode === '120000' }];
}

export interface HashedFiles extends CommittedFiles {
  /** The first missing or altered object. If set, the results are incomplete. */
  readonly damage: GitFailure | undefined;
}

/**
 * Hashes every object, because git accepts an overwritten loose one. Faster than copying the history for a few files.
 */
export function openHashedFiles(repository: GitLocation, commit: string): HashedFiles {
  return new ObjectReader(repository, commit);
}

class ObjectReader implements HashedFiles {
  readonly #repository: GitLocation;
  readonly #commit: string;
  #damage: GitFailure | undefined;

  constructor(repository: GitLocation, commit: string) {
    this.#repository = repository;
    this.#commit = commit;
  }

  get damage(): GitFailure | undefined {
    return this.#damage;
  }

  async list(path: string): Promise<readonly CommittedFile[]> {
    let found = await this.#findTop();
    for (const name of path.split('/').filter((part) => part !== '')) {
      const inside = found?.mode === FOLDER ? await this.#readFolders([found]) : [];
      found = inside.find((entry) => entry.name === name);
    }
    return found === undefined ? [] : this.#below({ ...found, path });
  }

  async read({ object }: CommittedFile): Promise<GitResult<string>> {
    const bytes = (await this.#readObjects('blob', [object])).get(object);
    return bytes === undefined
      ? (this.#damage ?? gitFailure('git/damaged-object', `object ${object} cannot be read`, DAMAGED_HINT))
      : { ok: true, value: bytes.toString('utf8') };
  }

  async #findTop(): Promise<Entry | undefined> {
    const bytes = (await this.#readObjects('commit', [this.#commit])).get(this.#commit);
    const object = /^tree ([0-9a-f]+)\n/.exec(bytes?.toString('latin1') ?? '')?.[1];
    return object === undefined ? undefined : { name: '', path: '', mode: FOLDER, object };
  }

  async #below(entry: Entry): Promise<readonly CommittedFile[]> {
    const files: CommittedFile[] = [];
    for (let level = [entry]; level.length > 0;) {
      for (const { path, mode, object } of level)
        if (mode !== FOLDER && mode !== SUBMODULE) files.push({ path, object, isLink: mode === LINK });
      level = [...(await this.#readFolders(level.filter(({ mode }) => mode === FOLDER)))];
    }
    return files;
  }

  async #readFolders(folders: readonly Entry[]): Promise<readonly Entry[]> {
    if (folders.length === 0) return [];
    const objects = folders.map(({ object }) => object);
    const read = await this.#readObjects('tree', objects);
    return folders.flatMap(({ path, object }) => entriesOf(read.get(object), path, this.#commit.length / 2));
  }

  /** Objects by id. Missing and altered objects are omitted, and the first is recorded as damage. */
  async #readObjects(type: string, names: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
    const found = new Map<string, Buffer>();
    const wanted = [...new Set(names)];
    const options = { cwd: this.#repository, encoding: 'latin1', maxBytes: MOST_BYTES } as const;
    const ran = await git(['cat-file', '--batch'], { ...options, input: `${wanted.join('\n')}\n` });
    const printed = Buffer.from(ran.ok ? ran.value.stdout : '', 'latin1');
    for (let at = 0; at < printed.length;) {
      const end = printed.indexOf('\n', at);
      const [name = '', kind = '', size = ''] = printed.toString('latin1', at, end).split(' ');
      // `NAME missing` has no content.
      const length = size === '' ? -1 : Number(size);
      const bytes = printed.subarray(end + 1, end + 1 + Math.max(length, 0));
      if (kind === type && hashOf(type, bytes, name.length) === name) found.set(name, bytes);
      at = end + 1 + length + 1;
    }
    const lost = wanted.find((name) => !found.has(name));
    if (lost !== undefined && this.#damage === undefined) {
      const about = lost === this.#commit ? `commit ${lost}` : `object ${lost} (part of ${this.#commit})`;
      const why = ran.ok ? 'its content does not match its id, or it is missing' : ran.problem.message;
      const message = `${about} is missing or damaged in the repository: ${why}`;
      this.#damage = gitFailure('git/damaged-object', message, DAMAGED_HINT);
    }
    return found;
  }
}

interface Entry {
  readonly name: string;
  readonly path: string;
  readonly mode: string;
  readonly object: string;
}

const FOLDER = '40000';
const LINK = '120000';
const SUBMODULE = '160000';

function hashOf(type: string, bytes: Buffer, digits: number): string {
  const hash = createHash(digits === 64 ? 'sha256' : 'sha1');
  return hash.update(`${type} ${bytes.length}\0`).update(bytes).digest('hex');
}

/** Parses a tree object: mode, space, name, zero byte and the raw object id of each entry. */
function entriesOf(bytes: Buffer | undefined, folder: string, width: number): readonly Entry[] {
  const entries: Entry[] = [];
  for (let at = 0; bytes !== undefined && at < bytes.length;) {
    const space = bytes.indexOf(' ', at);
    const zero = bytes.indexOf(0, space);
    if (space === -1 || zero === -1) break;
    const name = bytes.toString('utf8', space + 1, zero);
    const object = bytes.toString('hex', zero + 1, zero + 1 + width);
    const path = folder === '' ? name : `${folder}/${name}`;
    entries.push({ name, path, mode: bytes.toString('latin1', at, space), object });
    at = zero + 1 + width;
  }
  return entries;
}

const MOST_BYTES = 128 * 1024 * 1024;
