import { join } from 'node:path';
import type { PrivateGit } from '../../protocol/sandbox.ts';
import { type AgentFolder, readAgentFile, statAgentFile, withAgentFolder } from './agent-files.ts';

/** Refs by their full name. */
export type Refs = ReadonlyMap<string, string>;

/**
 * The refs of a private git directory, read as files, because git would also apply its configuration, which the agent
 * can write.
 */
export interface PrivateRefs {
  /** As in the file: `ref: refs/heads/x`, or a commit; empty if unreadable. */
  readonly head: string;
  readonly refs: Refs;
  /** False if a ref was skipped or there are too many. A missing ref then does not mean a deleted one. */
  readonly isComplete: boolean;
}

export function readPrivateRefs(
  { folder, format }: Pick<PrivateGit, 'folder' | 'format'>,
  under: readonly string[] = ['refs/heads/'],
): PrivateRefs {
  const gitDir = join(folder, 'git');
  // Git packs a ref before it removes the loose one, so loose refs are read first.
  const loose = readLoose(gitDir, under);
  const packed = readAgentFile(join(gitDir, 'packed-refs'), MOST_BYTES);
  const refs = new Map(parsePackedRefs(packed ?? '', format, under));
  let isComplete = loose.isComplete && (packed !== null || statAgentFile(join(gitDir, 'packed-refs')) === undefined);
  for (const [name, value] of loose.refs) {
    if (isObjectId(value, format)) refs.set(name, value);
    else {
      // A symbolic ref, such as refs/remotes/origin/HEAD.
      refs.delete(name);
      if (name.startsWith('refs/heads/')) isComplete = false;
    }
  }
  return { head: readHead(gitDir), refs, isComplete };
}

/** Returns a text that changes with every change of a branch or of HEAD. Reads a few small files. */
export function stampOf(folder: string): string {
  const gitDir = join(folder, 'git');
  const packed = statAgentFile(join(gitDir, 'packed-refs'));
  const loose = [...readLoose(gitDir, ['refs/heads/']).refs].map(([name, value]) => `${name} ${value}`);
  return [readHead(gitDir), `${packed?.ino} ${packed?.size} ${packed?.mtimeMs}`, ...loose.toSorted()].join('\n');
}

/** Parses git's `packed-refs`. Invalid lines are skipped. */
export function parsePackedRefs(
  text: string,
  format: PrivateGit['format'],
  under: readonly string[] = ['refs/'],
): Refs {
  const length = ID_LENGTH[format];
  const refs = new Map<string, string>();
  for (const line of text.split('\n')) {
    if (line[length] !== ' ' || !under.some((prefix) => line.startsWith(prefix, length + 1))) continue;
    const value = line.slice(0, length);
    if (isObjectId(value, format)) refs.set(line.slice(length + 1), value);
  }
  return refs;
}

/** The value of one ref. */
export function findPackedRef(text: string, name: string): string | null {
  const end = text.indexOf(` ${name}\n`);
  return end === -1 ? null : text.slice(text.lastIndexOf('\n', end) + 1, end);
}

export const PACKED_HEADER = '# pack-refs with: sorted \n';

/** Renders the refs in the order that git expects. */
export function renderPackedRefs(refs: Refs): string {
  const names = [...refs.keys()].toSorted((a, b) => (a < b ? -1 : 1));
  // Beyond the basic plane, JavaScript orders text by UTF-16 units and git by bytes.
  const header = names.some((name) => /[\ud800-\udfff]/.test(name)) ? '' : PACKED_HEADER;
  return header + names.map((name) => `${refs.get(name) ?? ''} ${name}\n`).join('');
}

export function isObjectId(text: string, format: PrivateGit['format']): boolean {
  return text.length === ID_LENGTH[format] && /^[0-9a-f]+$/.test(text) && !/^0+$/.test(text);
}

/** The branch that the content of a HEAD file names; null if it is detached. */
export function branchOfHead(head: string): string | null {
  return /^ref: refs\/heads\/(.+)$/.exec(head)?.[1] ?? null;
}

export function readHead(gitDir: string): string {
  return (readAgentFile(join(gitDir, 'HEAD'), MOST_REF_BYTES) ?? '').trim();
}

interface LooseRefs {
  readonly refs: Map<string, string>;
  isComplete: boolean;
}

/** A prefix without a final slash names one ref. */
function readLoose(gitDir: string, under: readonly string[]): LooseRefs {
  const found: LooseRefs = { refs: new Map(), isComplete: true };
  for (const prefix of under) {
    const way = prefix.split('/');
    const last = way.pop() ?? '';
    if (last === '') walk(gitDir, way, way.join('/'), found);
    else {
      const read = (folder: AgentFolder): string | null => readAgentFile(join(folder.path, last), MOST_REF_BYTES);
      const value = withAgentFolder(gitDir, way, MOST_LOOSE, read);
      if (value !== null) found.refs.set(prefix, value.trim());
    }
  }
  return found;
}

function walk(root: string, way: readonly string[], name: string, found: LooseRefs): void {
  const walked = withAgentFolder(root, way, MOST_LOOSE, (folder) => {
    if (!folder.isWhole) found.isComplete = false;
    for (const each of folder.names) {
      // Git writes a ref's new value there first.
      if (each.endsWith('.lock')) continue;
      const ref = `${name}/${each}`;
      const value = readAgentFile(join(folder.path, each), MOST_REF_BYTES);
      if (value !== null) found.refs.set(ref, value.trim());
      else if (ref.split('/').length < MOST_DEPTH && found.refs.size < MOST_LOOSE)
        walk(folder.path, [each], ref, found);
      else found.isComplete = false;
    }
  });
  // If git has removed the folder in the meantime, its refs are in `packed-refs`.
  if (walked === null && statAgentFile(join(root, ...way)) !== undefined) found.isComplete = false;
}

const ID_LENGTH = { sha1: 40, sha256: 64 } as const;
const MOST_BYTES = 64 * 1024 * 1024;
const MOST_REF_BYTES = 4096;
const MOST_LOOSE = 5000;
const MOST_DEPTH = 20;
